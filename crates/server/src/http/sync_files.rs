//! Session files over HTTP, for whoever is no node.

use super::input::{Json, Path};
use crate::auth::Sync;
use crate::context::Context;
use crate::door::Refusal;
use axum::extract::State;
use axum::http::header::{CACHE_CONTROL, ETAG, IF_MATCH};
use axum::http::{HeaderMap, StatusCode};
use axum::response::IntoResponse;
use baton_api::sync::{SavedView, SealedFile, TakenFile};
use baton_api::{ErrorCode, FileText, Problem};
use baton_session::{RevisionId, SessionId};

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
    Ok(([(ETAG, format!("\"{rev}\"")), (CACHE_CONTROL, "no-store".to_owned())], axum::Json(file)))
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
    Ok((StatusCode::CREATED, [(ETAG, format!("\"{}\"", view.rev))], axum::Json(view)))
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
    let sealed = baton_sync::file::seal(&context, &caller, &id, &peer).await?;
    Ok(([(CACHE_CONTROL, "no-store")], axum::Json(sealed)))
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
) -> Result<axum::Json<TakenFile>, Refusal> {
    Ok(axum::Json(baton_sync::file::open(&context, &caller, file).await?))
}

/// The revision that a request is based on.
fn based_on(headers: &HeaderMap) -> Result<Option<RevisionId>, Refusal> {
    let Some(value) = headers.get(IF_MATCH) else { return Ok(None) };
    let text = value.to_str().unwrap_or_default().trim().trim_matches('"');
    let expected = "expected If-Match to name a revision, as ETag does, found something else";
    text.parse().map(Some).map_err(|_| Refusal::new(ErrorCode::InvalidRequest, expected))
}
