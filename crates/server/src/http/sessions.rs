//! Sessions over HTTP, their snapshots, and sessions as files.
//!
//! `{id}` is an id, a unique prefix of one, or a name. A snapshot is named by its id or a unique prefix of it.

use super::answer::{Answer, JsonBody, answer};
use super::request::{Here, Json, Path, Query};
use crate::auth::{Admin, Drive, Read};
use crate::context::Context;
use crate::ingress::Refusal;
use axum::extract::State;
use axum::http::{StatusCode, header};
use axum::response::IntoResponse;
use baton_api::{
    AttachSession, CompareSnapshots, ContextList, DiffView, ExportSession, ExportView, History,
    ImportSession, ImportView, KeepContext, ListHistory, ListSessions, LoginList, OpenSession,
    PassSession, PickSnapshot, Problem, ResumeResult, ResumeSession, RollBack, SessionList,
    SessionView, SnapshotView, StateView, SwitchDebug,
};
use baton_runtime::sessions;
use serde::Deserialize;
use utoipa::IntoParams;

/// The caller's sessions, newest first.
#[utoipa::path(
    get, path = "/sessions", tag = "sessions", security(("api_key" = [])), params(ListSessions),
    responses((status = 200, body = SessionList), (status = "4XX", body = Problem))
)]
pub(super) async fn list(
    State(context): State<Context>,
    Read(caller): Read,
    Query(query): Query<ListSessions>,
) -> Answer<SessionList> {
    answer(sessions::list(&context, &caller.owner, query).await?).await
}

/// Opens a session in a browser of its own.
#[utoipa::path(
    post, path = "/sessions", tag = "sessions", security(("api_key" = [])),
    responses((status = 201, body = SessionView), (status = "4XX", body = Problem))
)]
pub(super) async fn open(
    State(context): State<Context>,
    Drive(caller): Drive,
    here: Here,
    Json(request): Json<OpenSession>,
) -> Result<(StatusCode, JsonBody<SessionView>), Refusal> {
    let view = here.tell(&context, sessions::open(&context, &caller, request).await?);
    Ok((StatusCode::CREATED, answer(view).await?))
}

/// Attaches to a browser of this machine that someone else started. Needs the scope `admin`,
/// because such an address opens whatever listens there.
#[utoipa::path(
    post, path = "/sessions/attach", tag = "sessions", security(("api_key" = [])),
    responses((status = 201, body = SessionView), (status = "4XX", body = Problem))
)]
pub(super) async fn attach(
    State(context): State<Context>,
    Admin(caller): Admin,
    here: Here,
    Json(request): Json<AttachSession>,
) -> Result<(StatusCode, JsonBody<SessionView>), Refusal> {
    let view = here.tell(&context, sessions::attach(&context, &caller, request).await?);
    Ok((StatusCode::CREATED, answer(view).await?))
}

/// One session in full. What may be secret in the addresses of its tabs is hidden unless revealed.
#[utoipa::path(
    get, path = "/sessions/{id}", tag = "sessions", security(("api_key" = [])),
    params(("id" = String, Path), Reveal),
    responses((status = 200, body = SessionView), (status = "4XX", body = Problem))
)]
pub(super) async fn show(
    State(context): State<Context>,
    Read(caller): Read,
    Path(id): Path<String>,
    Query(Reveal { reveal }): Query<Reveal>,
    here: Here,
) -> Answer<SessionView> {
    let view = sessions::show_to(&context, &caller, &id, reveal).await?;
    answer(here.tell(&context, view)).await
}

/// Removes a session that is not active, with its snapshots, receipts and profile.
#[utoipa::path(
    delete, path = "/sessions/{id}", tag = "sessions", security(("api_key" = [])),
    params(("id" = String, Path)),
    responses((status = 204), (status = "4XX", body = Problem))
)]
pub(super) async fn delete(
    State(context): State<Context>,
    Drive(caller): Drive,
    Path(id): Path<String>,
) -> Result<StatusCode, Refusal> {
    sessions::delete(&context, &caller, &id).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// Takes a snapshot now; it is on disk when this answers.
#[utoipa::path(
    post, path = "/sessions/{id}/capture", tag = "sessions", security(("api_key" = [])),
    params(("id" = String, Path)),
    responses((status = 200, body = SnapshotView), (status = "4XX", body = Problem))
)]
pub(super) async fn capture(
    State(context): State<Context>,
    Drive(caller): Drive,
    Path(id): Path<String>,
) -> Answer<SnapshotView> {
    answer(sessions::capture(&context, &caller, &id).await?).await
}

/// Switches on or off whether what the session's tabs do is recorded, now and after every resume. To keep
/// their secrets too needs the scope `reveal`.
#[utoipa::path(
    post, path = "/sessions/{id}/debug", tag = "debug", security(("api_key" = [])),
    params(("id" = String, Path)), request_body = SwitchDebug,
    responses((status = 200, body = SessionView), (status = "4XX", body = Problem))
)]
pub(super) async fn debug(
    State(context): State<Context>,
    Drive(caller): Drive,
    Path(id): Path<String>,
    here: Here,
    Json(switch): Json<SwitchDebug>,
) -> Answer<SessionView> {
    answer(here.tell(&context, sessions::debug(&context, &caller, &id, switch).await?)).await
}

/// Brings a session back from its last good snapshot; the receipt says what came back.
#[utoipa::path(
    post, path = "/sessions/{id}/resume", tag = "sessions", security(("api_key" = [])),
    params(("id" = String, Path), ResumeSession),
    responses((status = 200, body = ResumeResult), (status = "4XX", body = Problem))
)]
pub(super) async fn resume(
    State(context): State<Context>,
    Drive(caller): Drive,
    Path(id): Path<String>,
    Query(request): Query<ResumeSession>,
    here: Here,
) -> Answer<ResumeResult> {
    let mut resumed = sessions::resume(&context, &caller, &id, request).await?;
    resumed.session = here.tell(&context, resumed.session);
    answer(resumed).await
}

/// Takes a last snapshot, ends the browser and closes the session.
#[utoipa::path(
    post, path = "/sessions/{id}/close", tag = "sessions", security(("api_key" = [])),
    params(("id" = String, Path)),
    responses((status = 200, body = SessionView), (status = "4XX", body = Problem))
)]
pub(super) async fn close(
    State(context): State<Context>,
    Drive(caller): Drive,
    Path(id): Path<String>,
) -> Answer<SessionView> {
    answer(sessions::close(&context, &caller, &id).await?).await
}

/// Closes a session without a last snapshot and removes its profile.
#[utoipa::path(
    post, path = "/sessions/{id}/abandon", tag = "sessions", security(("api_key" = [])),
    params(("id" = String, Path)),
    responses((status = 200, body = SessionView), (status = "4XX", body = Problem))
)]
pub(super) async fn abandon(
    State(context): State<Context>,
    Drive(caller): Drive,
    Path(id): Path<String>,
) -> Answer<SessionView> {
    answer(sessions::abandon(&context, &caller, &id).await?).await
}

/// Passes a session to another agent, or to nobody; whoever does not drive it says why.
#[utoipa::path(
    post, path = "/sessions/{id}/pass", tag = "sessions", security(("api_key" = [])),
    params(("id" = String, Path)),
    responses((status = 200, body = SessionView), (status = "4XX", body = Problem))
)]
pub(super) async fn pass(
    State(context): State<Context>,
    Drive(caller): Drive,
    Path(id): Path<String>,
    here: Here,
    Json(request): Json<PassSession>,
) -> Answer<SessionView> {
    let view = sessions::pass(&context, &caller, &id, &request).await?;
    answer(here.tell(&context, view)).await
}

/// Whether secret values are shown.
#[derive(Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(super) struct Reveal {
    /// Show secret values; needs the scope `reveal`.
    #[serde(default)]
    reveal: bool,
}

/// What the latest snapshot holds; secret values are replaced by markers unless revealed.
#[utoipa::path(
    get, path = "/sessions/{id}/state", tag = "sessions", security(("api_key" = [])),
    params(("id" = String, Path), Reveal),
    responses((status = 200, body = StateView), (status = "4XX", body = Problem))
)]
pub(super) async fn state(
    State(context): State<Context>,
    Read(caller): Read,
    Path(id): Path<String>,
    Query(Reveal { reveal }): Query<Reveal>,
) -> Answer<StateView> {
    answer(sessions::state(&context, &caller, &id, reveal).await?).await
}

/// Where the session may be logged in, and how long that lasts.
#[utoipa::path(
    get, path = "/sessions/{id}/logins", tag = "sessions", security(("api_key" = [])),
    params(("id" = String, Path)),
    responses((status = 200, body = LoginList), (status = "4XX", body = Problem))
)]
pub(super) async fn logins(
    State(context): State<Context>,
    Read(caller): Read,
    Path(id): Path<String>,
) -> Answer<LoginList> {
    answer(sessions::list_logins(&context, &caller.owner, &id).await?).await
}

/// The preview of the latest snapshot, or of the one that is named.
#[utoipa::path(
    get, path = "/sessions/{id}/preview", tag = "sessions", security(("api_key" = [])),
    params(("id" = String, Path), PickSnapshot),
    responses(
        (status = 200, content_type = "image/png", body = Vec<u8>),
        (status = "4XX", body = Problem)
    )
)]
pub(super) async fn preview(
    State(context): State<Context>,
    Read(caller): Read,
    Path(id): Path<String>,
    Query(PickSnapshot { snapshot }): Query<PickSnapshot>,
) -> Result<impl IntoResponse, Refusal> {
    let snapshot = snapshot.as_deref();
    Ok(picture(sessions::preview(&context, &caller.owner, &id, snapshot).await?))
}

/// The icon of the site that the latest snapshot shows.
#[utoipa::path(
    get, path = "/sessions/{id}/icon", tag = "sessions", security(("api_key" = [])),
    params(("id" = String, Path)),
    responses(
        (status = 200, content_type = "image/png", body = Vec<u8>),
        (status = "4XX", body = Problem)
    )
)]
pub(super) async fn icon(
    State(context): State<Context>,
    Read(caller): Read,
    Path(id): Path<String>,
) -> Result<impl IntoResponse, Refusal> {
    Ok(picture(sessions::icon(&context, &caller.owner, &id).await?))
}

/// A PNG that is not kept, nor taken for anything else.
pub(super) fn picture(png: Vec<u8>) -> impl IntoResponse {
    let headers = [
        (header::CONTENT_TYPE, "image/png"),
        (header::CACHE_CONTROL, "no-store"),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
    ];
    (headers, png)
}

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
    answer(sessions::history(&context, &caller.owner, &id, query).await?).await
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
    answer(resumed).await
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
    answer(sessions::diff(&context, &caller.owner, &id, query).await?).await
}

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
    Ok(([(header::CACHE_CONTROL, "no-store")], answer(view).await?))
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
) -> Answer<ContextList> {
    answer(sessions::contexts(&context, &caller.owner, &id).await?).await
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
) -> Result<(StatusCode, JsonBody<ImportView>), Refusal> {
    let view = sessions::keep_context(&context, &caller, &id, request).await?;
    Ok((StatusCode::CREATED, answer(view).await?))
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
) -> Result<(StatusCode, JsonBody<ImportView>), Refusal> {
    let view = sessions::import(&context, &caller, request).await?;
    Ok((StatusCode::CREATED, answer(view).await?))
}
