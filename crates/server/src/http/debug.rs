//! Looking in over HTTP: what tabs do, how people's browsers come to tell of them, and the upstream
//! services behind the node's proxy.

use super::answer::{Answer, answer};
use super::request::{Here, Json, Path, Query};
use super::system::OfOwner;
use crate::auth::{Admin, Browser, Debug, attempt};
use crate::cluster::{Origin, Passed};
use crate::context::Context;
use crate::everywhere;
use crate::ingress::{Peer, Refusal};
use crate::looking;
use axum::Extension;
use axum::extract::{FromRequest, Request, State};
use axum::http::StatusCode;
use axum::http::header::CACHE_CONTROL;
use axum::response::IntoResponse;
use baton_api::debug::{
    BrowserConnection, ConnectBrowser, ConsoleData, ConsoleFilters, DebugTabs, ExchangePairing,
    NetworkData, NetworkFilters, PairedBrowser, PairingCode, Reveal, TabToken, Wait,
};
use baton_api::upstream::{PutUpstream, UpstreamId, UpstreamList, UpstreamTicket, UpstreamView};
use baton_api::{Invalid, Problem};
use baton_debug::relay::Sight;
use baton_proxy::upstreams;
use jiff::Timestamp;
use secrecy::ExposeSecret;
use serde::Serialize;
use std::time::Duration;

/// The tabs that can be looked into: of the caller's sessions that are recorded, and of its cocoons; in a cluster those
/// of all nodes.
#[utoipa::path(
    get, path = "/debug/tabs", tag = "debug", security(("api_key" = [])),
    responses((status = 200, body = DebugTabs), (status = "4XX", body = Problem))
)]
pub(super) async fn list_tabs(
    State(context): State<Context>,
    Debug(caller): Debug,
    passed: Option<Extension<Passed>>,
    origin: Origin,
) -> Answer<DebugTabs> {
    // Who asks another node collects what all have.
    let origin = Some(origin).filter(|_| passed.is_none());
    answer(everywhere::tabs(&context, &caller, origin.as_ref()).await?).await
}

/// The requests of a tab that fit the filters, the newest last. Secrets are hidden unless revealed.
#[utoipa::path(
    post, path = "/debug/tabs/{token}/network", tag = "debug", security(("api_key" = [])),
    params(("token" = String, Path), Wait), request_body = NetworkFilters,
    responses((status = 200, body = NetworkData), (status = "4XX", body = Problem))
)]
pub(super) async fn network(
    State(context): State<Context>,
    Debug(caller): Debug,
    Path(token): Path<String>,
    Query(how): Query<Wait>,
    Json(filters): Json<NetworkFilters>,
) -> Answer<NetworkData> {
    let token = read(&token)?;
    let found =
        looking::network(&context, &caller, &token, sight(how.reveal), &filters, length(&how))
            .await?;
    let mut data = found.into_data(String::new(), filters.bodies || filters.id.is_some());
    if filters.after.is_none() {
        data.hosts = looking::hosts(&context, &caller, &token).await;
        data.not_reached = looking::not_reached(&data.hosts);
    }
    answer(data).await
}

/// The lines of a tab's console that fit the filters, the newest last. Secrets are hidden unless revealed.
#[utoipa::path(
    post, path = "/debug/tabs/{token}/console", tag = "debug", security(("api_key" = [])),
    params(("token" = String, Path), Wait), request_body = ConsoleFilters,
    responses((status = 200, body = ConsoleData), (status = "4XX", body = Problem))
)]
pub(super) async fn console(
    State(context): State<Context>,
    Debug(caller): Debug,
    Path(token): Path<String>,
    Query(how): Query<Wait>,
    Json(filters): Json<ConsoleFilters>,
) -> Answer<ConsoleData> {
    let token = read(&token)?;
    let found =
        looking::console(&context, &caller, &token, sight(how.reveal), &filters, length(&how))
            .await?;
    answer(found.into_data(String::new())).await
}

/// What is kept of a tab as an HTTP Archive (HAR 1.2). Secrets are hidden unless revealed.
#[utoipa::path(
    get, path = "/debug/tabs/{token}/har", tag = "debug", security(("api_key" = [])),
    params(("token" = String, Path), Reveal),
    responses(
        (status = 200, description = "An HTTP Archive, version 1.2", body = Object),
        (status = "4XX", body = Problem)
    )
)]
pub(super) async fn har(
    State(context): State<Context>,
    Debug(caller): Debug,
    Path(token): Path<String>,
    Query(Reveal { reveal }): Query<Reveal>,
) -> Answer<impl Serialize> {
    answer(looking::har(&context, &caller, &read(&token)?, sight(reveal)).await?).await
}

fn read(token: &str) -> Result<TabToken, Invalid> {
    token.parse().map_err(|_| Invalid {
        field: "the token",
        expected: "the token of a tab, as lists of tabs show it",
        found: "another text".to_owned(),
    })
}

fn sight(reveal: bool) -> Sight {
    if reveal { Sight::Revealed } else { Sight::Hidden }
}

fn length(wait: &Wait) -> Duration {
    Duration::from_secs(wait.wait.unwrap_or(0).into())
}

/// A code with which the caller pairs a browser: it is typed into the extension within five minutes.
#[utoipa::path(
    post, path = "/debug/pair", tag = "debug", security(("api_key" = [])),
    responses((status = 200, body = PairingCode), (status = "4XX", body = Problem))
)]
pub(super) async fn pair(
    State(context): State<Context>,
    Debug(caller): Debug,
    here: Here,
) -> Result<impl IntoResponse, Refusal> {
    let (code, limit) = looking::pair(&context, &caller)?;
    let expires_at = Timestamp::now() + limit;
    let paired = PairingCode { code, address: here.http(), expires_at };
    Ok(([(CACHE_CONTROL, "no-store")], answer(paired).await?))
}

/// The key of a browser, for a code that counts. Needs no key: the code is one.
#[utoipa::path(
    post, path = "/debug/pair/exchange", tag = "debug", request_body = ExchangePairing,
    responses((status = 200, body = PairedBrowser), (status = "4XX", body = Problem))
)]
pub(super) async fn exchange(
    State(context): State<Context>,
    here: Here,
    request: Request,
) -> Result<impl IntoResponse, Refusal> {
    let (parts, body) = request.into_parts();
    // Every try is counted before it is looked at: a guesser cannot try all codes.
    attempt(&parts, &context)?;
    let request = Request::from_parts(parts.clone(), body);
    let Json(ExchangePairing { code, browser_id }) = Json::from_request(request, &context).await?;
    let key = looking::exchange(&context, &code, &browser_id).await?;
    if let Some(Peer(address)) = parts.extensions.get() {
        context.rates.refund(*address);
    }
    let key = key.expose_secret().to_owned();
    let paired = PairedBrowser { key, signaling_url: here.signaling() };
    Ok(([(CACHE_CONTROL, "no-store")], answer(paired).await?))
}

/// A ticket for one connection of the caller's browser, and which pages it watches.
#[utoipa::path(
    post, path = "/debug/connect", tag = "debug", security(("api_key" = [])),
    request_body = ConnectBrowser,
    responses((status = 200, body = BrowserConnection), (status = "4XX", body = Problem))
)]
pub(super) async fn connect(
    State(context): State<Context>,
    Browser(caller): Browser,
    here: Here,
    Json(ConnectBrowser { browser_id }): Json<ConnectBrowser>,
) -> Result<impl IntoResponse, Refusal> {
    let ticket = looking::connect(&context, &caller, &browser_id)?;
    let connection = BrowserConnection {
        ticket: ticket.expose_secret().to_owned(),
        signaling_url: here.signaling(),
        response_body_max_size: looking::largest_body(&context, &caller),
        cocoons: looking::watched(&context, &caller),
        redact: looking::own_names(&context),
    };
    Ok(([(CACHE_CONTROL, "no-store")], answer(connection).await?))
}

/// The caller's cocoons, and where their pages are.
#[utoipa::path(
    get, path = "/cocoons", tag = "cocoons", security(("api_key" = [])),
    responses((status = 200, body = UpstreamList), (status = "4XX", body = Problem))
)]
pub(super) async fn list(
    State(context): State<Context>,
    Debug(caller): Debug,
) -> Answer<UpstreamList> {
    answer(upstreams::list(&context.front, &caller)).await
}

/// Names a service that the proxy stands in front of from now on, or says something else of it.
#[utoipa::path(
    put, path = "/cocoons/{id}", tag = "cocoons", security(("api_key" = [])),
    params(("id" = String, Path)), request_body = PutUpstream,
    responses((status = 200, body = UpstreamView), (status = "4XX", body = Problem))
)]
pub(super) async fn put(
    State(context): State<Context>,
    Admin(caller): Admin,
    Path(id): Path<UpstreamId>,
    Json(request): Json<PutUpstream>,
) -> Answer<UpstreamView> {
    answer(upstreams::put(&context.front, &caller, id, request).await?).await
}

/// Takes a service from behind the proxy.
#[utoipa::path(
    delete, path = "/cocoons/{id}", tag = "cocoons", security(("api_key" = [])),
    params(("id" = String, Path), OfOwner),
    responses((status = 204), (status = "4XX", body = Problem))
)]
pub(super) async fn remove(
    State(context): State<Context>,
    Admin(caller): Admin,
    Path(id): Path<UpstreamId>,
    Query(OfOwner { owner }): Query<OfOwner>,
) -> Result<StatusCode, Refusal> {
    upstreams::remove(&context.front, &caller, owner, &id).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// An address that opens a cocoon in a browser, once, within a minute: browsers bear no key.
#[utoipa::path(
    post, path = "/cocoons/{id}/ticket", tag = "cocoons", security(("api_key" = [])),
    params(("id" = String, Path)),
    responses((status = 200, body = UpstreamTicket), (status = "4XX", body = Problem))
)]
pub(super) async fn enter(
    State(context): State<Context>,
    Debug(caller): Debug,
    Path(id): Path<UpstreamId>,
) -> Result<impl IntoResponse, Refusal> {
    let ticket = upstreams::enter(&context.front, &caller, &id)?;
    Ok(([(CACHE_CONTROL, "no-store")], answer(ticket).await?))
}
