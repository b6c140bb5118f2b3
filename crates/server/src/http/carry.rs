//! Sessions as files over HTTP.

use super::input::{Json, Path, Query};
use crate::auth::{Drive, Read};
use crate::context::Context;
use crate::door::Refusal;
use axum::extract::State;
use axum::http::{StatusCode, header};
use axum::response::IntoResponse;
use baton_api::{
    ContextList, ExportSession, ExportView, ImportSession, ImportView, KeepContext, Problem,
};
use baton_runtime::sessions;

/// A session as a file; an active one is captured first. Needs the scope `reveal`, because whoever
/// has the file is logged in.
#[utoipa::path(
    get, path = "/sessions/{id}/export", tag = "sessions", security(("api_key" = [])),
    params(("id" = String, Path), ExportSession),
    responses((status = 200, body = ExportView), (status = "4XX", body = Problem))
)]
pub(super) async fn export(
    State(context): State<Context>,
    Read(caller): Read,
    Path(id): Path<String>,
    Query(query): Query<ExportSession>,
) -> Result<impl IntoResponse, Refusal> {
    let view = sessions::export(&context, &caller, &id, query).await?;
    Ok(([(header::CACHE_CONTROL, "no-store")], axum::Json(view)))
}

/// The contexts that clients made in the session's browser (incognito windows, Playwright's
/// `newContext()`), with their tabs. They are not kept by themselves.
#[utoipa::path(
    get, path = "/sessions/{id}/contexts", tag = "sessions", security(("api_key" = [])),
    params(("id" = String, Path)),
    responses((status = 200, body = ContextList), (status = "4XX", body = Problem))
)]
pub(super) async fn contexts(
    State(context): State<Context>,
    Read(caller): Read,
    Path(id): Path<String>,
) -> Result<axum::Json<ContextList>, Refusal> {
    Ok(axum::Json(sessions::contexts(&context, &caller.owner, &id).await?))
}

/// Makes a recoverable session of its own of what one of these contexts holds now: its cookies, its tabs,
/// and the storage of the sites that they show. What happens in the context later is not in it.
#[utoipa::path(
    post, path = "/sessions/{id}/contexts/keep", tag = "sessions", security(("api_key" = [])),
    params(("id" = String, Path)),
    responses((status = 201, body = ImportView), (status = "4XX", body = Problem))
)]
pub(super) async fn keep_context(
    State(context): State<Context>,
    Drive(caller): Drive,
    Path(id): Path<String>,
    Json(request): Json<KeepContext>,
) -> Result<(StatusCode, axum::Json<ImportView>), Refusal> {
    let view = sessions::keep_context(&context, &caller, &id, request).await?;
    Ok((StatusCode::CREATED, axum::Json(view)))
}

/// Makes a recoverable session of a session file or of a Playwright storageState.
#[utoipa::path(
    post, path = "/sessions/import", tag = "sessions", security(("api_key" = [])),
    responses((status = 201, body = ImportView), (status = "4XX", body = Problem))
)]
pub(super) async fn import(
    State(context): State<Context>,
    Drive(caller): Drive,
    Json(request): Json<ImportSession>,
) -> Result<(StatusCode, axum::Json<ImportView>), Refusal> {
    let view = sessions::import(&context, &caller, request).await?;
    Ok((StatusCode::CREATED, axum::Json(view)))
}
