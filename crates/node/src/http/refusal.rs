//! A refusal: the answer to a request that failed.
//!
//! It carries its [`Problem`] beside an empty body; the outermost layer writes the body, because
//! only there the request's id is known, and because answers of other layers need one as well.

use crate::NodeError;
use axum::http::StatusCode;
use axum::http::header::{HeaderValue, WWW_AUTHENTICATE};
use axum::response::{IntoResponse, Response};
use baton_api::{ErrorCode, Problem};

/// Why a request is not answered as hoped.
#[derive(Debug)]
pub struct Refusal(Box<Problem>);

impl Refusal {
    /// A refusal with this code.
    pub fn new(code: ErrorCode, detail: impl Into<String>) -> Self {
        Self(Box::new(Problem::new(code, detail)))
    }
}

impl From<NodeError> for Refusal {
    fn from(error: NodeError) -> Self {
        let problem = Problem::from(&error);
        if problem.status >= 500 {
            tracing::error!(code = problem.code.as_str(), %error, "an operation failed");
        }
        Self(Box::new(problem))
    }
}

impl IntoResponse for Refusal {
    fn into_response(self) -> Response {
        let status = StatusCode::from_u16(self.0.status);
        let mut response = status.unwrap_or(StatusCode::INTERNAL_SERVER_ERROR).into_response();
        if self.0.code == ErrorCode::Unauthenticated {
            let challenge = HeaderValue::from_static("Bearer realm=\"baton\"");
            response.headers_mut().insert(WWW_AUTHENTICATE, challenge);
        }
        response.extensions_mut().insert(*self.0);
        response
    }
}
