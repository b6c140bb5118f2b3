//! What nodes ask each other. Bodies are sealed and messages signed: see the decision on who wrote this.

use super::request::Path;
use super::signed_peer::SignedPeer;
use crate::auth::MayTalk;
use crate::context::Context;
use crate::error::NodeError;
use crate::ingress::Refusal;
use axum::extract::State;
use axum::response::Response;
use baton_api::sync::{AskSeen, Exchange, FetchParts, TakePeerLease, parcel};
use baton_api::{Invalid, NodeCard, Problem};
use baton_session::SessionId;
use baton_store::blocking::blocking;
use baton_sync::Topic;

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
) -> axum::Json<NodeCard> {
    axum::Json(context.own.identity.now().card(&context.own.node_settings))
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
    Ok(from.answer(&context, topic, move || parcel::write(&parcels), false).await?)
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
    let parcels = blocking(move || parcel::read(&body)).await.map_err(NodeError::from)?;
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
