//! What every listener does with a request first: whose address it comes from, under which names the node is
//! addressed, and how it refuses.
//!
//! Web pages are kept out: a request must be meant for this node and must not come from a page. A page in some
//! browser of this machine can send requests to a loopback address. With DNS rebinding its requests even look as
//! if they were for its own host: then the `Host` header is not ours. Otherwise they carry the page's `Origin`,
//! which is not ours either.

use crate::cluster::Passed;
use crate::error::NodeError;
use crate::paired::EXTENSION_ID;
use axum::Extension;
use axum::extract::{Request, State};
use axum::http::StatusCode;
use axum::http::header::{HOST, HeaderName, HeaderValue, ORIGIN, RETRY_AFTER, WWW_AUTHENTICATE};
use axum::http::uri::Authority;
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use baton_agents::AgentsError;
use baton_api::{Answers, ErrorCode, Invalid, Problem, by_way_of};
use baton_net::connections::Connection;
use baton_net::tls::forwarded_for;
use baton_proxy::UpstreamError;
use baton_proxy::upstreams::ServicesError;
use baton_runtime::RuntimeError;
use baton_sync::SyncError;
use baton_sync::oidc::TokenRefusal;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

/// What a listener needs besides the operations' context.
#[derive(Debug, Clone)]
pub struct HttpConfig {
    /// Where it listens.
    pub address: SocketAddr,
    /// Whether it speaks TLS.
    pub tls: bool,
    /// See [`Exposure::behind_proxy`](baton_net::tls::Exposure::behind_proxy).
    pub behind_proxy: bool,
    /// See [`Exposure::published`](baton_net::tls::Exposure::published).
    pub published: Option<SocketAddr>,
    /// See [`Exposure::allowed_hosts`](baton_net::tls::Exposure::allowed_hosts).
    pub allowed_hosts: Vec<String>,
    /// The largest request body, in bytes; a file that becomes a session has a bound of its own.
    pub body_bytes: usize,
    /// Whether only other nodes ask there: under whatever name, as its certificate has none; and never a page.
    pub for_peers: bool,
}

/// The address of the caller. Another node that passes a request on says it. Behind a proxy every connection is the proxy's; it names the caller at the end
/// of the header `X-Forwarded-For`. What precedes that, a caller could have written.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Peer(pub(crate) IpAddr);

/// The layer: finds out who the caller is.
pub(crate) async fn find(
    State(behind_proxy): State<bool>,
    Extension(Connection(address)): Extension<Connection>,
    mut request: Request,
    next: Next,
) -> Response {
    let passed = request.extensions().get::<Passed>().and_then(|passed| passed.address);
    let named = passed.or_else(|| behind_proxy.then(|| forwarded_for(request.headers())).flatten());
    request.extensions_mut().insert(Peer(named.unwrap_or(address.ip())));
    next.run(request).await
}

/// What Baton's extension in a person's browser asks for.
const FOR_THE_EXTENSION: [&str; 3] =
    ["/debug/pair/exchange", "/debug/connect", "/api/signaling/ws"];

/// The names under which this node may be addressed.
#[derive(Clone)]
pub(crate) struct HostCheck(Arc<Names>);

struct Names {
    /// With their port.
    hosts: Vec<String>,
    /// Under every port.
    bare: Vec<String>,
    /// Under whatever name.
    any: bool,
    /// What precedes the name of the host in our own origins; none where no page may ask.
    schemes: &'static [&'static str],
}

impl HostCheck {
    /// The names of a listener, with the host name of its page.
    pub(crate) fn with_page(config: &HttpConfig, page: &str) -> Self {
        Self::of(config, Some(page))
    }

    /// The names of a listener without a page.
    pub(crate) fn new(config: &HttpConfig) -> Self {
        Self::of(config, None)
    }

    fn of(config: &HttpConfig, page: Option<&str>) -> Self {
        // Where it is published comes first: who is refused is told that name.
        let ports = [config.published, Some(config.address)];
        let ports: Vec<u16> = ports.into_iter().flatten().map(|address| address.port()).collect();
        let loopback = || ["localhost", "127.0.0.1", "[::1]"].into_iter().chain(page);
        let at = |port| loopback().map(move |host| format!("{host}:{port}"));
        let mut hosts: Vec<String> = ports.iter().flat_map(at).collect();
        // "Any address" is where we listen, not a name: browsers take 0.0.0.0 for this machine.
        if !config.address.ip().is_unspecified() {
            hosts.push(config.address.to_string());
        }
        let schemes: &[&str] = match (config.behind_proxy, config.tls) {
            _ if config.for_peers => &[],
            (true, _) => &["https://", "http://"],
            (false, true) => &["https://"],
            (false, false) => &["http://"],
        };
        // The port that belongs to the scheme is left out.
        if ports.iter().any(|port| matches!(port, 80 | 443)) {
            let without = |host: &String| split_port(host).0.to_owned();
            hosts.extend(hosts.iter().map(without).collect::<Vec<_>>());
        }
        let (named, bare): (Vec<_>, Vec<_>) =
            config.allowed_hosts.iter().cloned().partition(|host| split_port(host).1.is_some());
        hosts.extend(named);
        Self(Arc::new(Names { hosts, bare, any: config.for_peers, schemes }))
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
        self.any
            || self.hosts.iter().any(|ours| ours.eq_ignore_ascii_case(host))
            || self.is_bare(split_port(host).0)
    }

    /// A page is ours under a name that counts for every port only where it asks itself: another port of the
    /// same machine belongs to another program.
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

/// The layer: refuses a request that is not meant for this node, or that comes from a foreign page.
pub(crate) async fn check_host_and_origin(
    State(names): State<HostCheck>,
    request: Request,
    next: Next,
) -> Response {
    match names.check(&request) {
        Ok(()) => next.run(request).await,
        Err(refusal) => refusal.into_response(),
    }
}

/// What is said of a body that is too large.
pub(crate) const BODY_TOO_LARGE: &str = "the body is larger than limits.body_bytes allows";

/// How long a client waits until it asks for a session again whose node did not answer.
const NODE_PAUSE: Duration = Duration::from_secs(5);

/// Marks an answer that says in its own body why it is an error.
#[derive(Debug, Clone, Copy)]
pub(crate) struct OwnBody;

/// Why a request is not answered as hoped.
///
/// It carries its [`Problem`] beside an empty body; the outermost layer writes the body, because only there the
/// request's id is known, and because answers of other layers need one as well.
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
            // A node or a database is back soon, as a rule, and a place is free again.
            _ => match problem.code {
                ErrorCode::NodeUnreachable | ErrorCode::StorageUnavailable | ErrorCode::NoRoom => {
                    Some(NODE_PAUSE)
                }
                _ => None,
            },
        };
        Self { problem: Box::new(problem), retry_after }
    }
}

by_way_of! {
    Refusal: NodeError { RuntimeError, SyncError, AgentsError, UpstreamError, ServicesError, Invalid }
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
            // Whole seconds, so that a caller that waits that long is not refused again.
            let seconds = wait.as_secs() + u64::from(wait.subsec_nanos() > 0);
            response.headers_mut().insert(RETRY_AFTER, HeaderValue::from(seconds));
        }
        response.extensions_mut().insert(*self.problem);
        response
    }
}
