//! What nodes ask each other. Bodies are sealed and messages signed, on the way in and on the way out: see
//! the decision on who wrote this.
//!
//! The one idea: an API key or a token says who may talk, the signature who talks, and the seal keeps what is
//! in between from reading along. A handler is given what was said once all three are checked.

use super::answer::{Answer, answer};
use super::request::Path;
use crate::auth::MayTalk;
use crate::context::Context;
use crate::error::NodeError;
use crate::ingress::Refusal;
use axum::body::Bytes;
use axum::extract::{FromRequest, FromRequestParts, RawPathParams, Request, State};
use axum::http::header::CONTENT_TYPE;
use axum::http::request::Parts;
use axum::response::Response;
use baton_api::sync::{AskSeen, Exchange, FetchParts, TakePeerLease, exchange};
use baton_api::{ErrorCode, Invalid, NodeCard, Problem};
use baton_runtime::Caller;
use baton_runtime::audit::{Action, Note};
use baton_session::{NodeSignature, SessionId};
use baton_store::blocking::blocking;
use baton_store::{Peer, clock};
use baton_sync::identity::SealKey;
use baton_sync::messages::{sign_response, verify_request};
use baton_sync::sealing::SealContext;
use baton_sync::{SEALED, SyncError, Topic, is_seen, peers, sealing};
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::sync::Arc;

/// The most that lists something: the revisions of a session with all their lists of parts.
const LIST_MAX: usize = 128 << 20;
/// The most that parts in one body may have together, before they are sealed.
const PARCELS_MAX: usize = 159 << 20;
/// The longest list of parts that are asked for.
const WANTED_MAX: usize = 1 << 20;
/// The longest view that is asked for.
const VIEW_MAX: usize = 128 << 10;
/// The longest request for a session.
const PEER_LEASE_MAX: usize = 1 << 10;

/// Who this node is: its keys, each signed by itself. A person compares the fingerprint.
#[utoipa::path(
    get, path = "/sync/card", tag = "sync", security(("api_key" = [])),
    responses((status = 200, body = NodeCard), (status = "4XX", body = Problem))
)]
pub(super) async fn card(
    State(context): State<Context>,
    MayTalk(_caller): MayTalk,
) -> Answer<NodeCard> {
    answer(context.own.identity.now().card(&context.own.node_settings)).await
}

/// Hears who asks, and says nothing but that. A node that nobody here has confirmed is known from now on, and
/// is refused.
#[utoipa::path(
    get, path = "/sync/greeting", tag = "between nodes", security(("api_key" = [])),
    responses((status = 200, content_type = "application/vnd.baton.sealed", body = Vec<u8>), (status = "4XX", body = Problem))
)]
pub(super) async fn greeting(
    State(context): State<Context>,
    from: SignedPeer,
) -> Result<Response, Refusal> {
    Ok(from.answer(&context, Topic::GREETING, Vec::new, false).await?)
}

/// The revisions of a session, and of which parts they are made; sealed for the node that asks.
#[utoipa::path(
    get, path = "/sync/sessions/{id}/revisions", tag = "between nodes",
    security(("api_key" = [])), params(("id" = String, Path)),
    responses((status = 200, content_type = "application/vnd.baton.sealed", body = Vec<u8>), (status = "4XX", body = Problem))
)]
pub(super) async fn revisions(
    State(context): State<Context>,
    Path(id): Path<String>,
    from: SignedPeer,
) -> Result<Response, Refusal> {
    let id = session(&id)?;
    context.own.given.start_movement(&from.peer, id).await;
    let (owner, give) = (&from.caller.owner, &from.peer.limits.give);
    let exchange = baton_sync::exchange_for(&context, owner, id, give, from.may_have).await?;
    Ok(from.tell(&context, Topic::revisions(id), exchange).await?)
}

/// What of the revisions of a session is in a view, and of which parts that is made; sealed for the node
/// that asks, which takes no more.
#[utoipa::path(
    post, path = "/sync/sessions/{id}/revisions/seen", tag = "between nodes",
    security(("api_key" = [])), params(("id" = String, Path)),
    request_body(content_type = "application/vnd.baton.sealed", content = Vec<u8>),
    responses((status = 200, content_type = "application/vnd.baton.sealed", body = Vec<u8>), (status = "4XX", body = Problem))
)]
pub(super) async fn seen(
    State(context): State<Context>,
    Path(id): Path<String>,
    from: SignedPeer,
) -> Result<Response, Refusal> {
    let id = session(&id)?;
    let topic = Topic::seen(id);
    let AskSeen { view } = from.read(&context, topic, VIEW_MAX).await?;
    let view = from.peer.limits.give.meet(&view);
    context.own.given.start_movement(&from.peer, id).await;
    let (owner, may_have) = (&from.caller.owner, from.may_have);
    let exchange = baton_sync::exchange_for(&context, owner, id, &view, may_have).await?;
    Ok(from.tell(&context, topic, exchange).await?)
}

/// Takes the revisions of a session, or says which parts have to come first.
#[utoipa::path(
    post, path = "/sync/sessions/{id}/revisions", tag = "between nodes",
    security(("api_key" = [])), params(("id" = String, Path)),
    request_body(content_type = "application/vnd.baton.sealed", content = Vec<u8>),
    responses((status = 200, content_type = "application/vnd.baton.sealed", body = Vec<u8>), (status = "4XX", body = Problem))
)]
pub(super) async fn offer(
    State(context): State<Context>,
    Path(id): Path<String>,
    from: SignedPeer,
) -> Result<Response, Refusal> {
    let id = session(&id)?;
    let topic = Topic::offer(id);
    let exchange: Exchange = from.read(&context, topic, LIST_MAX).await?;
    let taken = baton_sync::take_from(&context, &from.caller, &from.peer, id, &exchange).await?;
    Ok(from.tell(&context, topic, taken).await?)
}

/// Hands a session over: what it holds is captured, saved and closed when this answers.
#[utoipa::path(
    post, path = "/sync/sessions/{id}/lease", operation_id = "lease", tag = "between nodes",
    security(("api_key" = [])), params(("id" = String, Path)),
    request_body(content_type = "application/vnd.baton.sealed", content = Vec<u8>),
    responses((status = 200, content_type = "application/vnd.baton.sealed", body = Vec<u8>), (status = "4XX", body = Problem))
)]
pub(super) async fn peer_lease(
    State(context): State<Context>,
    Path(id): Path<String>,
    from: SignedPeer,
) -> Result<Response, Refusal> {
    let id = session(&id)?;
    let topic = Topic::peer_lease(id);
    let TakePeerLease { peer_lease } = from.read(&context, topic, PEER_LEASE_MAX).await?;
    let given =
        baton_sync::peer_lease::give(&context, &from.caller, &from.peer, id, peer_lease).await?;
    Ok(from.tell(&context, topic, given).await?)
}

/// The icon of what was last saved of a session, sealed for the node that asks; empty when there is none
/// for it.
///
/// Nothing of the session goes with it, so its parameter is not the one by which it is noted who may hold
/// something of a session.
#[utoipa::path(
    get, path = "/sync/sessions/{session}/icon", tag = "between nodes",
    security(("api_key" = [])), params(("session" = String, Path)),
    responses((status = 200, content_type = "application/vnd.baton.sealed", body = Vec<u8>), (status = "4XX", body = Problem))
)]
pub(super) async fn icon(
    State(context): State<Context>,
    Path(id): Path<String>,
    from: SignedPeer,
) -> Result<Response, Refusal> {
    let id = session(&id)?;
    let (owner, give) = (&from.caller.owner, &from.peer.limits.give);
    let icon = baton_sync::icon_for(&context, owner, id, give).await?;
    Ok(from.answer(&context, Topic::icon(id), move || icon, false).await?)
}

/// Parts of a session, sealed for the node that asks.
#[utoipa::path(
    post, path = "/sync/sessions/{id}/parts/fetch", tag = "between nodes",
    security(("api_key" = [])), params(("id" = String, Path)),
    request_body(content_type = "application/vnd.baton.sealed", content = Vec<u8>),
    responses((status = 200, content_type = "application/vnd.baton.sealed", body = Vec<u8>), (status = "4XX", body = Problem))
)]
pub(super) async fn fetch(
    State(context): State<Context>,
    Path(id): Path<String>,
    from: SignedPeer,
) -> Result<Response, Refusal> {
    let id = session(&id)?;
    let topic = Topic::fetch(id);
    let FetchParts { wanted, view } = from.read(&context, topic, WANTED_MAX).await?;
    let view = from.peer.limits.give.meet(&view.unwrap_or_default());
    let owner = &from.caller.owner;
    let parcels = baton_sync::fetch_parts(&context, owner, id, &view, &wanted).await?;
    if !parcels.is_empty() {
        baton_sync::given(&context, &from.caller.actor, &from.peer, id).await?;
    }
    // They are compressed already.
    Ok(from.answer(&context, topic, move || exchange::write(&parcels), false).await?)
}

/// Takes parts of a session, which lie aside until its revisions come. They are on disk when this
/// answers.
#[utoipa::path(
    post, path = "/sync/sessions/{id}/parts", tag = "between nodes",
    security(("api_key" = [])), params(("id" = String, Path)),
    request_body(content_type = "application/vnd.baton.sealed", content = Vec<u8>),
    responses((status = 200, content_type = "application/vnd.baton.sealed", body = Vec<u8>), (status = "4XX", body = Problem))
)]
pub(super) async fn give(
    State(context): State<Context>,
    Path(id): Path<String>,
    from: SignedPeer,
) -> Result<Response, Refusal> {
    let id = session(&id)?;
    let topic = Topic::give(id);
    let body = from.open(&context, topic, PARCELS_MAX).await?;
    let parcels = blocking(move || exchange::read(&body)).await.map_err(NodeError::from)?;
    let parcels = parcels.map_err(|error| NodeError::from(baton_sync::SyncError::from(error)))?;
    baton_sync::stage_parts(&context, &from.caller.owner, id, parcels, |_| ()).await?;
    Ok(from.answer(&context, topic, Vec::new, false).await?)
}

/// The session in an address. It is read behind the caller, so that strangers hear nothing of ids.
fn session(id: &str) -> Result<SessionId, Invalid> {
    id.parse().map_err(|_| Invalid {
        field: "the address",
        expected: "that of a session by its id",
        found: id.chars().take(100).collect(),
    })
}

/// A request of a node that is known, or that shows its key for the first time.
pub(super) struct SignedPeer {
    /// In whose name it asks.
    pub(super) caller: Caller,
    /// The node.
    pub(super) peer: Peer,
    /// Whether it may have had something of the session before that it asks about.
    pub(super) may_have: bool,
    signature: NodeSignature,
    body: Bytes,
}

impl FromRequest<Context> for SignedPeer {
    type Rejection = Refusal;

    async fn from_request(request: Request, context: &Context) -> Result<Self, Refusal> {
        let (mut parts, body) = request.into_parts();
        let MayTalk(caller) = MayTalk::from_request_parts(&mut parts, context).await?;
        let request = Request::from_parts(parts.clone(), body);
        let body = Bytes::from_request(request, context)
            .await
            .map_err(|rejection| Refusal::new(ErrorCode::BodyTooLarge, rejection.body_text()))?;
        let (asked, signed) = (parts.clone(), body.clone());
        let nonces = Arc::clone(&context.own.nonces);
        // A body may be megabytes, all of which the signature covers.
        let verify = move || verify_request(&asked, &signed, clock::now(), &nonces);
        let verified = match blocking(verify).await.map_err(NodeError::from)? {
            Ok(verified) => verified,
            Err(error) => {
                let why = error.to_string();
                return Err(refused(context, &caller, SyncError::Untrusted { why }).await.into());
            }
        };
        let NodeCard { node_id, .. } = &verified.card;
        tracing::debug!(node = %node_id, path = parts.uri.path(), "a node asks");
        let peer = peers::admit(context, &caller, &verified.card).await?;
        peers::heard(context, &peer);
        let mut may_have = false;
        if let Some(session) = session_of(&mut parts).await {
            may_have = peers::may_have(context, &peer, session).await?;
            // A session that it is not given is not shown, however often it asks.
            let view = &peer.limits.give;
            if may_have || is_seen(context, &peer.owner, session, view).await? {
                peers::may_hold(context, &peer, session).await?;
            }
        }
        Ok(Self { caller, peer, may_have, signature: verified.signature, body })
    }
}

/// The session in the address of a request, if there is one.
async fn session_of(parts: &mut Parts) -> Option<SessionId> {
    let path = RawPathParams::from_request_parts(parts, &()).await.ok()?;
    path.iter().find(|(name, _)| *name == "id")?.1.parse().ok()
}

/// A message that cannot be trusted is noted.
async fn refused(context: &Context, caller: &Caller, error: SyncError) -> NodeError {
    let note = Note::new(&caller.actor, &caller.owner, Action::Request, "a message between nodes");
    note.failed(&context.store, error.into()).await
}

impl SignedPeer {
    /// A node that joined by an invitation just now, which it proved in a request with this signature.
    pub(super) fn joined(caller: Caller, peer: Peer, signature: NodeSignature) -> Self {
        Self { caller, peer, may_have: false, signature, body: Bytes::new() }
    }

    /// What was said, of at most `limit` bytes.
    pub(super) async fn open(
        &self,
        context: &Context,
        topic: Topic,
        limit: usize,
    ) -> Result<Vec<u8>, NodeError> {
        let seal = SealContext {
            purpose: topic.asked,
            session: topic.session,
            revision: None,
            recipient: context.node,
            sender: self.peer.node,
        };
        // A copy of the handle, not of the bytes.
        let (identity, body) = (context.own.identity.now(), self.body.clone());
        match blocking(move || sealing::open(&identity, &seal, &body, limit)).await? {
            Ok(opened) => Ok(opened),
            Err(error) => {
                let why = error.to_string();
                Err(refused(context, &self.caller, SyncError::Untrusted { why }).await)
            }
        }
    }

    /// The same as JSON.
    pub(super) async fn read<T: DeserializeOwned + Send + 'static>(
        &self,
        context: &Context,
        topic: Topic,
        limit: usize,
    ) -> Result<T, NodeError> {
        let plain = self.open(context, topic, limit).await?;
        let read = blocking(move || serde_json::from_slice(&plain)).await?;
        read.map_err(|error: serde_json::Error| {
            SyncError::Untrusted { why: format!("expected {}, found {error}", topic.asked) }.into()
        })
    }

    /// Answers in JSON.
    pub(super) async fn tell(
        &self,
        context: &Context,
        topic: Topic,
        answer: impl Serialize + Send + 'static,
    ) -> Result<Response, NodeError> {
        self.write(context, topic, move || serde_json::to_vec(&answer), true).await
    }

    /// Answers what `write` writes; `compress` when that pays.
    pub(super) async fn answer(
        &self,
        context: &Context,
        topic: Topic,
        write: impl FnOnce() -> Vec<u8> + Send + 'static,
        compress: bool,
    ) -> Result<Response, NodeError> {
        self.write(context, topic, move || Ok(write()), compress).await
    }

    /// An answer may be megabytes, so it is written, sealed and signed off the async threads. One that
    /// cannot be written is an error: an empty one would say something else.
    async fn write(
        &self,
        context: &Context,
        topic: Topic,
        write: impl FnOnce() -> serde_json::Result<Vec<u8>> + Send + 'static,
        compress: bool,
    ) -> Result<Response, NodeError> {
        let untrusted = |why: String| SyncError::Untrusted { why };
        let identity = context.own.identity.now();
        let recipient: SealKey =
            self.peer.seal_key.parse().map_err(|_| untrusted("its seal key is none".to_owned()))?;
        let seal = SealContext {
            purpose: topic.answered,
            session: topic.session,
            revision: None,
            recipient: self.peer.node,
            sender: identity.node(),
        };
        let asked = self.signature;
        let work = move || {
            let plain =
                write().map_err(|source| SyncError::NotWritten { what: seal.purpose, source })?;
            let sealed = sealing::seal(&recipient, &seal, &plain, compress)
                .map_err(|error| untrusted(error.to_string()))?;
            let mut response = Response::new(());
            response.headers_mut().insert(CONTENT_TYPE, SEALED);
            let (mut parts, ()) = response.into_parts();
            sign_response(&identity, &mut parts, &sealed, &asked, clock::now())
                .map_err(|error| untrusted(error.to_string()))?;
            Ok::<_, SyncError>(Response::from_parts(parts, sealed.into()))
        };
        Ok(blocking(work).await??)
    }
}
