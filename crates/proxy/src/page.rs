//! What is shown when a cocoon cannot be: a small page for people, a problem for programs.

use axum::body::Body;
use axum::http::header::{CACHE_CONTROL, CONTENT_TYPE};
use axum::http::{HeaderValue, StatusCode};
use axum::response::Response;

/// Why a cocoon is not shown; the second line says what to do.
pub(super) struct Failure {
    pub(super) status: StatusCode,
    pub(super) detail: String,
}

impl Failure {
    pub(super) fn new(status: StatusCode, detail: impl Into<String>) -> Self {
        Self { status, detail: detail.into() }
    }

    /// The answer to a request that accepts this.
    pub(super) fn show(&self, accept: Option<&HeaderValue>) -> Response {
        let accept = accept.and_then(|accept| accept.to_str().ok()).unwrap_or_default();
        let (kind, body) = if accept.contains("text/html") {
            ("text/html; charset=utf-8", self.page())
        } else {
            (baton_api::problem::CONTENT_TYPE, self.problem())
        };
        let mut response = Response::new(Body::from(body));
        *response.status_mut() = self.status;
        let headers = response.headers_mut();
        headers.insert(CONTENT_TYPE, HeaderValue::from_static(kind));
        headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
        headers.insert(
            "content-security-policy",
            HeaderValue::from_static("default-src 'none'; frame-ancestors 'none'"),
        );
        response
    }

    fn title(&self) -> &'static str {
        self.status.canonical_reason().unwrap_or("Failed")
    }

    fn page(&self) -> String {
        let title = self.title();
        let lines = escape(&self.detail).replace('\n', "<br>\n");
        format!("<!doctype html>\n<title>{title}</title>\n<h1>{title}</h1>\n<p>{lines}</p>\n")
    }

    fn problem(&self) -> String {
        let (detail, hint) = match self.detail.split_once('\n') {
            Some((detail, hint)) => (detail, Some(hint)),
            None => (self.detail.as_str(), None),
        };
        let mut problem = serde_json::json!({
            "type": "about:blank", "title": self.title(), "status": self.status.as_u16(), "detail": detail,
        });
        if let Some(hint) = hint {
            problem["hint"] = hint.into();
        }
        problem.to_string()
    }
}

fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}
