//! Sandboxes over HTTP. `{id}` is an id or a unique prefix of one.

use super::request::{Json, Path, Query};
use crate::auth::Sandbox;
use crate::context::Context;
use crate::ingress::Refusal;
use axum::body::{Body, Bytes};
use axum::extract::State;
use axum::extract::rejection::BytesRejection;
use axum::http::StatusCode;
use axum::http::header::{CACHE_CONTROL, CONTENT_TYPE};
use axum::response::IntoResponse;
use axum::response::sse::{Event, KeepAlive, Sse};
use baton_agents::sandboxes;
use baton_agents::sandboxes::Events;
use baton_api::sandbox::{
    CreateSandbox, EndedSandbox, ExecSandbox, SandboxFile, SandboxList, SandboxView,
};
use baton_api::{ErrorCode, Problem};
use futures_util::{Stream, stream};
use std::convert::Infallible;

type Answer<T> = Result<axum::Json<T>, Refusal>;

/// Makes a sandbox, which is ready for commands. A session that is handed in logs somebody in there, or
/// nothing is made.
#[utoipa::path(
    post, path = "/api/sandboxes", tag = "sandboxes", security(("api_key" = [])),
    request_body = CreateSandbox,
    responses((status = 201, body = SandboxView), (status = "4XX", body = Problem))
)]
pub(super) async fn create(
    State(context): State<Context>,
    Sandbox(caller): Sandbox,
    Json(request): Json<CreateSandbox>,
) -> Result<(StatusCode, axum::Json<SandboxView>), Refusal> {
    let view = Box::pin(sandboxes::create(&context.agents, &caller, request)).await?;
    Ok((StatusCode::CREATED, axum::Json(view)))
}

/// The caller's sandboxes at this node, the oldest first.
#[utoipa::path(
    get, path = "/api/sandboxes", tag = "sandboxes", security(("api_key" = [])),
    responses((status = 200, body = SandboxList), (status = "4XX", body = Problem))
)]
pub(super) async fn list(
    State(context): State<Context>,
    Sandbox(caller): Sandbox,
) -> axum::Json<SandboxList> {
    axum::Json(sandboxes::list(&context.agents, &caller))
}

/// One sandbox.
#[utoipa::path(
    get, path = "/api/sandboxes/{id}", tag = "sandboxes", security(("api_key" = [])),
    params(("id" = String, Path)),
    responses((status = 200, body = SandboxView), (status = "4XX", body = Problem))
)]
pub(super) async fn show(
    State(context): State<Context>,
    Sandbox(caller): Sandbox,
    Path(id): Path<String>,
) -> Answer<SandboxView> {
    Ok(axum::Json(sandboxes::show(&context.agents, &caller, &id)?))
}

/// Ends a sandbox. What it held of a session is written back when this answers.
#[utoipa::path(
    delete, path = "/api/sandboxes/{id}", tag = "sandboxes", security(("api_key" = [])),
    params(("id" = String, Path)),
    responses((status = 200, body = EndedSandbox), (status = "4XX", body = Problem))
)]
pub(super) async fn delete(
    State(context): State<Context>,
    Sandbox(caller): Sandbox,
    Path(id): Path<String>,
) -> Answer<EndedSandbox> {
    Ok(axum::Json(Box::pin(sandboxes::delete(&context.agents, &caller, &id)).await?))
}

/// Runs a command, and tells what it writes while it runs as server-sent events, each an `ExecEvent`;
/// the last one says how it ended. A client that leaves ends the command.
#[utoipa::path(
    post, path = "/api/sandboxes/{id}/exec", tag = "sandboxes", security(("api_key" = [])),
    params(("id" = String, Path)), request_body = ExecSandbox,
    responses(
        (status = 200, description = "Events", content_type = "text/event-stream", body = String),
        (status = "4XX", body = Problem)
    )
)]
pub(super) async fn exec(
    State(context): State<Context>,
    Sandbox(caller): Sandbox,
    Path(id): Path<String>,
    Json(request): Json<ExecSandbox>,
) -> Result<impl IntoResponse, Refusal> {
    let events = sandboxes::exec(&context.agents, &caller, &id, request).await?;
    Ok(Sse::new(exec_events(events)).keep_alive(KeepAlive::default()))
}

fn exec_events(events: Events) -> impl Stream<Item = Result<Event, Infallible>> {
    stream::unfold(events, async |mut events| {
        // An event is made of a text or a number.
        let event = Event::default().json_data(events.recv().await?).unwrap_or_default();
        Some((Ok(event), events))
    })
}

/// A file of a sandbox: a plain one, of at most 64 MiB. An answer that breaks off is not whole.
#[utoipa::path(
    get, path = "/api/sandboxes/{id}/files", tag = "sandboxes", security(("api_key" = [])),
    params(("id" = String, Path), SandboxFile),
    responses(
        (status = 200, description = "The file", content_type = "application/octet-stream", body = Vec<u8>),
        (status = "4XX", body = Problem)
    )
)]
pub(super) async fn read(
    State(context): State<Context>,
    Sandbox(caller): Sandbox,
    Path(id): Path<String>,
    Query(file): Query<SandboxFile>,
) -> Result<impl IntoResponse, Refusal> {
    let parts = sandboxes::read(&context.agents, &caller, &id, &file.path).await?;
    let body = stream::unfold(parts, async |mut parts| Some((parts.recv().await?, parts)));
    let headers = [(CONTENT_TYPE, "application/octet-stream"), (CACHE_CONTROL, "no-store")];
    Ok((headers, Body::from_stream(body)))
}

/// Writes a file of a sandbox, whole or not at all; its folders are made.
#[utoipa::path(
    put, path = "/api/sandboxes/{id}/files", tag = "sandboxes", security(("api_key" = [])),
    params(("id" = String, Path), SandboxFile),
    request_body(content = Vec<u8>, content_type = "application/octet-stream"),
    responses((status = 204), (status = "4XX", body = Problem))
)]
pub(super) async fn write(
    State(context): State<Context>,
    Sandbox(caller): Sandbox,
    Path(id): Path<String>,
    Query(file): Query<SandboxFile>,
    bytes: Result<Bytes, BytesRejection>,
) -> Result<StatusCode, Refusal> {
    let too_large = |_| Refusal::new(ErrorCode::BodyTooLarge, crate::ingress::BODY_TOO_LARGE);
    let bytes = bytes.map_err(too_large)?;
    sandboxes::write(&context.agents, &caller, &id, &file.path, &bytes).await?;
    Ok(StatusCode::NO_CONTENT)
}
