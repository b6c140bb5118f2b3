//! What a request carries, read so that a refusal says where it is wrong.

use crate::door::{BODY_TOO_LARGE, Refusal};
use axum::extract::rejection::{JsonRejection, PathRejection, QueryRejection};
use axum::extract::{FromRequest, FromRequestParts, Request};
use axum::http::header::CONTENT_TYPE;
use axum::http::{HeaderValue, StatusCode};
use baton_api::ErrorCode;
use serde::de::DeserializeOwned;

/// What `curl -d` says of a body.
const FORM: &str = "application/x-www-form-urlencoded";

/// A JSON body. It may be sent without a word of what it is, or with the one that `curl -d` says unasked:
/// whoever asks shows a key in a header, which no form of a page can.
pub(super) struct Json<T>(pub(super) T);

impl<T: DeserializeOwned, S: Send + Sync> FromRequest<S> for Json<T> {
    type Rejection = Refusal;

    async fn from_request(mut request: Request, state: &S) -> Result<Self, Refusal> {
        let headers = request.headers_mut();
        let is_unsaid = headers.get(CONTENT_TYPE).is_none_or(|kind| kind == FORM);
        if is_unsaid {
            headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        }
        let axum::Json(body) = axum::Json::from_request(request, state).await?;
        Ok(Self(body))
    }
}

/// The query of an address.
#[derive(FromRequestParts)]
#[from_request(via(axum::extract::Query), rejection(Refusal))]
pub(super) struct Query<T>(pub(super) T);

/// A part of the path.
#[derive(FromRequestParts)]
#[from_request(via(axum::extract::Path), rejection(Refusal))]
pub(super) struct Path<T>(pub(super) T);

impl From<JsonRejection> for Refusal {
    fn from(rejection: JsonRejection) -> Self {
        let code = match rejection.status() {
            StatusCode::PAYLOAD_TOO_LARGE => ErrorCode::BodyTooLarge,
            StatusCode::UNSUPPORTED_MEDIA_TYPE => ErrorCode::UnsupportedMediaType,
            StatusCode::UNPROCESSABLE_ENTITY => ErrorCode::InvalidRequest,
            _ => ErrorCode::InvalidJson,
        };
        let text = rejection.body_text();
        match code {
            ErrorCode::InvalidRequest => Self::new(code, format!("in the body, {}", why(&text))),
            ErrorCode::BodyTooLarge => Self::new(code, BODY_TOO_LARGE),
            ErrorCode::InvalidJson => Self::new(code, format!("expected JSON, {}", why(&text))),
            _ => Self::new(code, lower(&text)),
        }
    }
}

impl From<QueryRejection> for Refusal {
    fn from(rejection: QueryRejection) -> Self {
        let text = rejection.body_text();
        Self::new(ErrorCode::InvalidRequest, format!("in the query, {}", why(&text)))
    }
}

impl From<PathRejection> for Refusal {
    fn from(rejection: PathRejection) -> Self {
        Self::new(ErrorCode::InvalidRequest, lower(&rejection.body_text()))
    }
}

/// What stands behind the general words with which a rejection begins.
fn why(text: &str) -> &str {
    text.split_once(": ").map_or(text, |(_, why)| why)
}

/// Our texts begin in lower case.
fn lower(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map(|first| first.to_lowercase().chain(letters).collect()).unwrap_or_default()
}
