//! Keeps web pages out: a request must be meant for this node and must not come from a page.
//!
//! A page in some browser of this machine can send requests to a loopback address. With DNS
//! rebinding its requests even look as if they were for its own host: then the `Host` header is not
//! ours. Otherwise they carry the page's `Origin`, which is not ours either.

use super::Refusal;
use axum::extract::{Request, State};
use axum::http::header::{HOST, HeaderName, ORIGIN};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use baton_api::ErrorCode;
use std::net::SocketAddr;
use std::sync::Arc;

/// The names under which this node may be addressed.
#[derive(Clone)]
pub(super) struct Guard(Arc<[String]>);

impl Guard {
    /// The guard of a node that listens at `address`.
    pub(super) fn new(address: SocketAddr) -> Self {
        let port = address.port();
        let mut hosts: Vec<String> = ["localhost", "127.0.0.1", "[::1]"]
            .iter()
            .map(|host| format!("{host}:{port}"))
            .collect();
        hosts.push(address.to_string());
        if port == 80 {
            hosts.extend(["localhost", "127.0.0.1", "[::1]"].map(str::to_owned));
        }
        Self(hosts.into())
    }

    fn check(&self, request: &Request) -> Result<(), Refusal> {
        let header = |name: HeaderName| {
            request.headers().get(name).map(|value| value.to_str().unwrap_or("no text"))
        };
        let host = header(HOST)
            .or_else(|| request.uri().authority().map(axum::http::uri::Authority::as_str))
            .unwrap_or("none");
        if !self.0.iter().any(|ours| ours.eq_ignore_ascii_case(host)) {
            return Err(self.refuse("Host", host));
        }
        let ours = |origin: &str| {
            origin.strip_prefix("http://").is_some_and(|host| self.0.iter().any(|h| h == host))
        };
        match header(ORIGIN) {
            Some(origin) if !ours(origin) => Err(self.refuse("Origin", origin)),
            _ => Ok(()),
        }
    }

    fn refuse(&self, header: &str, found: &str) -> Refusal {
        let found: String = found.chars().take(200).collect();
        let expected = self.0.first().map_or("", String::as_str);
        let detail = format!("expected the header {header} to name {expected}, found {found:?}");
        Refusal::new(ErrorCode::ForeignOrigin, detail)
    }
}

/// The layer: refuses what the guard does not let pass.
pub(super) async fn guard(State(guard): State<Guard>, request: Request, next: Next) -> Response {
    match guard.check(&request) {
        Ok(()) => next.run(request).await,
        Err(refusal) => refusal.into_response(),
    }
}
