//! The way out: a request of a client becomes one of this node to another, and the answer one to the client.
//!
//! The one idea: what goes on is listed. No key, no cookie and no word of a page leaves this node, only what the
//! request means, and of a guest or of who signs in what the other node gave them; and an answer counts only when the node that was meant
//! has signed it.

use super::tunnel::{End, join};
use super::{is_misdirected, own_body, routes};
use crate::cluster::{AskedFor, Carried, Cluster, Passing, Unreachable};
use crate::context::Context;
use crate::error::NodeError;
use crate::ingress::Refusal;
use crate::page::{LivePage, PageHalves};
use axum::http::header::{
    ACCEPT, ACCEPT_ENCODING, CONNECTION, CONTENT_ENCODING, CONTENT_LENGTH, CONTENT_TYPE, COOKIE,
    DATE, HOST, HeaderName, HeaderValue, IF_MATCH, IF_NONE_MATCH, RANGE, SEC_WEBSOCKET_EXTENSIONS,
    SEC_WEBSOCKET_KEY, SEC_WEBSOCKET_PROTOCOL, SEC_WEBSOCKET_VERSION, TRANSFER_ENCODING, UPGRADE,
    USER_AGENT,
};
use axum::http::request::Parts;
use axum::http::{HeaderMap, Request, StatusCode, Uri};
use axum::response::Response;
use baton_api::ErrorCode;
use baton_runtime::Caller;
use baton_session::NodeId;
use baton_store::ClusterRow;
use baton_sync::messages::BATON_CALLER;
use hyper::upgrade::OnUpgrade;
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
const OURS: [&str; 5] =
    ["signature", "signature-input", "content-digest", "keep-alive", "proxy-connection"];

/// A request that is passed on, but for its body.
pub(super) struct Sending {
    pub(super) context: Context,
    pub(super) cluster: Cluster,
    pub(super) parts: Parts,
    pub(super) passing: Passing,
    /// Who asks; none where a ticket says it.
    pub(super) caller: Option<Caller>,
    /// The page that asks.
    pub(super) page: Option<LivePage>,
    /// The one cookie that goes along: what the other node gave to who signs in.
    pub(super) cookie: Option<HeaderValue>,
}

/// What came back.
pub(super) enum NodeAnswer {
    /// The answer for the client.
    Answer(Response),
    /// One that says that the session is not there.
    Misdirected(Response),
}

impl Sending {
    /// Asks a node, and checks that it answered.
    pub(super) async fn send(
        &self,
        row: &ClusterRow,
        body: Carried,
    ) -> Result<NodeAnswer, Refusal> {
        Ok(self.try_send(row, body).await?.map_err(NodeError::from)?)
    }

    /// The same for who asks another node where this one is not reached.
    pub(super) async fn try_send(
        &self,
        row: &ClusterRow,
        body: Carried,
    ) -> Result<Result<NodeAnswer, Unreachable>, Refusal> {
        let asked = AskedFor::by(self.parts.uri.path());
        let Ok(url) = row.member.internal_url.parse::<Url>() else {
            let unreachable = Unreachable::new(row, "what is no address".to_owned(), false);
            return Ok(Err(unreachable.asked_for(asked)));
        };
        let parts = self.outgoing(&url, row.member.node)?;
        let identity = self.context.own.identity.now();
        let answer = match self.cluster.exchange(&identity, row, parts, body).await {
            Ok(answer) => answer,
            Err(unreachable) => return Ok(Err(unreachable.asked_for(asked))),
        };
        let is_elsewhere = is_misdirected(answer.status());
        let answer = self.incoming(row, answer)?;
        Ok(Ok(if is_elsewhere {
            NodeAnswer::Misdirected(answer)
        } else {
            NodeAnswer::Answer(answer)
        }))
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
        headers.extend(self.cookie.clone().map(|cookie| (COOKIE, cookie)));
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
    fn incoming(&self, row: &ClusterRow, mut answer: Response) -> Result<Response, Refusal> {
        let other = answer.extensions_mut().remove::<OnUpgrade>();
        let headers = answer.headers_mut();
        for name in [CONNECTION, TRANSFER_ENCODING, UPGRADE, DATE] {
            headers.remove(name);
        }
        for name in OURS {
            headers.remove(name);
        }
        if answer.status() == StatusCode::SWITCHING_PROTOCOLS {
            return self.switch(row, other, answer);
        }
        own_body(&mut answer);
        Ok(answer)
    }

    /// Joins the connection of the client to that of the other node.
    fn switch(
        &self,
        row: &ClusterRow,
        other: Option<OnUpgrade>,
        mut answer: Response,
    ) -> Result<Response, Refusal> {
        let client = self.parts.extensions.get::<OnUpgrade>().cloned();
        let (Some(client), Some(other)) = (client, other) else {
            let detail =
                "expected a WebSocket handshake, found none: a connection that cannot be upgraded";
            return Err(Refusal::new(ErrorCode::InvalidRequest, detail));
        };
        let headers = answer.headers_mut();
        headers.insert(CONNECTION, HeaderValue::from_static("upgrade"));
        headers.insert(UPGRADE, HeaderValue::from_static("websocket"));
        let (caller, page) = (self.caller.clone(), self.page.clone());
        let end = End { caller, page, cluster: self.cluster.clone(), row: row.clone() };
        self.context.tasks.spawn(join(self.context.clone(), end, client, other));
        Ok(answer)
    }
}
