//! A refusal: the answer to a request that failed.
//!
//! It carries its [`Problem`] beside an empty body; the outermost layer writes the body, because
//! only there the request's id is known, and because answers of other layers need one as well.

use crate::error::NodeError;
use axum::http::StatusCode;
use axum::http::header::{HeaderValue, RETRY_AFTER, WWW_AUTHENTICATE};
use axum::response::{IntoResponse, Response};
use baton_agents::AgentsError;
use baton_api::{Answers, ErrorCode, Invalid, Problem, by_way_of};
use baton_proxy::CocoonError;
use baton_proxy::cocoons::CocoonsError;
use baton_runtime::RuntimeError;
use baton_sync::SyncError;
use baton_sync::oidc::TokenRefusal;
use std::time::Duration;

/// What is said of a body that is too large.
pub(crate) const BODY_TOO_LARGE: &str = "the body is larger than limits.body_bytes allows";

/// Why a request is not answered as hoped.
#[derive(Debug)]
pub struct Refusal {
    problem: Box<Problem>,
    /// When it may be asked again.
    retry_after: Option<Duration>,
}

impl Refusal {
    /// A refusal with this code.
    pub fn new(code: ErrorCode, detail: impl Into<String>) -> Self {
        Self { problem: Box::new(Problem::new(code, detail)), retry_after: None }
    }
}

impl Refusal {
    /// The same refusal, with what to do about it.
    #[must_use]
    pub fn hint(self, hint: &str) -> Self {
        Self { problem: Box::new(self.problem.hint(hint)), ..self }
    }
}

impl From<NodeError> for Refusal {
    fn from(error: NodeError) -> Self {
        let problem = error.problem();
        if problem.status >= 500 {
            tracing::error!(code = problem.code.as_str(), %error, "an operation failed");
        }
        let retry_after = match error {
            NodeError::TooManyRequests { wait, .. }
            | NodeError::Runtime(RuntimeError::TooManyTickets { wait, .. })
            | NodeError::Token(TokenRefusal::KeysJustFetched { wait, .. }) => Some(wait),
            _ => None,
        };
        Self { problem: Box::new(problem), retry_after }
    }
}

by_way_of! {
    Refusal: NodeError { RuntimeError, SyncError, AgentsError, CocoonError, CocoonsError, Invalid }
}

impl IntoResponse for Refusal {
    fn into_response(self) -> Response {
        let status = StatusCode::from_u16(self.problem.status);
        let mut response = status.unwrap_or(StatusCode::INTERNAL_SERVER_ERROR).into_response();
        if self.problem.code == ErrorCode::Unauthenticated {
            let challenge = HeaderValue::from_static("Bearer realm=\"baton\"");
            response.headers_mut().insert(WWW_AUTHENTICATE, challenge);
        }
        if let Some(wait) = self.retry_after {
            // Whole seconds, so that whoever waits as long as told is not refused again.
            let seconds = wait.as_secs() + u64::from(wait.subsec_nanos() > 0);
            response.headers_mut().insert(RETRY_AFTER, HeaderValue::from(seconds));
        }
        response.extensions_mut().insert(*self.problem);
        response
    }
}
