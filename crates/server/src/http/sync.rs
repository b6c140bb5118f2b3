//! Carry over HTTP. `{peer}` is a node's id, a unique prefix of one, or a peer's name.

use super::between::Between;
use super::input::{Json, Path, Query};
use crate::auth::{Admin, Sync};
use crate::context::Context;
use crate::door::Refusal;
use axum::extract::{FromRequest, FromRequestParts, Request, State};
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use baton_api::Problem;
use baton_api::sync::{
    ConfirmPeer, ConflictDetails, ConflictList, ConflictView, DifferenceList, DirectoryView,
    ListPeers, PeerList, PeerView, RegisterPeer, ResolveConflict, SaveSession, SavedView,
    SyncIndex,
};
use baton_session::{PeerLimits, SessionId};
use baton_sync::{Topic, peers};

type Answer<T> = Result<axum::Json<T>, Refusal>;

/// Makes a revision of a session as it is now: what moves between nodes.
#[utoipa::path(
    post, path = "/sessions/{id}/save", tag = "sync", security(("api_key" = [])),
    params(("id" = String, Path)),
    responses((status = 200, body = SavedView), (status = "4XX", body = Problem))
)]
pub(super) async fn save(
    State(context): State<Context>,
    Sync(caller): Sync,
    Path(id): Path<String>,
    Json(request): Json<SaveSession>,
) -> Answer<SavedView> {
    Ok(axum::Json(baton_sync::save(&context, &caller, &id, request).await?))
}

/// The caller's sessions that were saved. A node that signs its request gets them sealed.
#[utoipa::path(
    get, path = "/sync/index", tag = "sync", security(("api_key" = [])),
    responses((status = 200, body = SyncIndex), (status = "4XX", body = Problem))
)]
pub(super) async fn index(
    State(context): State<Context>,
    request: Request,
) -> Result<Response, Refusal> {
    if !request.headers().contains_key(baton_sync::messages::BATON_NODE) {
        let (mut parts, _) = request.into_parts();
        let Sync(caller) = Sync::from_request_parts(&mut parts, &context).await?;
        return Ok(axum::Json(&*baton_sync::index(&context, &caller).await?).into_response());
    }
    let between = Between::from_request(request, &context).await?;
    let index = baton_sync::index_for(&context, &between.peer).await?;
    baton_sync::told(&context, &between.peer, &index).await?;
    Ok(between.tell(&context, Topic::INDEX, SyncIndex::clone(&index)).await?)
}

/// How it stands with the sync directory: where it is, and which files in it are left aside, and why.
#[utoipa::path(
    get, path = "/sync/directory", tag = "sync", security(("api_key" = [])),
    responses((status = 200, body = DirectoryView), (status = "4XX", body = Problem))
)]
pub(super) async fn directory(
    State(context): State<Context>,
    Sync(caller): Sync,
) -> Answer<DirectoryView> {
    Ok(axum::Json(baton_sync::look_at_directory(&context, &caller)))
}

/// Deletes a session here, and at its peers as soon as they hear of it.
#[utoipa::path(
    delete, path = "/sync/sessions/{id}", tag = "sync", security(("api_key" = [])),
    params(("id" = String, Path)),
    responses((status = 204), (status = "4XX", body = Problem))
)]
pub(super) async fn delete(
    State(context): State<Context>,
    Sync(caller): Sync,
    Path(id): Path<SessionId>,
) -> Result<StatusCode, Refusal> {
    baton_sync::delete(&context, &caller, id).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// This node and its peers, each with whether it answers.
#[utoipa::path(
    get, path = "/sync/peers", tag = "sync", security(("api_key" = [])), params(ListPeers),
    responses((status = 200, body = PeerList), (status = "4XX", body = Problem))
)]
pub(super) async fn list_peers(
    State(context): State<Context>,
    Sync(caller): Sync,
    Query(ListPeers { unasked }): Query<ListPeers>,
) -> Answer<PeerList> {
    if unasked {
        return Ok(axum::Json(peers::known(&context, &caller).await?));
    }
    Ok(axum::Json(peers::list(&context, &caller).await?))
}

/// Registers a node by its address. It is pending until its fingerprint is confirmed.
#[utoipa::path(
    post, path = "/sync/peers", tag = "sync", security(("api_key" = [])),
    responses((status = 201, body = PeerView), (status = "4XX", body = Problem))
)]
pub(super) async fn register_peer(
    State(context): State<Context>,
    Sync(caller): Sync,
    Json(request): Json<RegisterPeer>,
) -> Result<(StatusCode, axum::Json<PeerView>), Refusal> {
    let view = peers::register(&context, &caller, request).await?;
    Ok((StatusCode::CREATED, axum::Json(view)))
}

/// Confirms a peer whose fingerprint somebody has compared. Needs the scope `admin`.
#[utoipa::path(
    post, path = "/sync/peers/{peer}/confirm", tag = "sync", security(("api_key" = [])),
    params(("peer" = String, Path)),
    responses((status = 200, body = PeerView), (status = "4XX", body = Problem))
)]
pub(super) async fn confirm_peer(
    State(context): State<Context>,
    Admin(caller): Admin,
    Path(peer): Path<String>,
    Json(request): Json<ConfirmPeer>,
) -> Answer<PeerView> {
    Ok(axum::Json(peers::confirm(&context, &caller, &peer, request).await?))
}

/// Sets how much of sessions goes to a peer and is taken from it, in the place of what was set before:
/// in each direction the sites and the kinds that are named, everything where none are, and nothing
/// where the list of them is empty. Needs the scope `admin`.
#[utoipa::path(
    put, path = "/sync/peers/{peer}/limits", tag = "sync", security(("api_key" = [])),
    params(("peer" = String, Path)),
    responses((status = 200, body = PeerView), (status = "4XX", body = Problem))
)]
pub(super) async fn limit_peer(
    State(context): State<Context>,
    Admin(caller): Admin,
    Path(peer): Path<String>,
    Json(limits): Json<PeerLimits>,
) -> Answer<PeerView> {
    Ok(axum::Json(peers::limit(&context, &caller, &peer, limits).await?))
}

/// Asks a peer whether it answers, now.
#[utoipa::path(
    post, path = "/sync/peers/{peer}/ping", tag = "sync", security(("api_key" = [])),
    params(("peer" = String, Path)),
    responses((status = 200, body = PeerView), (status = "4XX", body = Problem))
)]
pub(super) async fn ping_peer(
    State(context): State<Context>,
    Sync(caller): Sync,
    Path(peer): Path<String>,
) -> Answer<PeerView> {
    Ok(axum::Json(peers::ping(&context, &caller, &peer).await?))
}

/// Forgets a peer and what opens it. Needs the scope `admin`.
#[utoipa::path(
    delete, path = "/sync/peers/{peer}", tag = "sync", security(("api_key" = [])),
    params(("peer" = String, Path)),
    responses((status = 204), (status = "4XX", body = Problem))
)]
pub(super) async fn remove_peer(
    State(context): State<Context>,
    Admin(caller): Admin,
    Path(peer): Path<String>,
) -> Result<StatusCode, Refusal> {
    peers::remove(&context, &caller, &peer).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// How the caller's sessions stand here and at a peer.
#[utoipa::path(
    get, path = "/sync/differences/{peer}", tag = "sync", security(("api_key" = [])),
    params(("peer" = String, Path)),
    responses((status = 200, body = DifferenceList), (status = "4XX", body = Problem))
)]
pub(super) async fn differences(
    State(context): State<Context>,
    Sync(caller): Sync,
    Path(peer): Path<String>,
) -> Answer<DifferenceList> {
    Ok(axum::Json(baton_sync::differences(&context, &caller, &peer).await?))
}

/// The icon of a session at a peer, which is asked for it unless it said so lately.
#[utoipa::path(
    get, path = "/sync/icons/{peer}/{session}", tag = "sync", security(("api_key" = [])),
    params(("peer" = String, Path), ("session" = String, Path)),
    responses(
        (status = 200, content_type = "image/png", body = Vec<u8>),
        (status = "4XX", body = Problem)
    )
)]
pub(super) async fn icon(
    State(context): State<Context>,
    Sync(caller): Sync,
    Path((peer, session)): Path<(String, SessionId)>,
) -> Result<impl IntoResponse, Refusal> {
    Ok(super::sessions::picture(baton_sync::icon(&context, &caller, &peer, session).await?))
}

/// The caller's sessions in which someone has to choose.
#[utoipa::path(
    get, path = "/sync/conflicts", tag = "sync", security(("api_key" = [])),
    responses((status = 200, body = ConflictList), (status = "4XX", body = Problem))
)]
pub(super) async fn conflicts(
    State(context): State<Context>,
    Sync(caller): Sync,
) -> Answer<ConflictList> {
    Ok(axum::Json(baton_sync::conflicts(&context, &caller).await?))
}

/// How the revisions of a session differ between which someone has to choose: by site and kind, counts
/// and names, without a value.
#[utoipa::path(
    get, path = "/sync/conflicts/{session}", tag = "sync", security(("api_key" = [])),
    params(("session" = String, Path)),
    responses((status = 200, body = ConflictDetails), (status = "4XX", body = Problem))
)]
pub(super) async fn conflict(
    State(context): State<Context>,
    Sync(caller): Sync,
    Path(session): Path<String>,
) -> Answer<ConflictDetails> {
    Ok(axum::Json(baton_sync::conflict(&context, &caller, &session).await?))
}

/// Ends the conflicts of a session: one revision counts from now on.
#[utoipa::path(
    post, path = "/sync/conflicts/{session}", tag = "sync", security(("api_key" = [])),
    params(("session" = String, Path)),
    responses((status = 200, body = ConflictView), (status = "4XX", body = Problem))
)]
pub(super) async fn resolve(
    State(context): State<Context>,
    Sync(caller): Sync,
    Path(session): Path<String>,
    Json(request): Json<ResolveConflict>,
) -> Answer<ConflictView> {
    Ok(axum::Json(baton_sync::resolve(&context, &caller, &session, request).await?))
}
