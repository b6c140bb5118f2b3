//! A person is asked, over HTTP: the side of the agent, which shows a key, and the side of the guest, who has none.
//!
//! The one idea: a guest is a type of its own, [`FromGuest`], that only the routes of an ask take. It stands for one ask
//! and for no key, so it opens nothing else, whatever it asks.

use super::answer::{Answer, answer};
use super::request::{Here, Json, Path, Query, shake_hands};
use crate::asking::{Ask, AskRefusal};
use crate::auth::{Drive, attempt, count, refuse};
use crate::context::Context;
use crate::error::NodeError;
use crate::guests;
use crate::ingress::{Peer, Refusal};
use crate::page::{PageHalves, PagePlace};
use crate::watching::{self, Sight, Watcher, serve};
use axum::Extension;
use axum::body::Body;
use axum::extract::{FromRequest, FromRequestParts, Request, State};
use axum::http::header::{CACHE_CONTROL, SET_COOKIE};
use axum::http::request::Parts;
use axum::http::{Response, StatusCode};
use axum::response::{AppendHeaders, IntoResponse};
use baton_api::{
    AskPerson, AskView, CreatedAsk, EndAsk, GuestView, LiveAccess, LookAtAsk, OpenedAsk, Problem,
    RedeemAsk, SessionFile, WaitForAsk,
};
use baton_runtime::RuntimeError;
use baton_runtime::audit::{Action, Note};
use jiff::Timestamp;
use secrecy::{ExposeSecret, SecretString};
use serde::Deserialize;
use std::sync::Arc;
use utoipa::IntoParams;

/// Asks a person to do something in a session. The answer has the link, this once, and says whether other machines
/// can open it, and who was told.
#[utoipa::path(
    post, path = "/sessions/{id}/ask", tag = "sessions", security(("api_key" = [])),
    params(("id" = String, Path)),
    responses((status = 201, body = CreatedAsk), (status = "4XX", body = Problem))
)]
pub(super) async fn ask(
    State(context): State<Context>,
    Drive(caller): Drive,
    Path(id): Path<String>,
    Extension(place): Extension<PagePlace>,
    here: Here,
    Json(request): Json<AskPerson>,
) -> Result<impl IntoResponse, Refusal> {
    let place = place.link(&here.http());
    let created = guests::ask(&context, &caller, &id, &request, place.as_ref()).await?;
    Ok((StatusCode::CREATED, [(CACHE_CONTROL, "no-store")], answer(created).await?))
}

/// What became of an ask, or, by the word `open` in the place of its id, of the one that is open. With `wait` the
/// answer comes once that is something else, or so many seconds later.
#[utoipa::path(
    get, path = "/sessions/{id}/ask/{ask}", tag = "sessions", security(("api_key" = [])),
    params(("id" = String, Path), ("ask" = String, Path), WaitForAsk),
    responses((status = 200, body = AskView), (status = "4XX", body = Problem))
)]
pub(super) async fn show(
    State(context): State<Context>,
    Drive(caller): Drive,
    Path((id, ask)): Path<(String, String)>,
    Query(how): Query<WaitForAsk>,
) -> Answer<AskView> {
    let ask = guests::find(&context, &caller, &id, &ask).await?;
    answer(guests::wait(&context, &ask, how).await).await
}

/// Takes an ask back, or, by the word `open` in the place of its id, the one that is open: its link opens nothing any
/// more, and who has opened it sees nothing more.
#[utoipa::path(
    delete, path = "/sessions/{id}/ask/{ask}", tag = "sessions", security(("api_key" = [])),
    params(("id" = String, Path), ("ask" = String, Path)),
    responses((status = 200, body = AskView), (status = "4XX", body = Problem))
)]
pub(super) async fn withdraw(
    State(context): State<Context>,
    Drive(caller): Drive,
    Path((id, ask)): Path<(String, String)>,
) -> Answer<AskView> {
    let ask = guests::find(&context, &caller, &id, &ask).await?;
    answer(guests::withdraw(&context, &ask).await).await
}

/// What a link is for: who asks for what. Uses nothing up, however often. Needs no key: the link is one.
#[utoipa::path(
    post, path = "/asked/look", tag = "asked", request_body = LookAtAsk,
    responses((status = 200, body = GuestView), (status = "4XX", body = Problem))
)]
pub(super) async fn look(
    State(context): State<Context>,
    request: Request,
) -> Result<impl IntoResponse, Refusal> {
    let (parts, LookAtAsk { secret }) = tried(&context, request).await?;
    let ask = guests::look(&context, &secret).await?;
    good(&context, &parts);
    // It counts as what a guest asks who has opened it.
    count(&context, &ask.id)?;
    Ok(([(CACHE_CONTROL, "no-store")], answer(ask.guest_view()).await?))
}

/// Opens what a link is for, once, in the browser that asks; or declines it. The answer has one half of what opens
/// it from then on, and a cookie the other. Needs no key: the link is one.
#[utoipa::path(
    post, path = "/asked/open", tag = "asked", request_body = RedeemAsk,
    responses((status = 200, body = OpenedAsk), (status = "4XX", body = Problem))
)]
pub(super) async fn redeem(
    State(context): State<Context>,
    here: Here,
    request: Request,
) -> Result<axum::response::Response, Refusal> {
    let here = here.http();
    let (parts, RedeemAsk { secret, name, decline }) = tried(&context, request).await?;
    let no_store = [(CACHE_CONTROL, "no-store")];
    if decline {
        let view = guests::decline(&context, &secret).await?;
        good(&context, &parts);
        return Ok((no_store, answer(OpenedAsk { value: None, view }).await?).into_response());
    }
    // Where the page has no name of its own, other programs of the host would get its cookie.
    if !PagePlace::is_at(&here) {
        return Err(NodeError::from(AskRefusal::NoName).into());
    }
    let redeemed = guests::redeem(&context, &secret, name.as_deref()).await?;
    good(&context, &parts);
    let (ask, guest) = (redeemed.ask, redeemed.guest);
    let left = ask.expires_at().duration_since(Timestamp::now());
    let cookie = guest.cookie(left, here.scheme() == "https");
    let value = Some(guest.value.expose_secret().to_owned());
    let opened = OpenedAsk { value, view: ask.guest_view() };
    let headers = AppendHeaders([(SET_COOKIE, cookie)]);
    Ok((no_store, headers, answer(opened).await?).into_response())
}

/// Reads the body of a caller who shows nothing but a link; every try is counted before it is looked at.
async fn tried<T: serde::de::DeserializeOwned + Send + 'static>(
    context: &Context,
    request: Request,
) -> Result<(Parts, T), Refusal> {
    let (parts, body) = request.into_parts();
    attempt(&parts, context)?;
    let Json(read) = Json::from_request(Request::from_parts(parts.clone(), body), context).await?;
    Ok((parts, read))
}

/// A try that was good is none.
fn good(context: &Context, parts: &Parts) {
    if let Some(Peer(address)) = parts.extensions.get() {
        context.rates.refund(*address);
    }
}

/// A guest: who has opened an ask in this browser. It stands for that ask alone.
pub(super) struct FromGuest(Arc<Ask>);

impl FromRequestParts<Context> for FromGuest {
    type Rejection = Refusal;

    async fn from_request_parts(parts: &mut Parts, context: &Context) -> Result<Self, Refusal> {
        let shown = PageHalves::of_guest(&parts.headers);
        let none =
            AskRefusal::NoGuest { found: "a request without its cookie, or without its value" };
        let found = shown.ok_or(none).and_then(|shown| context.asks.by_guest(&shown));
        let ask = found.map_err(|error| refuse(parts, context, error.into()))?;
        // Requests of a guest count beside those of who asked.
        count(context, &ask.id)?;
        Ok(Self(ask))
    }
}

impl FromGuest {
    /// The ask while it lasts.
    fn living(self) -> Result<Arc<Ask>, NodeError> {
        if self.0.is_ending() {
            return Err(AskRefusal::NoGuest { found: "one that has ended" }.into());
        }
        Ok(self.0)
    }
}

/// Where a guest's ask stands.
#[utoipa::path(
    get, path = "/asked", tag = "asked",
    responses((status = 200, body = GuestView), (status = "4XX", body = Problem))
)]
pub(super) async fn stand(FromGuest(ask): FromGuest) -> Answer<GuestView> {
    answer(ask.guest_view()).await
}

/// A guest is done, or cannot do it: the session is given back, and what they saw is dark.
#[utoipa::path(
    post, path = "/asked/end", tag = "asked", request_body = EndAsk,
    responses((status = 200, body = GuestView), (status = "4XX", body = Problem))
)]
pub(super) async fn end(
    State(context): State<Context>,
    guest: FromGuest,
    Json(EndAsk { done }): Json<EndAsk>,
) -> Answer<GuestView> {
    let ask = guest.living()?;
    answer(guests::end(&context, &ask, done).await?).await
}

/// Puts a file of a guest among those of the session, where files were asked for.
#[utoipa::path(
    put, path = "/asked/files/{name}", tag = "asked",
    params(("name" = String, Path)),
    request_body(content = Vec<u8>, content_type = "application/octet-stream"),
    responses((status = 200, body = SessionFile), (status = "4XX", body = Problem))
)]
pub(super) async fn put_file(
    State(context): State<Context>,
    guest: FromGuest,
    Path(name): Path<String>,
    body: Body,
) -> Answer<SessionFile> {
    let ask = guest.living()?;
    let bytes = body.into_data_stream();
    answer(guests::put_file(&context, &ask, &name, bytes).await?).await
}

/// An address that shows a guest the one tab, once, within a minute.
#[utoipa::path(
    post, path = "/asked/live", tag = "asked",
    responses((status = 200, body = LiveAccess), (status = "4XX", body = Problem))
)]
pub(super) async fn open_live(
    State(context): State<Context>,
    guest: FromGuest,
    here: Here,
) -> Result<impl IntoResponse, Refusal> {
    let ask = guest.living()?;
    // The page is told here: a WebSocket that is refused does not say why. One that they open beside another takes the
    // place of that.
    if !ask.is_shown() {
        watching::expect_room(&context, &ask.session)?;
    }
    let (session, caller) = (ask.session.id, ask.caller.clone());
    let (ticket, limit) = context.guest_tickets.issue_with(session, &caller, false, ask)?;
    let mut live_url = here.asked();
    let node = context.node.mark().to_string();
    let ticket = ticket.expose_secret();
    live_url.query_pairs_mut().append_pair("node", &node).append_pair("ticket", ticket);
    let expires_at = Timestamp::now() + limit;
    Ok(([(CACHE_CONTROL, "no-store")], answer(LiveAccess { live_url, expires_at }).await?))
}

/// The ticket in the address.
#[derive(Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(super) struct GuestTicketed {
    /// What `POST` to the same address answered.
    #[serde(default)]
    ticket: String,
    /// The mark of the node that answered it.
    #[serde(default, rename = "node")]
    _node: String,
}

/// The one tab live, over WebSocket, as `/sessions/{id}/live` shows a session: one tab, without addresses, as long
/// as it is at a site that was asked for. Who connects drives.
#[utoipa::path(
    get, path = "/asked/live", tag = "asked", params(GuestTicketed),
    responses((status = 101), (status = "4XX", body = Problem))
)]
pub(super) async fn connect(
    State(context): State<Context>,
    Query(GuestTicketed { ticket, .. }): Query<GuestTicketed>,
    request: Request,
) -> Result<Response<Body>, Refusal> {
    let (mut parts, _) = request.into_parts();
    let ticket = SecretString::from(ticket);
    context.guest_tickets.check(&ticket).map_err(|error| refuse(&parts, &context, error.into()))?;
    // What is no handshake uses no ticket up.
    let (upgrade, answer) = shake_hands(&mut parts)?;
    let (_, caller, ask) = context.guest_tickets.redeem(&ticket)?;
    if context.is_shut_out(&caller).await? {
        return Err(RuntimeError::BadTicket { found: "one whose key was revoked" }.into());
    }
    // A page that they open beside another one takes the place of that.
    if !ask.is_shown() {
        watching::expect_room(&context, &ask.session)?;
    }
    let found = "one that has ended";
    let guest = watching::Guest::of(&ask).ok_or(NodeError::from(AskRefusal::NoGuest { found }))?;
    let session = context.find(&caller.owner, &ask.session.id.to_string()).await?;
    let note = Note::new(&caller.actor, &caller.owner, Action::Watch, session.id.to_string());
    let note = note.with("name", session.name.to_string()).with("ask", ask.id.clone());
    note.done(&context.store).await.map_err(NodeError::from)?;
    let watcher = Watcher { caller, session, page: None, sight: Sight::Guest(guest) };
    context.tasks.spawn(serve(context.clone(), watcher, upgrade));
    Ok(answer)
}
