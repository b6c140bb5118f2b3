//! A problem: the body of every answer that is an error (RFC 9457, `application/problem+json`).

use crate::code::ErrorCode;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// The media type of a problem.
pub const CONTENT_TYPE: &str = "application/problem+json";

/// Why a request failed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Problem {
    /// `urn:baton:problem:` and the code.
    #[serde(rename = "type")]
    pub kind: String,
    /// What the code means, in a few words.
    pub title: String,
    /// The HTTP status.
    pub status: u16,
    /// A stable word that programs may rely on.
    pub code: ErrorCode,
    /// What was expected and what was found. Never a secret.
    pub detail: String,
    /// What to do about it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hint: Option<String>,
    /// The request's id, as in the node's log.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub request_id: Option<String>,
}

impl Problem {
    /// A problem with this code; `detail` says what was expected and what was found.
    pub fn new(code: ErrorCode, detail: impl Into<String>) -> Self {
        Self {
            kind: format!("urn:baton:problem:{}", code.as_str()),
            title: code.title().to_owned(),
            status: code.status(),
            code,
            detail: detail.into(),
            hint: None,
            request_id: None,
        }
    }

    /// The same problem, with what to do about it.
    #[must_use]
    pub fn hint(self, hint: impl Into<String>) -> Self {
        Self { hint: Some(hint.into()), ..self }
    }
}
