//! The door of other tools to a session's browser: the Chrome `DevTools` Protocol over WebSocket.
//!
//! A client that sends headers comes with a key, as often as it likes, at an address that stays. Others come
//! with a ticket in the address.

use super::answer::answer;
use super::request::{Here, Json, Path, Query, shake_hands};
use crate::auth::{Drive, admit, refuse};
use crate::context::Context;
use crate::ingress::Refusal;
use axum::body::Body;
use axum::extract::{FromRequestParts, Request, State};
use axum::http::Response;
use axum::http::header::CACHE_CONTROL;
use axum::http::request::Parts;
use axum::response::IntoResponse;
use baton_api::{CdpAccess, OpenCdp, Problem};
use baton_browser::cdp::Transport;
use baton_browser::keeper::{self, NoMore, Turn};
use baton_runtime::life::{self, Drives};
use baton_runtime::{Caller, RuntimeError, sessions};
use baton_session::Session;
use hyper::upgrade::OnUpgrade;
use hyper_util::rt::TokioIo;
use jiff::Timestamp;
use secrecy::{ExposeSecret, SecretString};
use serde::Deserialize;
use std::time::Duration;
use tokio::sync::watch;
use tokio::time::timeout;
use utoipa::IntoParams;

/// How often a connection looks whether its key was revoked, or another node passed the session on.
const LOOK_PAUSE: Duration = Duration::from_secs(5);
/// The same where nodes are one: a key is revoked at any of them, of which no event here tells.
const CLUSTER_LOOK_PAUSE: Duration = Duration::from_millis(500);

/// An address that opens the session's browser by itself, for tools that send no headers.
#[utoipa::path(
    post, path = "/sessions/{id}/cdp", tag = "sessions", security(("api_key" = [])),
    params(("id" = String, Path)),
    responses((status = 200, body = CdpAccess), (status = "4XX", body = Problem))
)]
pub(super) async fn open(
    State(context): State<Context>,
    Drive(caller): Drive,
    Path(id): Path<String>,
    here: Here,
    Json(OpenCdp { reusable }): Json<OpenCdp>,
) -> Result<impl IntoResponse, Refusal> {
    let session = sessions::active(&context, &caller.owner, &id).await?;
    sessions::enter(&context, &caller, &session).await?;
    let (ticket, limit) = context.tickets.issue(session.id, &caller, reusable)?;
    let mut cdp_url = here.cdp(session.id);
    cdp_url.query_pairs_mut().append_pair("ticket", ticket.expose_secret());
    let expires_at = Timestamp::now() + limit;
    Ok(([(CACHE_CONTROL, "no-store")], answer(CdpAccess { cdp_url, expires_at }).await?))
}

/// A ticket, if the address bears one.
#[derive(Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(super) struct Ticketed {
    /// What `POST` to the same address answered; stands for a key.
    ticket: Option<String>,
}

/// The session's browser over WebSocket: the Chrome DevTools Protocol, for one client beside others.
#[utoipa::path(
    get, path = "/sessions/{id}/cdp", tag = "sessions", security(("api_key" = []), ()),
    params(("id" = String, Path), Ticketed),
    responses((status = 101), (status = "4XX", body = Problem))
)]
pub(super) async fn connect(
    State(context): State<Context>,
    Path(id): Path<String>,
    Query(Ticketed { ticket }): Query<Ticketed>,
    request: Request,
) -> Result<Response<Body>, Refusal> {
    let ticket = ticket.map(SecretString::from);
    let (mut parts, _) = request.into_parts();
    let caller = find_caller(&context, &id, ticket.as_ref(), &mut parts).await?;
    let session = sessions::active(&context, &caller.owner, &id).await?;
    let (upgrade, answer) = shake_hands(&mut parts)?;
    let keeper = sessions::connect(&context, &caller, &id, ticket.as_ref()).await?;
    context.tasks.spawn(pass(context.clone(), caller, session, upgrade, keeper));
    Ok(answer)
}

/// Who comes: by a ticket for this session, or by a key.
async fn find_caller(
    context: &Context,
    id: &str,
    ticket: Option<&SecretString>,
    parts: &mut Parts,
) -> Result<Caller, Refusal> {
    let Some(ticket) = ticket else {
        return Ok(Drive::from_request_parts(parts, context).await?.0);
    };
    let checked = match context.tickets.check(ticket) {
        Ok((session, caller)) if session.to_string() == id => Ok(caller),
        Ok(_) => Err(RuntimeError::BadTicket { found: "one for another session" }),
        Err(error) => Err(error),
    };
    let caller = checked.map_err(|error| refuse(parts, context, error.into()))?;
    admit(parts, context, &caller).await?;
    Ok(caller)
}

/// Passes messages until the client leaves, the browser or the node ends, the key is revoked, or
/// another agent drives the session. While a person drives it, the client may only look.
async fn pass(
    context: Context,
    caller: Caller,
    session: Session,
    upgrade: OnUpgrade,
    keeper: Transport,
) {
    // A node whose browsers are in use is of use.
    let _in_use = context.activity.start_request();
    let _counted = crate::metrics::cdp_client();
    let _client = context.supervisor.table().enter(session.id, caller.agent.clone());
    match upgrade.await {
        Ok(stream) => {
            let (turn, turns) = watch::channel(Turn::Own);
            let no_more = no_more(&context, &caller, &session, &turn);
            keeper::relay(TokioIo::new(stream), keeper, no_more, turns).await;
        }
        Err(error) => tracing::debug!(%error, "a client left before it had its WebSocket"),
    }
}

/// Ends with why the caller may not stay.
async fn no_more(
    context: &Context,
    caller: &Caller,
    session: &Session,
    turn: &watch::Sender<Turn>,
) -> NoMore {
    tokio::select! {
        () = context.ending.cancelled() => NoMore::Ending,
        why = unwelcome(context, caller, session, turn) => why,
    }
}

/// Ends once the caller's key is revoked, another agent drives the session or it moves to another node, and says
/// whether a person drives it: at once when that happens at this node. A database that does not answer changes
/// nothing.
async fn unwelcome(
    context: &Context,
    caller: &Caller,
    session: &Session,
    turn: &watch::Sender<Turn>,
) -> NoMore {
    let mut passed = context.supervisor.table().passes();
    let mut revoked = context.revoked.subscribe();
    let pause = context.cluster.as_ref().map_or(LOOK_PAUSE, |_| CLUSTER_LOOK_PAUSE);
    loop {
        if context.supervisor.table().is_moving(session.id) {
            return NoMore::Moved;
        }
        match life::drives(context, caller, session).await {
            Some(Drives::Client) => {
                turn.send_replace(Turn::Own);
            }
            Some(Drives::Person(name)) => {
                turn.send_replace(Turn::Of(name.as_str().into()));
            }
            Some(Drives::Other) => return NoMore::Unwelcome,
            None => {}
        }
        if context.is_shut_out(caller).await.unwrap_or(false) {
            return NoMore::Unwelcome;
        }
        let changed = async {
            tokio::select! {
                _ = passed.changed() => {}
                _ = revoked.changed() => {}
            }
        };
        let _ = timeout(pause, changed).await;
    }
}
