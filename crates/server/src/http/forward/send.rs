//! The way out: a request of a client becomes one of this node to another, and the answer one to the client.
//!
//! The one idea: what goes on is listed. No key, no cookie and no word of a page leaves this node, only what the
//! request means, and of a guest what the other node gave them; and an answer counts only when the node that was meant
//! has signed it.

use super::tunnel::{End, join};
use super::{is_misdirected, own_body, routes};
use crate::cluster::{Cluster, Passing, Unreachable};
use crate::context::Context;
use crate::error::NodeError;
use crate::ingress::Refusal;
use crate::page::{LivePage, PageHalves};
use axum::body::{Body, to_bytes};
use axum::http::header::{
    ACCEPT, ACCEPT_ENCODING, CONNECTION, CONTENT_ENCODING, CONTENT_LENGTH, CONTENT_TYPE, DATE,
    HOST, HeaderName, HeaderValue, IF_MATCH, IF_NONE_MATCH, RANGE, SEC_WEBSOCKET_EXTENSIONS,
    SEC_WEBSOCKET_KEY, SEC_WEBSOCKET_PROTOCOL, SEC_WEBSOCKET_VERSION, TRANSFER_ENCODING, UPGRADE,
    USER_AGENT,
};
use axum::http::request::Parts;
use axum::http::{HeaderMap, Method, Request, StatusCode, Uri};
use axum::response::Response;
use baton_api::sandbox::DisplayAccess;
use baton_api::{ErrorCode, LiveAccess};
use baton_runtime::Caller;
use baton_session::NodeId;
use baton_store::ClusterRow;
use baton_sync::messages::BATON_CALLER;
use hyper::upgrade::OnUpgrade;
use serde::Deserialize;
use url::{Position, Url};

const REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");
const LAST_EVENT_ID: HeaderName = HeaderName::from_static("last-event-id");
const MCP_PROTOCOL_VERSION: HeaderName = HeaderName::from_static("mcp-protocol-version");
const MCP_SESSION_ID: HeaderName = HeaderName::from_static("mcp-session-id");
/// What of a request goes on.
const KEPT: [HeaderName; 17] = [
    ACCEPT,
    ACCEPT_ENCODING,
    CONTENT_ENCODING,
    CONTENT_LENGTH,
    CONTENT_TYPE,
    IF_MATCH,
    IF_NONE_MATCH,
    LAST_EVENT_ID,
    MCP_PROTOCOL_VERSION,
    MCP_SESSION_ID,
    RANGE,
    REQUEST_ID,
    SEC_WEBSOCKET_EXTENSIONS,
    SEC_WEBSOCKET_KEY,
    SEC_WEBSOCKET_PROTOCOL,
    SEC_WEBSOCKET_VERSION,
    USER_AGENT,
];
/// What of an answer is between the two nodes.
const OURS: [&str; 4] = ["signature", "signature-input", "keep-alive", "proxy-connection"];
/// The largest answer with a ticket, in bytes.
const TICKET_MAX: usize = 16 << 10;

/// A request that is passed on, but for its body.
pub(super) struct Sending {
    pub(super) context: Context,
    pub(super) cluster: Cluster,
    pub(super) parts: Parts,
    pub(super) passing: Passing,
    /// Who asks; none where a ticket says it.
    pub(super) caller: Option<Caller>,
    /// The page that asks, or that was given the ticket.
    pub(super) page: Option<LivePage>,
}

/// What came back.
pub(super) enum Sent {
    /// The answer for the client.
    Answer(Response),
    /// One that says that the session is not there.
    Misdirected(Response),
}

impl Sending {
    /// Asks a node, and checks that it answered.
    pub(super) async fn send(&self, row: &ClusterRow, body: Body) -> Result<Sent, Refusal> {
        Ok(self.try_send(row, body).await?.map_err(NodeError::from)?)
    }

    /// The same for who asks another node where this one is not reached.
    pub(super) async fn try_send(
        &self,
        row: &ClusterRow,
        body: Body,
    ) -> Result<Result<Sent, Unreachable>, Refusal> {
        let Ok(url) = row.member.internal_url.parse::<Url>() else {
            return Ok(Err(Unreachable::new(row, "what is no address".to_owned(), false)));
        };
        let parts = self.outgoing(&url, row.member.node)?;
        let identity = self.context.own.identity.now();
        let answer = match self.cluster.exchange(&identity, row, parts, body).await {
            Ok(answer) => answer,
            Err(unreachable) => return Ok(Err(unreachable)),
        };
        let is_elsewhere = is_misdirected(answer.status());
        let answer = self.incoming(answer).await?;
        Ok(Ok(if is_elsewhere { Sent::Misdirected(answer) } else { Sent::Answer(answer) }))
    }

    /// The request as the other node gets it, not signed yet.
    fn outgoing(&self, url: &Url, to: NodeId) -> Result<Parts, Refusal> {
        let refused = |what| Refusal::new(ErrorCode::InvalidRequest, what);
        let target = self.parts.uri.path_and_query().map_or("/", |target| target.as_str());
        let authority = url.authority().to_owned();
        let uri = Uri::builder().scheme(url.scheme()).authority(authority.as_str());
        let uri = uri.path_and_query(target).build();
        let uri = uri.map_err(|_| refused("expected an address that can be passed on"))?;
        // A client on the way would write it otherwise, and another address would be asked than was signed.
        let written = Url::parse(&uri.to_string()).ok();
        if written.is_none_or(|written| written[Position::BeforePath..] != *target) {
            return Err(refused("expected an address in its usual form, without \"..\" in it"));
        }
        let passing = self.passing.for_node(to);
        let caller = HeaderValue::from_str(&passing.text())
            .map_err(|_| refused("expected a caller that can be named"))?;
        let mut headers = HeaderMap::new();
        for name in KEPT {
            for value in self.parts.headers.get_all(&name) {
                headers.append(name.clone(), value.clone());
            }
        }
        if routes::is_guests(self.parts.uri.path()) {
            headers.extend(PageHalves::guests_headers(&self.parts.headers));
        }
        let host = HeaderValue::from_str(&authority);
        headers.insert(HOST, host.map_err(|_| refused("expected a host that can be named"))?);
        headers.insert(BATON_CALLER, caller);
        if self.parts.headers.contains_key(UPGRADE) {
            headers.insert(CONNECTION, HeaderValue::from_static("upgrade"));
            headers.insert(UPGRADE, HeaderValue::from_static("websocket"));
        }
        let mut request = Request::new(());
        *request.method_mut() = self.parts.method.clone();
        *request.uri_mut() = uri;
        *request.headers_mut() = headers;
        Ok(request.into_parts().0)
    }

    /// The answer as the client gets it.
    async fn incoming(&self, mut answer: Response) -> Result<Response, Refusal> {
        let other = answer.extensions_mut().remove::<OnUpgrade>();
        let headers = answer.headers_mut();
        for name in [CONNECTION, TRANSFER_ENCODING, UPGRADE, DATE] {
            headers.remove(name);
        }
        for name in OURS {
            headers.remove(name);
        }
        if answer.status() == StatusCode::SWITCHING_PROTOCOLS {
            return self.switch(other, answer);
        }
        own_body(&mut answer);
        match &self.page {
            Some(page) if self.gives_ticket() && answer.status().is_success() => {
                self.note_ticket(page, answer).await
            }
            _ => Ok(answer),
        }
    }

    /// Joins the connection of the client to that of the other node.
    fn switch(&self, other: Option<OnUpgrade>, mut answer: Response) -> Result<Response, Refusal> {
        let client = self.parts.extensions.get::<OnUpgrade>().cloned();
        let (Some(client), Some(other)) = (client, other) else {
            let detail =
                "expected a WebSocket handshake, found none: a connection that cannot be upgraded";
            return Err(Refusal::new(ErrorCode::InvalidRequest, detail));
        };
        let headers = answer.headers_mut();
        headers.insert(CONNECTION, HeaderValue::from_static("upgrade"));
        headers.insert(UPGRADE, HeaderValue::from_static("websocket"));
        let end = End { caller: self.caller.clone(), page: self.page.clone() };
        self.context.tasks.spawn(join(self.context.clone(), end, client, other));
        Ok(answer)
    }

    /// Whether the answer has a ticket to watch.
    fn gives_ticket(&self) -> bool {
        let path = self.parts.uri.path();
        self.parts.method == Method::POST && (path.ends_with("/live") || path.ends_with("/display"))
    }

    /// Remembers to which page a ticket goes.
    async fn note_ticket(&self, page: &LivePage, answer: Response) -> Result<Response, Refusal> {
        let (parts, body) = answer.into_parts();
        let refused = |what| Refusal::new(ErrorCode::Internal, what);
        let bytes = to_bytes(body, TICKET_MAX).await;
        let bytes = bytes.map_err(|_| refused("the answer of the session's node broke off"))?;
        let ticket = ticket_in(&bytes);
        let is_noted =
            ticket.is_some_and(|ticket| self.context.passed_pages.note(&ticket, page.clone()));
        if is_noted {
            Ok(Response::from_parts(parts, Body::from(bytes)))
        } else {
            Err(Refusal::new(
                ErrorCode::TooManyRequests,
                "expected fewer pages that watch, found more",
            ))
        }
    }
}

/// An answer with an address to watch at.
#[derive(Deserialize)]
#[serde(untagged)]
enum Access {
    Live(LiveAccess),
    Display(DisplayAccess),
}

/// The ticket in an answer that has one, which is small.
fn ticket_in(answer: &[u8]) -> Option<String> {
    let url = match serde_json::from_slice(answer).ok()? {
        Access::Live(LiveAccess { live_url, .. }) => live_url,
        Access::Display(DisplayAccess { display_url, .. }) => display_url,
    };
    routes::ticket(url.query())
}
