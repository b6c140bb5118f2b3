//! What surrounds every request, from the outside in, compression with it. The page of routes says where.
//!
//! What was considered is that the length of a compressed answer tells how much of it is there twice. Who
//! reads along and may also write into it, guess by guess, learns a secret that is in it
//! ([BREACH](https://www.breachattack.com)). In a session they are side by side: a page that a person visits
//! chooses its title and writes into its storage whatever it likes, and next to it lie the logins of all
//! others, and addresses with tokens in them. So nothing that shows what a session holds is compressed, nor
//! what gives out keys and tickets: only lists, which hold names, times, sizes and hashes, and the document
//! of the API.
//!
//! Answers between nodes are sealed and signed as they are; what is in them was compressed before.

use super::forward;
use super::sandboxes::{is_listened_to, is_spoken, openai_error};
use crate::context::Context;
use crate::error::NodeError;
use crate::ingress::{
    BODY_TOO_LARGE, HostCheck, HttpConfig, OwnBody, Refusal, check_host_and_origin,
};
use crate::metrics;
use crate::page;
use axum::Router;
use axum::body::{Body, HttpBody};
use axum::extract::{DefaultBodyLimit, MatchedPath, Request, State};
use axum::http::header::{AUTHORIZATION, CONTENT_TYPE, COOKIE, HeaderValue};
use axum::http::{HeaderName, StatusCode};
use axum::middleware::{Next, from_fn, from_fn_with_state};
use axum::response::{IntoResponse, Response};
use baton_api::{ErrorCode, GUEST_HEADER, PAGE_HEADER, Problem, problem};
use baton_net::connections::{BodyTrouble, Visit, freight};
use baton_runtime::audit::{Action, Note, watch};
use baton_runtime::sessions::FILE_LIMIT;
use baton_session::json;
use baton_store::blocking::finished;
use baton_sync::TUNNEL;
use futures_util::StreamExt as _;
use std::any::Any;
use std::time::{Duration, Instant};
use tower::ServiceBuilder;
use tower::util::MapRequestLayer;
use tower_http::CompressionLevel;
use tower_http::catch_panic::CatchPanicLayer;
use tower_http::compression::{CompressionLayer, Predicate};
use tower_http::decompression::{DecompressionBody, RequestDecompressionLayer};
use tower_http::limit::RequestBodyLimitLayer;
use tower_http::request_id::{MakeRequestUuid, PropagateRequestIdLayer, SetRequestIdLayer};
use tower_http::sensitive_headers::SetSensitiveRequestHeadersLayer;
use tower_http::trace::TraceLayer;
use tracing::Instrument;

/// How long an answer may take. What an operation waits for has limits of its own, which say what was slow: the
/// longest is a resume, a minute for its turn and five for the restore of a large session.
const ANSWER_LIMIT: Duration = Duration::from_mins(8);
const REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");
const PAGE: HeaderName = HeaderName::from_static(PAGE_HEADER);
const GUEST: HeaderName = HeaderName::from_static(GUEST_HEADER);

/// The router with everything around it.
pub(super) fn around(
    router: Router<Context>,
    context: &Context,
    config: &HttpConfig,
) -> Router<Context> {
    let host_check = HostCheck::with_page(config, &page::host_of(context.node));
    let layers = ServiceBuilder::new()
        .layer(SetRequestIdLayer::new(REQUEST_ID, MakeRequestUuid))
        .layer(SetSensitiveRequestHeadersLayer::new([AUTHORIZATION, COOKIE, PAGE, GUEST, TUNNEL]))
        .layer(TraceLayer::new_for_http().make_span_with(span).on_failure(()))
        .layer(PropagateRequestIdLayer::new(REQUEST_ID))
        .layer(from_fn_with_state(context.clone(), forward::sign))
        .layer(from_fn(write_problem))
        .layer(from_fn_with_state(context.clone(), forward::take))
        .layer(from_fn_with_state(context.clone(), observe))
        .layer(from_fn(limit))
        .layer(CatchPanicLayer::custom(panicked))
        .layer(from_fn_with_state(context.clone(), finish))
        .layer(from_fn_with_state(context.freight.clone(), freight::weigh))
        .layer(from_fn_with_state(host_check, check_host_and_origin))
        .layer(from_fn_with_state(context.clone(), end_with_page))
        .layer(from_fn_with_state(config.behind_proxy, crate::ingress::find))
        .layer(from_fn_with_state(context.clone(), note_refusals))
        // What may be longer, a file that becomes a session, says so at its route.
        .layer(DefaultBodyLimit::max(config.body_bytes))
        .layer(RequestBodyLimitLayer::new(config.body_bytes.max(FILE_LIMIT)));
    router.fallback(no_route).method_not_allowed_fallback(no_method).layer(layers)
}

/// The query is left out of the log: a ticket in it opens a browser.
fn span(request: &Request) -> tracing::Span {
    let id = request.headers().get(REQUEST_ID).and_then(|id| id.to_str().ok()).unwrap_or_default();
    tracing::info_span!("request", id, method = %request.method(), path = request.uri().path())
}

/// Writes the body of every answer that is an error; see [`Refusal`].
async fn write_problem(request: Request, next: Next) -> Response {
    let id = request.headers().get(REQUEST_ID).and_then(|id| id.to_str().ok()).map(str::to_owned);
    let speaks_openai = is_spoken(request.uri().path());
    let visit = request.extensions().get::<Visit>().cloned();
    let mut response = next.run(request).await;
    let status = response.status();
    let is_error = status.is_client_error() || status.is_server_error();
    // The reader of the body knows only that it broke off.
    if let Some(trouble) = visit.and_then(|visit| visit.trouble()).filter(|_| is_error) {
        response.extensions_mut().remove::<OwnBody>();
        response.extensions_mut().insert(problem_of_trouble(trouble));
    }
    if !is_error || response.extensions().get::<OwnBody>().is_some() {
        return response;
    }
    let mut problem =
        response.extensions_mut().remove().unwrap_or_else(|| problem_of_status(status));
    problem.request_id = id;
    let (mut parts, _) = response.into_parts();
    parts.status = StatusCode::from_u16(problem.status).unwrap_or(parts.status);
    parts.headers.remove(axum::http::header::CONTENT_LENGTH);
    if speaks_openai {
        let (own, body) = openai_error(&problem).into_parts();
        parts.headers.extend(own.headers);
        return Response::from_parts(parts, body);
    }
    parts.headers.insert(CONTENT_TYPE, HeaderValue::from_static(problem::CONTENT_TYPE));
    Response::from_parts(parts, Body::from(json::bytes(&problem)))
}

/// The problem of a body that was not taken.
fn problem_of_trouble(trouble: BodyTrouble) -> Problem {
    let code = match trouble {
        BodyTrouble::Slow => ErrorCode::BodyTooSlow,
        BodyTrouble::NoRoom => ErrorCode::TooManyRequests,
    };
    let text = trouble.to_string();
    match text.split_once('\n') {
        Some((detail, hint)) => Problem::new(code, detail).hint(hint),
        None => Problem::new(code, text),
    }
}

/// The problem of an answer that a layer made, which knows only a status.
fn problem_of_status(status: StatusCode) -> Problem {
    let (code, detail) = match status {
        StatusCode::PAYLOAD_TOO_LARGE => (ErrorCode::BodyTooLarge, BODY_TOO_LARGE),
        StatusCode::TOO_MANY_REQUESTS => return problem_of_trouble(BodyTrouble::NoRoom),
        StatusCode::UNSUPPORTED_MEDIA_TYPE => (
            ErrorCode::UnsupportedMediaType,
            "expected a body in gzip, in zstd or as it is, found another Content-Encoding",
        ),
        StatusCode::GATEWAY_TIMEOUT => (
            ErrorCode::TimedOut,
            "no answer within 8 minutes; what was begun goes on, look again later",
        ),
        status if status.is_client_error() => {
            (ErrorCode::InvalidRequest, "the request cannot be read")
        }
        _ => (ErrorCode::Internal, "the request failed"),
    };
    Problem::new(code, detail)
}

/// Counts requests, and notes that this node is in use.
async fn observe(State(context): State<Context>, request: Request, next: Next) -> Response {
    let begun = Instant::now();
    let route = request.extensions().get::<MatchedPath>().map(|path| path.as_str().to_owned());
    let route = route.unwrap_or_else(|| "none".to_owned());
    // A caller that only asks whether the node lives does not use it.
    let _in_use =
        (!matches!(route.as_str(), "/health" | "/ready")).then(|| context.activity.start_request());
    let method = request.method().clone();
    let response = next.run(request).await;
    metrics::answered(method.as_str(), &route, response.status().as_u16(), begun.elapsed());
    response
}

/// An answer has its time, but for those that take as long as a client listens.
async fn limit(request: Request, next: Next) -> Response {
    if is_listened_to(request.uri().path()) {
        return next.run(request).await;
    }
    let answer = tokio::time::timeout(ANSWER_LIMIT, next.run(request)).await;
    answer.unwrap_or_else(|_| StatusCode::GATEWAY_TIMEOUT.into_response())
}

/// What was begun is finished, also when the caller leaves or the limit passes: half an open or half a close
/// would leave an unknown browser.
async fn finish(State(context): State<Context>, request: Request, next: Next) -> Response {
    if is_listened_to(request.uri().path()) {
        return next.run(request).await;
    }
    let task = context.tasks.spawn(next.run(request).in_current_span());
    finished(task.await).unwrap_or_else(|stopping| {
        Refusal::new(ErrorCode::Internal, stopping.to_string()).into_response()
    })
}

fn panicked(_: Box<dyn Any + Send + 'static>) -> Response {
    tracing::error!("a request's handler panicked: this is a fault of Baton");
    Refusal::new(ErrorCode::Internal, "a fault inside the node; its log says more").into_response()
}

async fn no_route(request: Request) -> Refusal {
    let detail = format!("expected an address of the API, found {}", request.uri().path());
    Refusal::new(ErrorCode::RouteNotFound, detail)
}

async fn no_method(request: Request) -> Refusal {
    let detail = format!("{} has no method {}", request.uri().path(), request.method());
    Refusal::new(ErrorCode::MethodNotAllowed, detail)
}

/// The layer: what a known key was refused below `/sync/` is noted, when no operation has noted it.
///
/// An id that is none, parts that are not what they are said to be, a body that is too large: a caller that
/// sends such a thing to a node that others trust is to be found in its audit log.
async fn note_refusals(State(context): State<Context>, request: Request, next: Next) -> Response {
    if !request.uri().path().starts_with("/sync/") {
        return next.run(request).await;
    }
    let subject = format!("{} {}", request.method(), request.uri().path());
    let (response, unnoted) = watch(next.run(request)).await;
    if let Some((actor, owner)) = unnoted
        && let Some(Problem { code, .. }) = response.extensions().get()
        && is_noted(*code)
    {
        let note = Note::new(&actor, &owner, Action::Request, subject);
        note.refused(&context.store, *code).await;
    }
    response
}

/// Whether something is wrong with what was sent. That something is not there, is not so any more or is asked
/// too often says nothing of the caller, and would only fill the log.
fn is_noted(code: ErrorCode) -> bool {
    matches!(
        code,
        ErrorCode::Forbidden
            | ErrorCode::Untrusted
            | ErrorCode::RevisionRefused
            | ErrorCode::InvalidJson
            | ErrorCode::InvalidRequest
            | ErrorCode::UnsupportedMediaType
            | ErrorCode::BodyTooLarge
            | ErrorCode::StorageFull
            | ErrorCode::AddressNotAllowed
    )
}

/// An answer shorter than this is sent in one packet anyway.
const LEAST: u64 = 1024;

/// The layer for routes whose answers are lists that show no secret. A packer that looks further back takes megabytes
/// for each answer, and makes lists hardly smaller.
pub(super) fn answers() -> CompressionLayer<Plain> {
    CompressionLayer::new().quality(CompressionLevel::Fastest).compress_when(Plain)
}

/// The layer for routes that take long bodies: those may come as gzip or zstd. The bound of the route is
/// that of the body as it was before.
pub(super) fn bodies() -> (RequestDecompressionLayer, MapRequestLayer<AsBody>) {
    (RequestDecompressionLayer::new(), MapRequestLayer::new(as_body))
}

/// Makes a body that was unpacked one like all others.
type AsBody = fn(Request<DecompressionBody<Body>>) -> Request<Body>;

fn as_body(request: Request<DecompressionBody<Body>>) -> Request<Body> {
    request.map(Body::new)
}

/// The layer: a stream of events ends with the page that listens, when it is signed out.
async fn end_with_page(State(context): State<Context>, request: Request, next: Next) -> Response {
    let shown = page::PageHalves::of(request.headers());
    let response = next.run(request).await;
    let is_stream =
        response.headers().get(CONTENT_TYPE).is_some_and(|it| it == "text/event-stream");
    let Some(shown) = shown.filter(|_| is_stream) else { return response };
    match context.pages.find(&shown).await {
        Ok(Some(page)) => response.map(|body| {
            Body::from_stream(body.into_data_stream().take_until(Box::pin(page.end())))
        }),
        // It has ended since it was let in.
        Ok(None) => response.map(|_| Body::empty()),
        Err(error) => Refusal::from(NodeError::from(error)).into_response(),
    }
}

/// Answers in JSON; what is sealed is none.
#[derive(Debug, Clone, Copy)]
pub(super) struct Plain;

impl Predicate for Plain {
    fn should_compress<B: HttpBody>(&self, response: &Response<B>) -> bool {
        let is_json =
            response.headers().get(CONTENT_TYPE).is_some_and(|it| it == "application/json");
        is_json && response.body().size_hint().lower() >= LEAST
    }
}
