//! Agents over HTTP: the sandboxes in which they run, and what they are asked in OpenAI's protocol. `{id}`
//! is an id or a unique prefix of one.
//!
//! Errors have another shape there, and an answer may take as long as its caller listens.

use super::answer::{Answer, JsonBody, answer};
use super::request::{Json, Path, Query};
use crate::auth::Sandbox;
use crate::cluster::{Origin, Passed};
use crate::context::Context;
use crate::everywhere;
use crate::ingress::Refusal;
use axum::Extension;
use axum::body::{Body, Bytes};
use axum::extract::State;
use axum::extract::rejection::BytesRejection;
use axum::http::header::{CACHE_CONTROL, CONTENT_TYPE};
use axum::http::{HeaderName, HeaderValue, StatusCode};
use axum::response::sse::{Event, KeepAlive, Sse};
use axum::response::{IntoResponse, Response};
use baton_agents::gateway::{Run, RunEvent, Shape, failure};
use baton_agents::sandboxes::Events;
use baton_agents::{AgentsError, gateway, sandboxes};
use baton_api::chat::{ChatChunk, ChatCompletion, ChatError, ChatRequest, Model, ModelList};
use baton_api::sandbox::{
    CreateSandbox, EndedSandbox, ExecSandbox, SandboxFile, SandboxList, SandboxView,
};
use baton_api::{Answers, ErrorCode, Problem};
use baton_session::json;
use futures_util::{Stream, StreamExt, stream};
use serde::Serialize;
use std::convert::Infallible;

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
) -> Result<(StatusCode, JsonBody<SandboxView>), Refusal> {
    let view = Box::pin(sandboxes::create(&context.agents, &caller, request)).await?;
    Ok((StatusCode::CREATED, answer(view).await?))
}

/// The caller's sandboxes at all nodes, the oldest first.
#[utoipa::path(
    get, path = "/api/sandboxes", tag = "sandboxes", security(("api_key" = [])),
    responses((status = 200, body = SandboxList), (status = "4XX", body = Problem))
)]
pub(super) async fn list(
    State(context): State<Context>,
    Sandbox(caller): Sandbox,
    passed: Option<Extension<Passed>>,
    origin: Origin,
) -> Answer<SandboxList> {
    // Who asks another node collects what all have.
    let origin = Some(origin).filter(|_| passed.is_none());
    answer(everywhere::sandboxes(&context, &caller, origin.as_ref()).await).await
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
    answer(sandboxes::show(&context.agents, &caller, &id)?).await
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
    answer(Box::pin(sandboxes::delete(&context.agents, &caller, &id)).await?).await
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

/// The agents that may be asked.
#[utoipa::path(
    get, path = "/v1/models", tag = "gateway", security(("api_key" = [])),
    responses((status = 200, body = ModelList), (status = "4XX", body = ChatError))
)]
pub(super) async fn models(
    State(context): State<Context>,
    Sandbox(_caller): Sandbox,
) -> Answer<ModelList> {
    answer(gateway::models(&context.agents)).await
}

/// One of the agents that may be asked.
#[utoipa::path(
    get, path = "/v1/models/{id}", tag = "gateway", security(("api_key" = [])),
    params(("id" = String, Path, description = "Name of the agent")),
    responses((status = 200, body = Model), (status = "4XX", body = ChatError))
)]
pub(super) async fn model(
    State(context): State<Context>,
    Sandbox(_caller): Sandbox,
    Path(id): Path<String>,
) -> Answer<Model> {
    answer(gateway::model(&context.agents, &id)?).await
}

/// Asks an agent, which runs in a sandbox of its own until it has answered, or its caller leaves. With
/// `stream`, the answer is server-sent events, each a `ChatChunk`, and `[DONE]` at last.
#[utoipa::path(
    post, path = "/v1/chat/completions", tag = "gateway", security(("api_key" = [])),
    request_body = ChatRequest,
    responses((status = 200, body = ChatCompletion), (status = "4XX", body = ChatError))
)]
pub(super) async fn complete(
    State(context): State<Context>,
    Sandbox(caller): Sandbox,
    Json(request): Json<ChatRequest>,
) -> Result<Response, Refusal> {
    let is_stream = request.stream;
    let tells_usage = request.stream_options.as_ref().is_some_and(|it| it.include_usage);
    let run = gateway::ask(&context.agents, &caller, request).await?;
    if is_stream {
        let shape = Shape::of(&run, tells_usage);
        return Ok(Sse::new(run_events(run, shape))
            .keep_alive(KeepAlive::default())
            .into_response());
    }
    Ok(answer(gateway::whole(run).await?).await?.into_response())
}

fn run_events(run: Run, shape: Shape) -> impl Stream<Item = Result<Event, Infallible>> {
    let first = stream::once(std::future::ready(vec![piece(&shape.first())]));
    let rest = stream::unfold(run.events, async |mut events| {
        let event = events.recv().await?;
        Some((event, events))
    });
    let rest = rest.map(move |event| match event {
        RunEvent::Text(text) => vec![piece(&shape.text(text))],
        RunEvent::End(done) => last(&shape, *done),
    });
    first.chain(rest).flat_map(stream::iter).map(Ok)
}

fn last(shape: &Shape, done: Result<gateway::Done, AgentsError>) -> Vec<Event> {
    match done {
        Ok(done) => {
            let pieces = shape.last(done);
            let pieces = pieces.iter().map(piece::<ChatChunk>);
            pieces.chain([Event::default().data("[DONE]")]).collect()
        }
        Err(error) => vec![piece(&failure(&error.problem()))],
    }
}

/// Pieces are made of texts and numbers.
fn piece<T: Serialize>(piece: &T) -> Event {
    Event::default().json_data(piece).unwrap_or_default()
}

/// What precedes the addresses of the protocol: their errors have its shape.
const PREFIX: &str = "/v1/";
/// Where agents are asked: for as long as their caller listens, and no longer.
const COMPLETIONS: &str = "/v1/chat/completions";
/// Tells OpenAI's clients whether to try again by themselves.
const SHOULD_RETRY: HeaderName = HeaderName::from_static("x-should-retry");

/// Whether a request is worked on for as long as its caller listens, and no longer.
pub(super) fn is_listened_to(path: &str) -> bool {
    path == COMPLETIONS
}

/// Whether errors of an address have the protocol's shape.
pub(super) fn is_spoken(path: &str) -> bool {
    path.starts_with(PREFIX)
}

/// An error in the protocol's shape. What failed is not tried again by itself: an agent may have done half of
/// its task.
pub(super) fn openai_error(problem: &Problem) -> Response {
    let headers = [
        (CONTENT_TYPE, HeaderValue::from_static("application/json")),
        (CACHE_CONTROL, HeaderValue::from_static("no-store")),
        (SHOULD_RETRY, HeaderValue::from_static("false")),
    ];
    (headers, json::bytes(&failure(problem))).into_response()
}
