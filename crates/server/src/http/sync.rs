//! Carry over HTTP: what is saved, the peers it moves to and from, and session files for callers that are no
//! nodes.
//!
//! `{peer}` is a node's id, a unique prefix of one, or a peer's name.

use super::answer::{Answer, JsonBody, answer};
use super::exchange::SignedPeer;
use super::request::{Json, Path, Query};
use crate::auth::{Admin, Sync};
use crate::context::Context;
use crate::error::NodeError;
use crate::ingress::Refusal;
use axum::extract::{FromRequest, FromRequestParts, Request, State};
use axum::http::header::{CACHE_CONTROL, ETAG, IF_MATCH};
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Response};
use baton_api::sync::{
    ConfirmPeer, ConflictDetails, ConflictList, ConflictView, DifferenceList, DirectoryView,
    ListPeers, Movement, PeerList, PeerView, RegisterPeer, ResolveConflict, SaveSession, SavedView,
    SealedFile, SyncIndex, TakenFile,
};
use baton_api::{ErrorCode, FileText, Invalid, Problem};
use baton_session::{PeerLimits, RevisionId, SessionId};
use baton_sync::{Topic, peers};
use serde::{Deserialize, Serialize, Serializer};
use std::sync::Arc;
use std::time::Duration;
use utoipa::IntoParams;

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
    answer(baton_sync::save(&context, &caller, &id, request).await?).await
}

/// The index that is kept for all who ask.
struct SharedIndex(Arc<SyncIndex>);

impl Serialize for SharedIndex {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.0.serialize(serializer)
    }
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
        return Ok(answer(SharedIndex(baton_sync::index(&context, &caller).await?))
            .await?
            .into_response());
    }
    let from = SignedPeer::from_request(request, &context).await?;
    let index = baton_sync::index_for(&context, &from.peer).await?;
    baton_sync::note_told(&context, &from.peer, &index).await?;
    Ok(from.tell(&context, Topic::INDEX, SyncIndex::clone(&index)).await?)
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
    answer(baton_sync::look_at_directory(&context, &caller)).await
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
        return answer(peers::known(&context, &caller).await?).await;
    }
    answer(peers::list(&context, &caller).await?).await
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
) -> Result<(StatusCode, JsonBody<PeerView>), Refusal> {
    let view = peers::register(&context, &caller, request).await?;
    Ok((StatusCode::CREATED, answer(view).await?))
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
    answer(peers::confirm(&context, &caller, &peer, request).await?).await
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
    answer(peers::limit(&context, &caller, &peer, limits).await?).await
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
    answer(peers::ping(&context, &caller, &peer).await?).await
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
    answer(baton_sync::differences(&context, &caller, &peer).await?).await
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
    answer(baton_sync::conflicts(&context, &caller).await?).await
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
    answer(baton_sync::conflict(&context, &caller, &session).await?).await
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
    answer(baton_sync::resolve(&context, &caller, &session, request).await?).await
}

/// The current revision of a session as a session file; its name is in `ETag`. Needs the scope
/// `reveal` as well.
#[utoipa::path(
    get, path = "/sync/sessions/{id}", tag = "sync", security(("api_key" = [])),
    params(("id" = String, Path)),
    responses((status = 200, body = Object), (status = "4XX", body = Problem))
)]
pub(super) async fn download(
    State(context): State<Context>,
    Sync(caller): Sync,
    Path(id): Path<SessionId>,
) -> Result<impl IntoResponse, Refusal> {
    let (rev, file) = baton_sync::download(&context, &caller, id).await?;
    Ok((
        [(ETAG, format!("\"{rev}\"")), (CACHE_CONTROL, "no-store".to_owned())],
        answer(file).await?,
    ))
}

/// Takes a session file. `If-Match` names the revision that it comes from, which must be the newest;
/// without it, a session that is here already gets a conflict.
#[utoipa::path(
    post, path = "/sync/sessions", tag = "sync", security(("api_key" = [])),
    request_body = Object, params(("If-Match" = Option<String>, Header)),
    responses((status = 201, body = SavedView), (status = "4XX", body = Problem))
)]
pub(super) async fn upload(
    State(context): State<Context>,
    Sync(caller): Sync,
    headers: HeaderMap,
    Json(file): Json<FileText>,
) -> Result<impl IntoResponse, Refusal> {
    let based_on = based_on(&headers)?;
    let view: SavedView = baton_sync::upload(&context, &caller, file, based_on).await?;
    Ok((StatusCode::CREATED, [(ETAG, format!("\"{}\"", view.rev))], answer(view).await?))
}

/// Saves a session and seals all that is shared of it for a confirmed peer, for those without a network
/// between the nodes. Only that node can open the file.
#[utoipa::path(
    post, path = "/sync/sessions/{id}/seal/{peer}", tag = "sync", security(("api_key" = [])),
    params(("id" = String, Path), ("peer" = String, Path)),
    responses((status = 200, body = SealedFile), (status = "4XX", body = Problem))
)]
pub(super) async fn seal(
    State(context): State<Context>,
    Sync(caller): Sync,
    Path((id, peer)): Path<(String, String)>,
) -> Result<impl IntoResponse, Refusal> {
    let sealed = baton_sync::post::seal(&context, &caller, &id, &peer).await?;
    Ok(([(CACHE_CONTROL, "no-store")], answer(sealed).await?))
}

/// Takes a sync file that a confirmed peer sealed for this node.
#[utoipa::path(
    post, path = "/sync/files", tag = "sync", security(("api_key" = [])),
    request_body = Object,
    responses((status = 200, body = TakenFile), (status = "4XX", body = Problem))
)]
pub(super) async fn open(
    State(context): State<Context>,
    Sync(caller): Sync,
    Json(file): Json<FileText>,
) -> Answer<TakenFile> {
    answer(baton_sync::post::open(&context, &caller, file).await?).await
}

/// The revision that a request is based on.
fn based_on(headers: &HeaderMap) -> Result<Option<RevisionId>, Refusal> {
    let Some(value) = headers.get(IF_MATCH) else { return Ok(None) };
    let text = value.to_str().unwrap_or_default().trim().trim_matches('"');
    let expected = "expected If-Match to name a revision, as ETag does, found something else";
    text.parse().map(Some).map_err(|_| Refusal::new(ErrorCode::InvalidRequest, expected))
}

/// How long a movement goes on before it answers.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(super) struct HowLong {
    /// After so many seconds, 1 to 80, it answers how much is left; whoever shows how far it is, or may stop
    /// it, asks for few. 80 when left out.
    seconds: Option<u64>,
}

impl HowLong {
    fn limit(&self) -> Result<Duration, NodeError> {
        let most = baton_sync::CALL_LIMIT.as_secs();
        match self.seconds.unwrap_or(most) {
            seconds if (1..=most).contains(&seconds) => Ok(Duration::from_secs(seconds)),
            found => Err(Invalid {
                field: "seconds",
                expected: "a number from 1 to 80",
                found: found.to_string(),
            }
            .into()),
        }
    }
}

/// Pulls a session from a peer. When time runs out it answers `unfinished`, and goes on when called
/// again.
#[utoipa::path(
    post, path = "/sync/pull/{peer}/{session}", tag = "sync", security(("api_key" = [])),
    params(("peer" = String, Path), ("session" = String, Path), HowLong),
    responses((status = 200, body = Movement), (status = "4XX", body = Problem))
)]
pub(super) async fn pull(
    State(context): State<Context>,
    Sync(caller): Sync,
    Path((peer, session)): Path<(String, String)>,
    Query(how): Query<HowLong>,
) -> Answer<Movement> {
    let limit = how.limit()?;
    answer(baton_sync::pull(&context, &caller, &peer, &session, limit).await?).await
}

/// Pushes a session to a peer. When time runs out it answers `unfinished`, and goes on when called
/// again.
#[utoipa::path(
    post, path = "/sync/push/{peer}/{session}", tag = "sync", security(("api_key" = [])),
    params(("peer" = String, Path), ("session" = String, Path), HowLong),
    responses((status = 200, body = Movement), (status = "4XX", body = Problem))
)]
pub(super) async fn push(
    State(context): State<Context>,
    Sync(caller): Sync,
    Path((peer, session)): Path<(String, String)>,
    Query(how): Query<HowLong>,
) -> Answer<Movement> {
    let limit = how.limit()?;
    answer(baton_sync::push(&context, &caller, &peer, &session, limit).await?).await
}
