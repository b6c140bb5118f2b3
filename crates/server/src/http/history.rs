//! The snapshots of a session over HTTP. A snapshot is named by its id or a unique prefix of it.

use super::here::Here;
use super::input::{Json, Path, Query};
use crate::auth::{Drive, Read};
use crate::context::Context;
use crate::door::Refusal;
use axum::extract::State;
use baton_api::{
    CompareSnapshots, DiffView, History, ListHistory, Problem, ResumeResult, RollBack,
};
use baton_runtime::sessions;

type Answer<T> = Result<axum::Json<T>, Refusal>;

/// A session's snapshots, newest first, and which of them a resume would take.
#[utoipa::path(
    get, path = "/sessions/{id}/history", tag = "sessions", security(("api_key" = [])),
    params(("id" = String, Path), ListHistory),
    responses((status = 200, body = History), (status = "4XX", body = Problem))
)]
pub(super) async fn history(
    State(context): State<Context>,
    Read(caller): Read,
    Path(id): Path<String>,
    Query(query): Query<ListHistory>,
) -> Answer<History> {
    Ok(axum::Json(sessions::history(&context, &caller.owner, &id, query).await?))
}

/// Brings a session back from any of its snapshots. An active one is captured first, and its browser
/// ends.
#[utoipa::path(
    post, path = "/sessions/{id}/rollback", tag = "sessions", security(("api_key" = [])),
    params(("id" = String, Path)),
    responses((status = 200, body = ResumeResult), (status = "4XX", body = Problem))
)]
pub(super) async fn rollback(
    State(context): State<Context>,
    Drive(caller): Drive,
    Path(id): Path<String>,
    here: Here,
    Json(request): Json<RollBack>,
) -> Answer<ResumeResult> {
    let mut resumed = sessions::rollback(&context, &caller, &id, request).await?;
    resumed.session = here.tell(&context, resumed.session);
    Ok(axum::Json(resumed))
}

/// What changed from one snapshot of a session to another, without a value of either.
#[utoipa::path(
    get, path = "/sessions/{id}/diff", tag = "sessions", security(("api_key" = [])),
    params(("id" = String, Path), CompareSnapshots),
    responses((status = 200, body = DiffView), (status = "4XX", body = Problem))
)]
pub(super) async fn diff(
    State(context): State<Context>,
    Read(caller): Read,
    Path(id): Path<String>,
    Query(query): Query<CompareSnapshots>,
) -> Answer<DiffView> {
    Ok(axum::Json(sessions::diff(&context, &caller.owner, &id, query).await?))
}
