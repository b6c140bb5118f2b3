//! People's browsers come to tell of their tabs, over HTTP.

use super::here::Here;
use super::input::Json;
use crate::auth::{Browser, Debug, attempt};
use crate::context::Context;
use crate::door::Peer;
use crate::door::Refusal;
use crate::looking;
use axum::extract::{FromRequest, Request, State};
use axum::http::header::CACHE_CONTROL;
use axum::response::IntoResponse;
use baton_api::Problem;
use baton_api::debug::{
    BrowserConnection, ConnectBrowser, ExchangePairing, PairedBrowser, PairingCode,
};
use jiff::Timestamp;
use secrecy::ExposeSecret;

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
    Ok(([(CACHE_CONTROL, "no-store")], axum::Json(paired)))
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
    // Every try is counted before it is looked at: nobody tries all codes.
    attempt(&parts, &context)?;
    let request = Request::from_parts(parts.clone(), body);
    let Json(ExchangePairing { code, browser_id }) = Json::from_request(request, &context).await?;
    let key = looking::exchange(&context, &code, &browser_id).await?;
    if let Some(Peer(address)) = parts.extensions.get() {
        context.rates.give_back(*address);
    }
    let key = key.expose_secret().to_owned();
    let paired = PairedBrowser { key, signaling_url: here.signaling() };
    Ok(([(CACHE_CONTROL, "no-store")], axum::Json(paired)))
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
    };
    Ok(([(CACHE_CONTROL, "no-store")], axum::Json(connection)))
}
