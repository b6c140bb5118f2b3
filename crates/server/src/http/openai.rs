//! What differs where OpenAI's protocol is spoken: the shape of errors, and how long answers take.

use axum::http::header::{CACHE_CONTROL, CONTENT_TYPE};
use axum::http::{HeaderName, HeaderValue};
use axum::response::{IntoResponse, Response};
use baton_agents::gateway::failure;
use baton_api::Problem;
use baton_session::json;

/// What stands before the addresses of the protocol: their errors have its shape.
const PREFIX: &str = "/v1/";
/// Where agents are asked: for as long as their caller listens, and no longer.
const COMPLETIONS: &str = "/v1/chat/completions";
/// Tells OpenAI's clients whether to try again by themselves.
const SHOULD_RETRY: HeaderName = HeaderName::from_static("x-should-retry");

/// Whether a request is worked on for as long as its caller listens, and no longer.
pub(super) fn is_listened_to(path: &str) -> bool {
    path == COMPLETIONS
}

/// Whether errors of an address have the protocol's shape.
pub(super) fn is_spoken(path: &str) -> bool {
    path.starts_with(PREFIX)
}

/// An error in the protocol's shape. What failed is not tried again by itself: an agent may have done
/// half of what it was told.
pub(super) fn error(problem: &Problem) -> Response {
    let headers = [
        (CONTENT_TYPE, HeaderValue::from_static("application/json")),
        (CACHE_CONTROL, HeaderValue::from_static("no-store")),
        (SHOULD_RETRY, HeaderValue::from_static("false")),
    ];
    (headers, json::bytes(&failure(problem))).into_response()
}
