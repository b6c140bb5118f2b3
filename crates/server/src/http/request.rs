//! What a request carries: its body, query and path, the address at which its caller reached this node, and the
//! handshake of a `WebSocket`.
//!
//! A body may hold a whole session; one that is not short is read off the async threads. A refusal says where what
//! was sent is wrong. The address is that which the caller named, and which the guard has checked, so that what is
//! answered works for the caller, too.

use super::answer::SHORT;
use crate::cluster::{Origin, Passed};
use crate::context::Context;
use crate::error::NodeError;
use crate::ingress::{BODY_TOO_LARGE, HttpConfig, Peer, Refusal};
use axum::body::{Body, Bytes};
use axum::extract::rejection::{JsonRejection, PathRejection, QueryRejection};
use axum::extract::{FromRequest, FromRequestParts, Request};
use axum::http::header::{
    CONNECTION, CONTENT_TYPE, HOST, HeaderMap, HeaderName, HeaderValue, SEC_WEBSOCKET_ACCEPT,
    SEC_WEBSOCKET_KEY, SEC_WEBSOCKET_VERSION, UPGRADE,
};
use axum::http::request::Parts;
use axum::http::{Response, StatusCode};
use baton_api::{ErrorCode, SessionView};
use baton_browser::keeper;
use baton_session::{SandboxId, SessionId};
use baton_store::blocking::blocking;
use hyper::upgrade::OnUpgrade;
use serde::de::DeserializeOwned;
use url::Url;

/// What `curl -d` says of a body.
const FORM: &str = "application/x-www-form-urlencoded";
/// What is said to those who send something else than JSON.
const NO_JSON: &str = "expected request with `Content-Type: application/json`";

/// A JSON body. It may be sent without a word of what it is, or with the one that `curl -d` says unasked: a
/// caller shows a key in a header, which no form of a page can.
pub(super) struct Json<T>(pub(super) T);

impl<T: DeserializeOwned + Send + 'static, S: Send + Sync> FromRequest<S> for Json<T> {
    type Rejection = Refusal;

    async fn from_request(request: Request, state: &S) -> Result<Self, Refusal> {
        if !may_be_json(request.headers()) {
            return Err(Refusal::new(ErrorCode::UnsupportedMediaType, NO_JSON));
        }
        let bytes = Bytes::from_request(request, state).await.map_err(JsonRejection::from)?;
        let is_short = bytes.len() <= SHORT;
        let read = move || axum::Json::from_bytes(&bytes);
        let read = if is_short { read() } else { blocking(read).await.map_err(NodeError::from)? };
        Ok(Self(read?.0))
    }
}

/// Whether a body may be JSON, by what is said of it.
fn may_be_json(headers: &HeaderMap) -> bool {
    headers.get(CONTENT_TYPE).is_none_or(|kind| {
        let kind = kind.to_str().unwrap_or_default();
        let essence = kind.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
        let form = essence.strip_prefix("application/");
        kind == FORM || form.is_some_and(|form| form == "json" || form.ends_with("+json"))
    })
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
            StatusCode::UNPROCESSABLE_ENTITY => ErrorCode::InvalidRequest,
            _ => ErrorCode::InvalidJson,
        };
        let text = rejection.body_text();
        match code {
            ErrorCode::InvalidRequest => Self::new(code, format!("in the body, {}", why(&text))),
            ErrorCode::BodyTooLarge => Self::new(code, BODY_TOO_LARGE),
            _ => Self::new(code, format!("expected JSON, {}", why(&text))),
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

/// What follows the general words with which a rejection begins.
fn why(text: &str) -> &str {
    text.split_once(": ").map_or(text, |(_, why)| why)
}

/// Our texts begin in lower case.
fn lower(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map(|first| first.to_lowercase().chain(letters).collect()).unwrap_or_default()
}

/// What precedes the host of a `WebSocket`'s address; none when a proxy decides it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Scheme(Option<&'static str>);

impl Scheme {
    /// The scheme of a node's door.
    pub(super) fn of(config: &HttpConfig) -> Self {
        Self(match (config.behind_proxy, config.tls) {
            (true, _) => None,
            (false, true) => Some("wss"),
            (false, false) => Some("ws"),
        })
    }
}

/// The address of this node, as a `WebSocket`'s begins; that of the node which the client reached, where another one
/// passed the request on.
#[derive(Debug, Clone)]
pub(super) struct Here(Url);

impl FromRequestParts<Context> for Origin {
    type Rejection = Refusal;

    async fn from_request_parts(parts: &mut Parts, context: &Context) -> Result<Self, Refusal> {
        let here = Here::from_request_parts(parts, context).await?.into_url();
        let address = match parts.extensions.get::<Passed>() {
            Some(passed) => passed.address,
            None => parts.extensions.get::<Peer>().map(|Peer(address)| *address),
        };
        Ok(Self { here, address })
    }
}

impl Here {
    /// As it is said to another node.
    pub(super) fn into_url(self) -> Url {
        self.0
    }

    /// Where tools reach the browser of a session.
    pub(super) fn cdp(&self, session: SessionId) -> Url {
        let mut url = self.0.clone();
        url.set_path(&format!("/sessions/{session}/cdp"));
        url
    }
}

impl Here {
    /// Where a session is seen live.
    pub(super) fn live(&self, session: SessionId) -> Url {
        let mut url = self.0.clone();
        url.set_path(&format!("/sessions/{session}/live"));
        url
    }

    /// Where the display of a sandbox is seen.
    pub(super) fn display(&self, sandbox: SandboxId) -> Url {
        let mut url = self.0.clone();
        url.set_path(&format!("/api/sandboxes/{sandbox}/display"));
        url
    }

    /// Where a guest sees the one tab of an ask.
    pub(super) fn asked(&self) -> Url {
        let mut url = self.0.clone();
        url.set_path("/asked/live");
        url
    }

    /// Where browsers and the clients that look into them connect.
    pub(super) fn signaling(&self) -> Url {
        let mut url = self.0.clone();
        url.set_path("/api/signaling/ws");
        url
    }

    /// The node's address for requests.
    pub(super) fn http(&self) -> Url {
        let scheme = if self.0.scheme() == "wss" { "https" } else { "http" };
        let mut url = self.0.clone();
        // Both are schemes of the same kind, between which a change is allowed.
        let _ = url.set_scheme(scheme);
        url
    }

    /// Says in a view where its browser is driven, if it runs here.
    pub(super) fn tell(&self, context: &Context, mut view: SessionView) -> SessionView {
        let id = view.session.id;
        view.cdp_url = context.supervisor.holds(id).then(|| self.cdp(id));
        view
    }
}

impl<S: Sync> FromRequestParts<S> for Here {
    type Rejection = Refusal;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Refusal> {
        if let Some(passed) = parts.extensions.get::<Passed>() {
            return Ok(Self(passed.here.clone()));
        }
        let host = parts.headers.get(HOST).and_then(|host| host.to_str().ok());
        let host = host.or(parts.uri.authority().map(axum::http::uri::Authority::as_str));
        let scheme = match parts.extensions.get() {
            Some(Scheme(Some(scheme))) => scheme,
            _ if parts.headers.get("x-forwarded-proto").is_some_and(|told| told == "http") => "ws",
            _ => "wss",
        };
        let url = host.and_then(|host| Url::parse(&format!("{scheme}://{host}/")).ok());
        let detail = "expected the header Host to name this node";
        url.map(Self).ok_or_else(|| Refusal::new(ErrorCode::InvalidRequest, detail))
    }
}

/// The promise of a WebSocket, and the answer that keeps it (RFC 6455, section 4.2).
pub(super) fn shake_hands(parts: &mut Parts) -> Result<(OnUpgrade, Response<Body>), Refusal> {
    let expected = |what: &str| {
        let detail = format!("expected a WebSocket handshake, found none: {what}");
        let hint = "what connects here speaks WebSocket";
        Refusal::new(ErrorCode::InvalidRequest, detail).hint(hint)
    };
    let headers = &parts.headers;
    if !names(headers, &CONNECTION, "upgrade") || !names(headers, &UPGRADE, "websocket") {
        return Err(expected("no Upgrade: websocket"));
    }
    if !names(headers, &SEC_WEBSOCKET_VERSION, "13") {
        return Err(expected("no Sec-WebSocket-Version: 13"));
    }
    let key = headers.get(SEC_WEBSOCKET_KEY).ok_or_else(|| expected("no Sec-WebSocket-Key"))?;
    let accept = HeaderValue::try_from(keeper::accept_key(key.as_bytes()));
    let accept = accept.map_err(|_| expected("a Sec-WebSocket-Key that is no text"))?;
    let upgrade = parts.extensions.remove::<OnUpgrade>();
    let upgrade = upgrade.ok_or_else(|| expected("a connection that cannot be upgraded"))?;
    let mut answer = Response::new(Body::empty());
    *answer.status_mut() = StatusCode::SWITCHING_PROTOCOLS;
    let headers = answer.headers_mut();
    headers.insert(CONNECTION, HeaderValue::from_static("upgrade"));
    headers.insert(UPGRADE, HeaderValue::from_static("websocket"));
    headers.insert(SEC_WEBSOCKET_ACCEPT, accept);
    Ok((upgrade, answer))
}

/// Whether a header lists a word.
fn names(headers: &HeaderMap, name: &HeaderName, word: &str) -> bool {
    let values = headers.get_all(name).iter().filter_map(|value| value.to_str().ok());
    values.flat_map(|value| value.split(',')).any(|found| found.trim().eq_ignore_ascii_case(word))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde::{Deserialize, Deserializer};
    use std::thread::{ThreadId, current};

    /// A text, and the thread that read it.
    struct Heard {
        length: usize,
        by: ThreadId,
    }

    impl<'de> Deserialize<'de> for Heard {
        fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
            let text = String::deserialize(deserializer)?;
            Ok(Self { length: text.len(), by: current().id() })
        }
    }

    fn request(kind: Option<&str>, body: String) -> Request {
        let mut request = Request::new(Body::from(body));
        let kind = kind.map(|kind| kind.parse().unwrap());
        kind.and_then(|kind| request.headers_mut().insert(CONTENT_TYPE, kind));
        request
    }

    #[tokio::test]
    async fn what_is_long_is_read_where_nobody_waits() {
        // With its quotes, and one byte more; twice as much is more than a body may have that no layer allows.
        for (length, is_here) in [(SHORT - 2, true), (SHORT - 1, false), (1 << 20, false)] {
            let body = format!("\"{}\"", "x".repeat(length));
            let read = Json::<Heard>::from_request(request(None, body), &()).await;
            let Ok(Json(heard)) = read else { panic!("expected a body that is read") };
            assert_eq!(heard.length, length);
            assert_eq!(heard.by == current().id(), is_here, "{length} bytes");
        }
    }

    #[tokio::test]
    async fn a_body_is_read_that_is_said_to_be_json_or_nothing() {
        let json = ["application/json", "Application/JSON; charset=utf-8", "application/ld+json"];
        for kind in json.into_iter().map(Some).chain([None, Some(FORM)]) {
            let read = Json::<u8>::from_request(request(kind, "7".to_owned()), &()).await;
            assert!(matches!(read, Ok(Json(7))), "{kind:?}");
        }
        for kind in ["", "text/plain", "text/json", "application/jsonp", "application"] {
            let read = Json::<u8>::from_request(request(Some(kind), "7".to_owned()), &()).await;
            assert!(read.is_err(), "{kind:?}");
        }
    }
}
