//! Why something of an upstream service is refused, and what is shown when an upstream service cannot be: a
//! small page for people, a problem for programs.

use axum::body::Body;
use axum::http::header::{CACHE_CONTROL, CONTENT_TYPE};
use axum::http::{HeaderValue, StatusCode};
use axum::response::Response;
use baton_api::{Answers, ErrorCode, UpstreamId};
use std::net::SocketAddr;

/// Why something of an upstream service is refused.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum UpstreamError {
    /// The settings name it.
    #[error(
        "expected a cocoon that was named over the API, found {id}, which the settings name\nchange it there, under [[cocoons]]"
    )]
    InSettings {
        /// Which one.
        id: UpstreamId,
    },
    /// Another owner has it.
    #[error("expected an id that is free, found that another owner has {id}\nchoose another one")]
    Taken {
        /// Which one.
        id: UpstreamId,
    },
    /// There is none, or it belongs to someone else.
    #[error("no cocoon {id}\nbaton cocoons list shows yours")]
    NotFound {
        /// Which one was asked for.
        id: UpstreamId,
    },
    /// There are too many.
    #[error("expected at most {most} cocoons, found as many\nremove one first")]
    TooMany {
        /// How many there may be.
        most: usize,
    },
    /// What is said of it makes no sense.
    #[error("{why}")]
    Invalid {
        /// What was expected, and what was found.
        why: String,
    },
    /// It wants no key, and other machines reach the proxy.
    #[error(
        "expected a cocoon that wants a key, because other machines reach the proxy at {found}, found one that \
         wants none\nset its access to \"key\" (baton cocoons add --with-key)"
    )]
    Open {
        /// Where the proxy listens.
        found: SocketAddr,
    },
    /// The node has no proxy.
    #[error(
        "expected a node with a proxy, found one without\nset [proxy] listen in its settings, and start it again"
    )]
    NoProxy,
}

impl Answers for UpstreamError {
    fn code(&self) -> ErrorCode {
        match self {
            Self::NotFound { .. } => ErrorCode::UpstreamNotFound,
            Self::Taken { .. } => ErrorCode::NameTaken,
            Self::InSettings { .. } | Self::NoProxy => ErrorCode::Conflict,
            Self::TooMany { .. } => ErrorCode::StorageFull,
            Self::Invalid { .. } | Self::Open { .. } => ErrorCode::InvalidRequest,
        }
    }
}

/// Why an upstream service is not shown; the second line says what to do.
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
