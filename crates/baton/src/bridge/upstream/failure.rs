//! Why a call was not passed on, or has no answer: as a tool answers, so that the model reads it.

use serde_json::{Value, json};

/// What went wrong, and what to do next.
#[derive(Debug, Clone)]
pub(super) struct Failure {
    /// A stable word.
    code: &'static str,
    /// What was expected, and what was found.
    detail: String,
    /// What to call next.
    next: &'static str,
}

impl Failure {
    pub(super) fn new(code: &'static str, detail: impl Into<String>, next: &'static str) -> Self {
        Self { code, detail: detail.into(), next }
    }

    /// What went wrong, for people.
    pub(super) fn detail(&self) -> &str {
        &self.detail
    }

    /// The result of the call, in the manner of the node's own tools.
    pub(super) fn result(&self) -> Value {
        let Self { code, detail, next } = self;
        json!({
            "content": [{"type": "text", "text": format!("{detail}\nNext: {next}")}],
            "structuredContent": {"code": code, "detail": detail, "next": next},
            "isError": true,
        })
    }
}
