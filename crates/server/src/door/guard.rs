//! Keeps web pages out: a request must be meant for this node and must not come from a page.
//!
//! A page in some browser of this machine can send requests to a loopback address. With DNS
//! rebinding its requests even look as if they were for its own host: then the `Host` header is not
//! ours. Otherwise they carry the page's `Origin`, which is not ours either.

use super::config::HttpConfig;
use super::refusal::Refusal;
use crate::paired::EXTENSION_ID;
use axum::extract::{Request, State};
use axum::http::header::{HOST, HeaderName, HeaderValue, ORIGIN};
use axum::http::uri::Authority;
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use baton_api::ErrorCode;
use std::sync::Arc;

/// What Baton's extension in a person's browser asks for.
const FOR_THE_EXTENSION: [&str; 3] =
    ["/debug/pair/exchange", "/debug/connect", "/api/signaling/ws"];

/// The names under which this node may be addressed.
#[derive(Clone)]
pub(crate) struct Guard(Arc<Names>);

struct Names {
    /// With their port.
    hosts: Vec<String>,
    /// Under every port.
    bare: Vec<String>,
    /// What stands before the name of the host in our own origins.
    schemes: &'static [&'static str],
}

impl Guard {
    /// The guard of a node's door.
    pub(crate) fn new(config: &HttpConfig) -> Self {
        let port = config.address.port();
        let mut hosts: Vec<String> = ["localhost", "127.0.0.1", "[::1]"]
            .iter()
            .map(|host| format!("{host}:{port}"))
            .collect();
        // "Any address" is where we listen, not a name: browsers take 0.0.0.0 for this machine.
        if !config.address.ip().is_unspecified() {
            hosts.push(config.address.to_string());
        }
        let schemes: &[&str] = match (config.behind_proxy, config.tls) {
            (true, _) => &["https://", "http://"],
            (false, true) => &["https://"],
            (false, false) => &["http://"],
        };
        // The port that belongs to the scheme is left out.
        if port == 80 || port == 443 {
            let without = |host: &String| split_port(host).0.to_owned();
            hosts.extend(hosts.iter().map(without).collect::<Vec<_>>());
        }
        let (named, bare): (Vec<_>, Vec<_>) =
            config.allowed_hosts.iter().cloned().partition(|host| split_port(host).1.is_some());
        hosts.extend(named);
        Self(Arc::new(Names { hosts, bare, schemes }))
    }

    fn check(&self, request: &Request) -> Result<(), Refusal> {
        let text = |value: &HeaderValue| value.to_str().unwrap_or("no text").to_owned();
        let headers = |name: HeaderName| request.headers().get_all(name).iter().map(text);
        let mut hosts: Vec<String> = headers(HOST).collect();
        // A target that names a host of its own counts before the header (RFC 9112, 3.2.2).
        hosts.extend(request.uri().authority().map(|host: &Authority| host.to_string()));
        if hosts.is_empty() {
            hosts.push("none".to_owned());
        }
        if let Some(foreign) = hosts.iter().find(|host| !self.0.is_ours(host)) {
            return Err(self.refuse("Host", foreign));
        }
        let from_us = |origin: &String| {
            let mut schemes = self.0.schemes.iter();
            schemes.any(|scheme| {
                origin.strip_prefix(scheme).is_some_and(|host| self.0.is_our_page(host, &hosts))
            })
        };
        let is_extension = |origin: &String| {
            FOR_THE_EXTENSION.contains(&request.uri().path())
                && origin.strip_prefix("chrome-extension://") == Some(EXTENSION_ID)
        };
        match headers(ORIGIN).find(|origin| !from_us(origin) && !is_extension(origin)) {
            Some(foreign) => Err(self.refuse("Origin", &foreign)),
            None => Ok(()),
        }
    }

    fn refuse(&self, header: &str, found: &str) -> Refusal {
        let found: String = found.chars().take(200).collect();
        let expected = self.0.hosts.first().map_or("", String::as_str);
        let detail = format!("expected the header {header} to name {expected}, found {found:?}");
        let hint = "server.allowed_hosts names others that are this node";
        Refusal::new(ErrorCode::ForeignOrigin, detail).hint(hint)
    }
}

impl Names {
    fn is_ours(&self, host: &str) -> bool {
        self.hosts.iter().any(|ours| ours.eq_ignore_ascii_case(host))
            || self.is_bare(split_port(host).0)
    }

    /// A page is ours under a name that stands for every port only where it asks itself: another
    /// port of the same machine is somebody else's.
    fn is_our_page(&self, host: &str, asked: &[String]) -> bool {
        self.hosts.iter().any(|ours| ours.eq_ignore_ascii_case(host))
            || self.is_bare(host)
            || self.is_ours(host) && asked.iter().all(|asked| asked.eq_ignore_ascii_case(host))
    }

    fn is_bare(&self, name: &str) -> bool {
        self.bare.iter().any(|ours| ours.eq_ignore_ascii_case(name))
    }
}

/// A host and its port; brackets hold an address of IPv6.
fn split_port(host: &str) -> (&str, Option<&str>) {
    match host.rsplit_once(':') {
        Some((name, port)) if port.bytes().all(|digit| digit.is_ascii_digit()) => {
            (name, Some(port))
        }
        _ => (host, None),
    }
}

/// The layer: refuses what the guard does not let pass.
pub(crate) async fn guard(State(guard): State<Guard>, request: Request, next: Next) -> Response {
    match guard.check(&request) {
        Ok(()) => next.run(request).await,
        Err(refusal) => refusal.into_response(),
    }
}
