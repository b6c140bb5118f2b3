//! The page over HTTP: its files, and signing in to it and out of it.

use super::answer::{Answer, answer};
use super::request::{Here, Json};
use crate::auth::{Known, attempt, count};
use crate::context::Context;
use crate::error::NodeError;
use crate::ingress::{Peer, Refusal};
use crate::newcomers;
use crate::page::{
    PageCode, PageFile, PageHalves, PageKey, PagePlace, RedeemedCode, file, no_cookie, security,
};
use axum::extract::{FromRequest, Path, Request, State};
use axum::http::header::{
    ACCEPT_ENCODING, CACHE_CONTROL, CONTENT_ENCODING, CONTENT_TYPE, SET_COOKIE, VARY,
};
use axum::http::request::Parts;
use axum::http::{HeaderMap, StatusCode};
use axum::response::{AppendHeaders, IntoResponse, Redirect, Response};
use axum::{Extension, Router, routing};
use baton_api::{ErrorCode, PAGE_HEADER, PageSession, PageSignIn, PageTicket, PageView, Problem};
use baton_runtime::Actor;
use baton_runtime::audit::{Action, Note};
use baton_runtime::keys::key_of;
use baton_store::{ApiKey, FoundKey};
use jiff::Timestamp;
use secrecy::ExposeSecret;

/// The addresses of its files, which are no part of the API.
pub(super) fn files() -> Router<Context> {
    Router::new().route("/", routing::get(index)).route("/page/{file}", routing::get(asset))
}

/// The page, under its own name: at another one it leads there.
async fn index(Extension(place): Extension<PagePlace>, here: Here, headers: HeaderMap) -> Response {
    let here = here.http();
    if PagePlace::is_at(&here) {
        let page = file("").map(|page| serve(page, &headers));
        return page.unwrap_or_else(|| StatusCode::NOT_FOUND.into_response());
    }
    match place.address(&here) {
        Some(address) => Redirect::temporary(address.as_str()).into_response(),
        None => no_name().into_response(),
    }
}

async fn asset(Path(name): Path<String>, headers: HeaderMap) -> Response {
    let found = file(&name).map(|file| serve(file, &headers));
    found.unwrap_or_else(|| missing(&name).into_response())
}

/// A file as a browser takes it: packed, if it can read that.
fn serve(file: &PageFile, headers: &HeaderMap) -> Response {
    let about = (security(), [(CONTENT_TYPE, file.kind), (VARY, "accept-encoding")]);
    match file.packed().filter(|_| takes_gzip(headers)) {
        Some(packed) => (about, [(CONTENT_ENCODING, "gzip")], packed).into_response(),
        None => (about, file.bytes).into_response(),
    }
}

/// Whether a browser says that it can read gzip (RFC 9110, section 12.5.3).
fn takes_gzip(headers: &HeaderMap) -> bool {
    let said = headers.get_all(ACCEPT_ENCODING).iter().filter_map(|value| value.to_str().ok());
    said.flat_map(|value| value.split(',')).any(|one| {
        let (name, weight) = one.split_once(';').unwrap_or((one, ""));
        let is_refused = weight.trim().strip_prefix("q=").is_some_and(|q| q.parse() == Ok(0.0));
        name.trim().eq_ignore_ascii_case("gzip") && !is_refused
    })
}

fn missing(name: &str) -> Refusal {
    let name: String = name.chars().take(80).collect();
    Refusal::new(ErrorCode::RouteNotFound, format!("expected a file of the page, found {name:?}"))
}

/// Where the page has no name of its own, other programs of the host would get its cookie.
pub(super) fn no_name() -> Refusal {
    let detail = "expected a host name under which the page lives, found an address";
    let hint =
        "baton dashboard opens it on the node's machine; node.publicUrl names the node elsewhere";
    Refusal::new(ErrorCode::InvalidRequest, detail).hint(hint)
}

/// An address that opens the page once, within two minutes, in the name of the caller's key.
#[utoipa::path(
    post, path = "/page/tickets", tag = "page", security(("api_key" = [])),
    responses((status = 200, body = PageTicket), (status = "4XX", body = Problem))
)]
pub(super) async fn ticket(
    State(context): State<Context>,
    Known(_caller): Known,
    Extension(key): Extension<PageKey>,
    Extension(place): Extension<PagePlace>,
    here: Here,
) -> Result<impl IntoResponse, Refusal> {
    let mut url = place.address(&here.http()).ok_or_else(no_name)?;
    let new = context.page_codes.create(PageCode::Key(key))?;
    url.set_fragment(Some(&format!("code={}", new.code.expose_secret())));
    let ticket = PageTicket { url, expires_at: Timestamp::now() + new.limit };
    Ok(([(CACHE_CONTROL, "no-store")], answer(ticket).await?))
}

/// Signs the page in, with a code or, where the request shows one, with an API key. The answer has one half of
/// what opens the node from then on, and a cookie the other. Needs no key: the code is one.
#[utoipa::path(
    post, path = "/page/session", tag = "page", request_body = PageSignIn,
    responses((status = 200, body = PageSession), (status = "4XX", body = Problem))
)]
pub(super) async fn sign_in(
    State(context): State<Context>,
    here: Here,
    request: Request,
) -> Result<impl IntoResponse, Refusal> {
    let (parts, body) = request.into_parts();
    // Every try is counted before it is looked at.
    attempt(&parts, &context)?;
    let here = here.http();
    let request = Request::from_parts(parts.clone(), body);
    let Json(PageSignIn { code }) = Json::from_request(request, &context).await?;
    let redeemed = code.map(|code| context.page_codes.redeem(&code, &parts.headers));
    let redeemed = redeemed.transpose().map_err(|found| NodeError::BadPageCode { found })?;
    // A key that is made for a person stays because they have a page.
    let _turn = context.pages.turn().await;
    let (secret_hash, person, provider) = match redeemed.as_ref().map(RedeemedCode::stands_for) {
        None => (key_of(&parts.headers).map_err(NodeError::from)?.hash(), None, None),
        Some(PageCode::Key(key)) => (key.secret_hash, key.person, None),
        Some(PageCode::Person(person)) => {
            let provider = (person.issuer.clone(), person.subject.clone());
            let key = newcomers::key_for(&context, *person).await?;
            (key.secret_hash, key.person, Some(provider))
        }
        // That was noted when they came.
        Some(PageCode::Refused(refusal)) => return Err(NodeError::from(*refusal).into()),
    };
    let found = context.store.find_key(secret_hash).await.map_err(NodeError::from)?;
    let FoundKey { key, limited_peer } =
        found.ok_or(NodeError::Unauthenticated { found: "an unknown or revoked key" })?;
    if let Some(peer) = limited_peer {
        return Err(NodeError::KeyOfLimitedPeer { peer }.into());
    }
    if !PagePlace::is_at(&here) {
        return Err(no_name());
    }
    refund(&parts, &context);
    // It counts as any request with this key does: each one writes, and a page too many ends another one.
    if let Err(too_many) = count(&context, &key.id) {
        if let Some(redeemed) = redeemed {
            context.page_codes.put_back(redeemed);
        }
        return Err(too_many.into());
    }
    let note = Note::new(&Actor::key(&key), &key.owner, Action::SignIn, &key.id);
    let note = match provider {
        Some((issuer, subject)) => note.with("issuer", issuer).with("subject", subject),
        None => note,
    };
    note.done(&context.store).await.map_err(NodeError::from)?;
    let (id, owner) = (key.id.clone(), key.owner.clone());
    let stands_for = PageKey { secret_hash, id, owner, person };
    let opened = context.pages.open(stands_for).await.map_err(NodeError::from)?;
    let gone = NodeError::Unauthenticated { found: "a key that is gone meanwhile" };
    let opened = opened.ok_or(gone)?;
    let cookie = opened.cookie(here.scheme() == "https");
    let value = opened.value.expose_secret().to_owned();
    let session = PageSession { value, view: view(&context, key, opened.ends_at) };
    Ok(([(CACHE_CONTROL, "no-store".to_owned()), (SET_COOKIE, cookie)], answer(session).await?))
}

/// Forgets a try of this request's address, which was a good one.
pub(super) fn refund(parts: &Parts, context: &Context) {
    if let Some(Peer(address)) = parts.extensions.get() {
        context.rates.refund(*address);
    }
}

fn view(context: &Context, key: ApiKey, ends_at: Timestamp) -> PageView {
    PageView {
        owner: key.owner,
        key: key.name,
        scopes: key.scopes,
        node_id: context.node,
        node_name: context.own.node_settings.name.clone(),
        version: env!("CARGO_PKG_VERSION").to_owned(),
        ends_at,
    }
}

/// As whom the page asks, and until when.
#[utoipa::path(
    get, path = "/page/session", tag = "page", security(("api_key" = [])),
    responses((status = 200, body = PageView), (status = "4XX", body = Problem))
)]
pub(super) async fn show(
    State(context): State<Context>,
    Known(_caller): Known,
    headers: HeaderMap,
) -> Answer<PageView> {
    let found = context.page(&headers, None).await?.ok_or_else(no_page)?;
    let key = context.store.find_key(found.key.secret_hash).await.map_err(NodeError::from)?;
    let key = key.ok_or(NodeError::Unauthenticated { found: "a revoked key" })?.key;
    answer(view(&context, key, found.ends_at)).await
}

/// Signs the page out: it opens nothing any more, and what it has open ends.
#[utoipa::path(
    delete, path = "/page/session", tag = "page", security(("api_key" = [])),
    responses((status = 204), (status = "4XX", body = Problem))
)]
pub(super) async fn sign_out(
    State(context): State<Context>,
    Known(caller): Known,
    here: Here,
    headers: HeaderMap,
) -> Result<impl IntoResponse, Refusal> {
    let shown = PageHalves::of(&headers).ok_or_else(no_page)?;
    let note = Note::new(&caller.actor, &caller.owner, Action::SignOut, &caller.key);
    // It ends first: a log that does not take it keeps nobody signed in.
    let closed = context.pages.close(&shown).await.map_err(NodeError::from);
    note.end(&context.store, closed).await?;
    if newcomers::is_of_person(&context, &caller.key) {
        newcomers::sweep(&context).await.map_err(NodeError::from)?;
    }
    let value = headers.get(PAGE_HEADER).and_then(|value| value.to_str().ok()).unwrap_or_default();
    let cookie = no_cookie(value, here.http().scheme() == "https");
    Ok((StatusCode::NO_CONTENT, AppendHeaders([(SET_COOKIE, cookie)])))
}

fn no_page() -> Refusal {
    let detail = "expected a request of the page, with its cookie and its value, found another one";
    Refusal::new(ErrorCode::InvalidRequest, detail)
}
