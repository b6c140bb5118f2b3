//! Agents over HTTP, in OpenAI's protocol: what they are asked, and what differs where it is spoken.
//!
//! Errors have another shape there, and an answer may take as long as its caller listens.

use super::request::{Json, Path};
use crate::auth::Sandbox;
use crate::context::Context;
use crate::ingress::Refusal;
use axum::extract::State;
use axum::http::header::{CACHE_CONTROL, CONTENT_TYPE};
use axum::http::{HeaderName, HeaderValue};
use axum::response::sse::{Event, KeepAlive, Sse};
use axum::response::{IntoResponse, Response};
use baton_agents::gateway::{Run, RunEvent, Shape, failure};
use baton_agents::{AgentsError, gateway};
use baton_api::chat::{ChatChunk, ChatCompletion, ChatError, ChatRequest, Model, ModelList};
use baton_api::{Answers, Problem};
use baton_session::json;
use futures_util::{Stream, StreamExt, stream};
use serde::Serialize;
use std::convert::Infallible;

/// The agents that may be asked.
#[utoipa::path(
    get, path = "/v1/models", tag = "gateway", security(("api_key" = [])),
    responses((status = 200, body = ModelList), (status = "4XX", body = ChatError))
)]
pub(super) async fn models(
    State(context): State<Context>,
    Sandbox(_caller): Sandbox,
) -> axum::Json<ModelList> {
    axum::Json(gateway::models(&context.agents))
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
) -> Result<axum::Json<Model>, Refusal> {
    Ok(axum::Json(gateway::model(&context.agents, &id)?))
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
    Ok(axum::Json(gateway::whole(run).await?).into_response())
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
