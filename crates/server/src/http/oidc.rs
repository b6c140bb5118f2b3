//! People sign in at a provider: how the page knows of it, how a browser goes there, and how it comes back.
//!
//! The one idea: whoever comes back, let in or not, is led to the page with a code that counts once, as `baton
//! dashboard` leads there. So the page learns by one way who is signed in, or why nobody is; and this answer leads
//! nowhere else. The code counts in the browser alone that came back, which gets a cookie with it: an address that one
//! person was given signs in nobody else.

use super::answer::answer;
use super::page::{no_name, refund};
use super::request::{Here, Query};
use crate::auth::attempt;
use crate::context::Context;
use crate::error::NodeError;
use crate::ingress::{Peer, Refusal};
use crate::page::{CALLBACK, DEPARTURE_LIMIT, PageCode, PagePlace, no_departure};
use axum::extract::{Request, State};
use axum::http::StatusCode;
use axum::http::header::{CACHE_CONTROL, LOCATION, REFERRER_POLICY, SET_COOKIE};
use axum::http::request::Parts;
use axum::response::{AppendHeaders, IntoResponse};
use baton_api::{Answers, PageDeparture, PageProvider, PageWays, Problem};
use baton_runtime::Actor;
use baton_runtime::audit::{Action, Note};
use baton_session::Owner;
use baton_sync::oidc::{Arrival, Person, SignIn, SignInRefusal};
use jiff::Timestamp;
use secrecy::ExposeSecret;
use serde::Deserialize;
use utoipa::IntoParams;

/// How people sign in to the page, beside a key and a code. Needs no key.
#[utoipa::path(get, path = "/page/ways", tag = "page", responses((status = 200, body = PageWays)))]
pub(super) async fn ways(State(context): State<Context>) -> Result<impl IntoResponse, Refusal> {
    let name = |sign_in: &SignIn| sign_in.settings().name.clone();
    let oidc = context.sign_in.as_ref().map(|sign_in| PageProvider { name: name(sign_in) });
    Ok(([(CACHE_CONTROL, "no-store")], answer(PageWays { oidc }).await?))
}

/// Where a browser goes so that a person signs in there, with a cookie by which it is known when it is back. Needs no
/// key.
#[utoipa::path(
    post, path = "/page/oidc", tag = "page",
    responses((status = 200, body = PageDeparture), (status = "4XX", body = Problem))
)]
pub(super) async fn depart(
    State(context): State<Context>,
    here: Here,
    request: Request,
) -> Result<impl IntoResponse, Refusal> {
    let (parts, _) = request.into_parts();
    let mut back = here.http();
    if !PagePlace::is_at(&back) {
        return Err(no_name());
    }
    let Some(sign_in) = &context.sign_in else {
        return Err(NodeError::from(SignInRefusal::NotOffered).into());
    };
    attempt(&parts, &context)?;
    let is_secure = back.scheme() == "https";
    back.set_path(CALLBACK);
    let address = parts.extensions.get::<Peer>().map(|Peer(address)| *address);
    let departed = match Box::pin(sign_in.depart(back, context.node.mark())).await {
        Ok(departure) => {
            let kept =
                context.departures.keep(&departure.state, departure.kept, address, is_secure);
            kept.map(|cookie| (departure.url, cookie))
        }
        Err(refusal) => Err(refusal),
    };
    let (url, cookie) = match departed {
        Ok(departed) => departed,
        Err(refusal) => {
            note_refused(&context, sign_in, &refusal).await;
            return Err(NodeError::from(refusal).into());
        }
    };
    let departure = PageDeparture { url, expires_at: Timestamp::now() + DEPARTURE_LIMIT };
    Ok(([(CACHE_CONTROL, "no-store".to_owned()), (SET_COOKIE, cookie)], answer(departure).await?))
}

/// What a provider sends a browser back with (RFC 6749, section 4.1.2; RFC 9207). Some send more.
#[derive(Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(super) struct CameBack {
    /// What the departure had.
    #[serde(default)]
    state: String,
    /// What this node exchanges for who it is.
    code: Option<String>,
    /// Why there is none.
    error: Option<String>,
    /// The same in words.
    error_description: Option<String>,
    /// Who sends it back.
    iss: Option<String>,
}

/// A person is back from the provider: leads the browser to the page, which hears there whether they are let in. Needs
/// no key, but the cookie of the departure.
#[utoipa::path(
    get, path = "/page/oidc/callback", tag = "page", params(CameBack),
    responses((status = 303), (status = "4XX", body = Problem))
)]
pub(super) async fn arrive(
    State(context): State<Context>,
    here: Here,
    Query(back): Query<CameBack>,
    request: Request,
) -> Result<impl IntoResponse, Refusal> {
    let (parts, _) = request.into_parts();
    let here = here.http();
    if !PagePlace::is_at(&here) {
        return Err(no_name());
    }
    let Some(sign_in) = &context.sign_in else {
        return Err(NodeError::from(SignInRefusal::NotOffered).into());
    };
    attempt(&parts, &context)?;
    let stands_for = match Box::pin(finish(&context, sign_in, &parts, &back)).await {
        Ok(person) => {
            // Neither was a try of somebody without a good key.
            refund(&parts, &context);
            refund(&parts, &context);
            PageCode::Person(Box::new(person))
        }
        Err(refusal) => {
            note_refused(&context, sign_in, &refusal).await;
            PageCode::Refused(Box::new(refusal))
        }
    };
    let new = context.page_codes.create(stands_for)?;
    let is_secure = here.scheme() == "https";
    let headers = [
        (LOCATION, format!("/#code={}", new.code.expose_secret())),
        (CACHE_CONTROL, "no-store".to_owned()),
        (REFERRER_POLICY, "no-referrer".to_owned()),
        (SET_COOKIE, no_departure(&back.state, is_secure)),
    ];
    let cookie = new.cookie(is_secure).map(|cookie| (SET_COOKIE, cookie));
    Ok((StatusCode::SEE_OTHER, AppendHeaders(headers.into_iter().chain(cookie))))
}

/// Who is back, if it is the browser that left, and the provider and a rule let them in.
async fn finish(
    context: &Context,
    sign_in: &SignIn,
    parts: &Parts,
    back: &CameBack,
) -> Result<Person, SignInRefusal> {
    let kept = context.departures.redeem(&back.state, &parts.headers)?;
    if let Some(error) = &back.error {
        return Err(SignInRefusal::declined(error, back.error_description.as_deref()));
    }
    let Some(code) = &back.code else {
        return Err(SignInRefusal::declined("its answer has no code", None));
    };
    sign_in.finish(kept, Arrival { code, issuer: back.iss.as_deref() }).await
}

/// Notes why a person is not let in, within bounds where nobody vouches for them.
async fn note_refused(context: &Context, sign_in: &SignIn, refusal: &SignInRefusal) {
    let unnoted = if refusal.is_vouched_for() { Some(0) } else { sign_in.stranger() };
    let Some(unnoted) = unnoted else { return };
    let issuer = sign_in.settings().issuer.as_str();
    let problem = NodeError::from(refusal.clone()).problem();
    let note = Note::new(&Actor::newcomer(issuer), &Owner::local(), Action::SignIn, issuer);
    let note = note.with("refused", refusal.word()).with("detail", problem.detail);
    let note = if unnoted > 0 { note.with("unnoted", unnoted) } else { note };
    note.refused(&context.store, problem.code).await;
}
