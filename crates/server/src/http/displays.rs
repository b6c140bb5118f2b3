//! The door to the display of a sandbox: RFB over WebSocket, for the page.
//!
//! As to a session's live picture, a page asks for a ticket with what it is signed in by, and connects with that: what
//! it shows ends with the page. A program comes with a key.

use super::answer::answer;
use super::request::{Here, Path, Query, shake_hands};
use crate::auth::{Sandbox, admit, refuse};
use crate::cluster::Passed;
use crate::context::Context;
use crate::displaying::{Display, serve};
use crate::ingress::Refusal;
use crate::page::LivePage;
use axum::Extension;
use axum::body::Body;
use axum::extract::{FromRequestParts, Request, State};
use axum::http::header::CACHE_CONTROL;
use axum::http::request::Parts;
use axum::http::{HeaderMap, Response};
use axum::response::IntoResponse;
use baton_agents::sandboxes;
use baton_api::Problem;
use baton_api::sandbox::DisplayAccess;
use baton_runtime::{Caller, RuntimeError};
use jiff::Timestamp;
use secrecy::{ExposeSecret, SecretString};
use serde::Deserialize;
use utoipa::IntoParams;

/// An address that shows the display of a sandbox, once, within a minute; for pages, which send no headers there.
#[utoipa::path(
    post, path = "/api/sandboxes/{id}/display", tag = "sandboxes", security(("api_key" = [])),
    params(("id" = String, Path)),
    responses((status = 200, body = DisplayAccess), (status = "4XX", body = Problem))
)]
pub(super) async fn open(
    State(context): State<Context>,
    Sandbox(caller): Sandbox,
    Path(id): Path<String>,
    passed: Option<Extension<Passed>>,
    headers: HeaderMap,
    here: Here,
) -> Result<impl IntoResponse, Refusal> {
    let sandbox = sandboxes::find_display(&context.agents, &caller, &id)?;
    let page = context.page(&headers, passed.as_deref()).await?;
    let (ticket, limit) = context.display_tickets.issue_with(sandbox, &caller, false, page)?;
    let mut display_url = here.display(sandbox);
    display_url.query_pairs_mut().append_pair("ticket", ticket.expose_secret());
    let expires_at = Timestamp::now() + limit;
    Ok(([(CACHE_CONTROL, "no-store")], answer(DisplayAccess { display_url, expires_at }).await?))
}

/// A ticket, if the address bears one.
#[derive(Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(super) struct DisplayTicketed {
    /// What `POST` to the same address answered; stands for a key.
    ticket: Option<String>,
}

/// The display of a sandbox, over WebSocket: binary messages, which make a stream of RFB 3.8 together. The viewer is
/// asked for no password.
#[utoipa::path(
    get, path = "/api/sandboxes/{id}/display", tag = "sandboxes", security(("api_key" = []), ()),
    params(("id" = String, Path), DisplayTicketed),
    responses((status = 101), (status = "4XX", body = Problem))
)]
pub(super) async fn connect(
    State(context): State<Context>,
    Path(id): Path<String>,
    Query(DisplayTicketed { ticket }): Query<DisplayTicketed>,
    request: Request,
) -> Result<Response<Body>, Refusal> {
    let (mut parts, _) = request.into_parts();
    let (upgrade, answer, caller, page) = if let Some(ticket) = ticket.map(SecretString::from) {
        // What is no handshake uses no ticket up.
        let (upgrade, answer) = shake_hands(&mut parts)?;
        let (caller, page) = redeem(&context, &id, &ticket, &parts).await?;
        (upgrade, answer, caller, page)
    } else {
        let Sandbox(caller) = Sandbox::from_request_parts(&mut parts, &context).await?;
        sandboxes::find_display(&context.agents, &caller, &id)?;
        let (upgrade, answer) = shake_hands(&mut parts)?;
        (upgrade, answer, caller, None)
    };
    let view = Box::pin(sandboxes::open_display(&context.agents, &caller, &id)).await?;
    let display = Display { caller, page, view };
    context.tasks.spawn(serve(context.clone(), display, upgrade));
    Ok(answer)
}

/// Whose ticket it is, and which page shows what it opens.
async fn redeem(
    context: &Context,
    id: &str,
    ticket: &SecretString,
    parts: &Parts,
) -> Result<(Caller, Option<LivePage>), Refusal> {
    let redeemed = match context.display_tickets.redeem(ticket) {
        Ok((sandbox, caller, page)) if sandbox.to_string() == id => Ok((caller, page)),
        Ok(_) => Err(RuntimeError::BadTicket { found: "one for another sandbox" }),
        Err(error) => Err(error),
    };
    let (caller, page) = redeemed.map_err(|error| refuse(parts, context, error.into()))?;
    admit(parts, context, &caller).await?;
    Ok((caller, page))
}
