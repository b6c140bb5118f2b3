//! The door of people to a session's browser: live pictures, and their hands, over WebSocket.
//!
//! A page asks for a ticket with what it is signed in by, and connects with that: the WebSocket of a browser
//! sends no headers. What it shows ends with the page. A program comes with a key.

use super::answer::answer;
use super::request::{Here, Path, Query, shake_hands};
use crate::auth::{Watch, admit, refuse};
use crate::cluster::Passed;
use crate::context::Context;
use crate::error::NodeError;
use crate::ingress::Refusal;
use crate::page::LivePage;
use crate::watching::{Sight, Watcher, expect_room, serve};
use axum::Extension;
use axum::body::Body;
use axum::extract::{FromRequestParts, Request, State};
use axum::http::header::CACHE_CONTROL;
use axum::http::request::Parts;
use axum::http::{HeaderMap, Response};
use axum::response::IntoResponse;
use baton_api::{LiveAccess, Problem};
use baton_runtime::audit::{Action, Note};
use baton_runtime::{Caller, RuntimeError};
use jiff::Timestamp;
use secrecy::{ExposeSecret, SecretString};
use serde::Deserialize;
use utoipa::IntoParams;

/// An address that shows a session live, once, within a minute; for pages, which send no headers there.
#[utoipa::path(
    post, path = "/sessions/{id}/live", tag = "sessions", security(("api_key" = [])),
    params(("id" = String, Path)),
    responses((status = 200, body = LiveAccess), (status = "4XX", body = Problem))
)]
pub(super) async fn open(
    State(context): State<Context>,
    Watch(caller): Watch,
    Path(id): Path<String>,
    passed: Option<Extension<Passed>>,
    headers: HeaderMap,
    here: Here,
) -> Result<impl IntoResponse, Refusal> {
    let session = context.find(&caller.owner, &id).await?;
    expect_room(&context, &session)?;
    let page = context.page(&headers, passed.as_deref()).await?;
    let (ticket, limit) = context.live_tickets.issue_with(session.id, &caller, false, page)?;
    let mut live_url = here.live(session.id);
    live_url.query_pairs_mut().append_pair("ticket", ticket.expose_secret());
    let expires_at = Timestamp::now() + limit;
    Ok(([(CACHE_CONTROL, "no-store")], answer(LiveAccess { live_url, expires_at }).await?))
}

/// A ticket, if the address bears one.
#[derive(Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(super) struct LiveTicketed {
    /// What `POST` to the same address answered; stands for a key.
    ticket: Option<String>,
}

/// A session live, over WebSocket: pictures as binary messages, all else as `LiveMessage` and `ViewerMessage`.
/// It waits for a browser where there is none.
#[utoipa::path(
    get, path = "/sessions/{id}/live", tag = "sessions", security(("api_key" = []), ()),
    params(("id" = String, Path), LiveTicketed),
    responses((status = 101), (status = "4XX", body = Problem))
)]
pub(super) async fn connect(
    State(context): State<Context>,
    Path(id): Path<String>,
    Query(LiveTicketed { ticket }): Query<LiveTicketed>,
    request: Request,
) -> Result<Response<Body>, Refusal> {
    let (mut parts, _) = request.into_parts();
    let (upgrade, answer, caller, page) = if let Some(ticket) = ticket.map(SecretString::from) {
        // What is no handshake uses no ticket up.
        let (upgrade, answer) = shake_hands(&mut parts)?;
        let (caller, page) = redeem(&context, &id, &ticket, &parts).await?;
        (upgrade, answer, caller, page)
    } else {
        let Watch(caller) = Watch::from_request_parts(&mut parts, &context).await?;
        context.find(&caller.owner, &id).await?;
        let (upgrade, answer) = shake_hands(&mut parts)?;
        (upgrade, answer, caller, None)
    };
    let session = context.find(&caller.owner, &id).await?;
    // Who finds no room has seen nothing, and is in no log.
    expect_room(&context, &session)?;
    let note = Note::new(&caller.actor, &caller.owner, Action::Watch, session.id.to_string());
    let note = note.with("name", session.name.to_string());
    note.done(&context.store).await.map_err(NodeError::from)?;
    let watcher = Watcher { caller, session, page, sight: Sight::Whole };
    context.tasks.spawn(serve(context.clone(), watcher, upgrade));
    Ok(answer)
}

/// Whose ticket it is, and which page shows what it opens.
async fn redeem(
    context: &Context,
    id: &str,
    ticket: &SecretString,
    parts: &Parts,
) -> Result<(Caller, Option<LivePage>), Refusal> {
    let redeemed = match context.live_tickets.redeem(ticket) {
        Ok((session, caller, page)) if session.to_string() == id => Ok((caller, page)),
        Ok(_) => Err(RuntimeError::BadTicket { found: "one for another session" }),
        Err(error) => Err(error),
    };
    let (caller, page) = redeemed.map_err(|error| refuse(parts, context, error.into()))?;
    admit(parts, context, &caller).await?;
    Ok((caller, page))
}
