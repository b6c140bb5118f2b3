//! Who may reach an upstream service: callers on this machine, or callers with a key or a pass.
//!
//! A browser's navigation bears no key. So a ticket, which counts once, is turned into a pass: a cookie
//! that scripts cannot read, signed, good for half a day and for one upstream service.

use crate::error::Failure;
use crate::route::Route;
use crate::upstream::{Access, UpstreamService};
use crate::{Proxy, ProxyConfig, now};
use axum::body::Body;
use axum::http::header::{
    CACHE_CONTROL, COOKIE, HeaderMap, HeaderValue, LOCATION, ORIGIN, REFERRER_POLICY, SET_COOKIE,
};
use axum::http::{Response, StatusCode};
use baton_api::debug::EpochMs;
use baton_api::{Scope, UpstreamId};
use baton_debug::token::{Claim, DebugSecret, Nonce, TokenError, sign, verify};
use baton_net::connections::Visit;
use baton_net::rates::Shown as Credential;
use baton_runtime::keys::key_of;
use baton_session::Owner;
use baton_store::{FoundKey, StoreError};
use serde::{Deserialize, Serialize};
use std::net::IpAddr;
use std::sync::PoisonError;
use std::time::Duration;

/// The cookie of a pass.
const COOKIE_NAME: &str = "baton_cocoon";
/// Where a ticket becomes a pass.
const ENTER: &str = "/.baton/enter";

/// Turns into a pass, once, within a minute.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct EnterTicket {
    /// Which upstream service it opens.
    #[serde(rename = "cocoon")]
    pub service: UpstreamId,
    /// To whom that belongs.
    pub owner: Owner,
    /// With which key it was asked for; what it opens ends with that.
    #[serde(default)]
    pub key: Option<TicketKey>,
    /// Makes it one of a kind.
    pub nonce: Nonce,
}

/// The key behind a ticket or a pass.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TicketKey {
    /// Its id.
    pub id: String,
    /// Whose it is.
    pub owner: Owner,
}

impl Claim for EnterTicket {
    const AUDIENCE: &'static str = "baton cocoon ticket";
    const LIFETIME: Duration = Duration::from_mins(1);
}

impl EnterTicket {
    /// The ticket's text, for `/.baton/enter?ticket=`.
    pub fn sign(&self, secret: &DebugSecret, now: EpochMs) -> Result<String, TokenError> {
        sign(secret, self, now)
    }
}

/// Opens an upstream service for half a day.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct UpstreamPass {
    /// Which upstream service it opens.
    #[serde(rename = "cocoon")]
    pub service: UpstreamId,
    /// To whom that belonged then.
    pub owner: Owner,
    /// The key behind its ticket.
    #[serde(default)]
    pub key: Option<TicketKey>,
}

impl Claim for UpstreamPass {
    const AUDIENCE: &'static str = "baton cocoon pass";
    const LIFETIME: Duration = Duration::from_hours(12);
}

/// Fails when the caller may not reach the upstream service. In whose name it may, the connection hears.
pub(super) async fn check(
    proxy: &Proxy,
    service: &UpstreamService,
    route: &Route,
    headers: &HeaderMap,
    peer: IpAddr,
    visit: Option<&Visit>,
) -> Result<(), Failure> {
    let found = match service.access {
        Access::Loopback
            if peer.to_canonical().is_loopback()
                && route.is_loopback
                && !proxy.0.config.outside.is_reached() =>
        {
            return Ok(());
        }
        Access::Loopback => {
            let detail = format!(
                "expected a request of this machine for the cocoon {}, found one from elsewhere\n\
                 set its access to \"key\" to reach it from other machines",
                service.id
            );
            return Err(Failure::new(StatusCode::FORBIDDEN, detail));
        }
        Access::Key => match pass(proxy, service, headers).await? {
            Some(found) => Some(found),
            None => key(proxy, service, headers, peer).await?,
        },
    };
    if let Some((name, owner)) = found {
        let shown = visit.map_or(Ok(()), |visit| visit.show(&name, owner.as_ref()));
        return shown.map_err(|limit| {
            let detail = format!(
                "expected at most {limit} connections at once with one key or pass, found more\n\
                 close some, or let limits.connections be more"
            );
            Failure::new(StatusCode::TOO_MANY_REQUESTS, detail)
        });
    }
    let detail = format!(
        "expected a key of the owner of the cocoon {}, or a pass to it, found neither\n\
         send a key with the scope debug as a bearer, or open the cocoon with a new ticket",
        service.id
    );
    Err(Failure::new(StatusCode::UNAUTHORIZED, detail))
}

/// A page of another origin may not open a connection that it can read.
pub(super) fn check_origin(route: &Route, headers: &HeaderMap) -> Result<(), Failure> {
    let is_own = |origin: &HeaderValue| {
        let origin = origin.to_str().unwrap_or_default();
        let secure = origin.strip_prefix("https://");
        let clear = || origin.strip_prefix("http://").filter(|_| route.scheme == "http");
        let host = secure.or_else(clear);
        host.is_some_and(|host| host.eq_ignore_ascii_case(&route.host))
    };
    if headers.get_all(ORIGIN).iter().all(is_own) {
        return Ok(());
    }
    let detail = format!(
        "expected a page of the cocoon {} itself, found one of another origin",
        route.service
    );
    Err(Failure::new(StatusCode::FORBIDDEN, detail))
}

/// In whose name a caller reaches an upstream service, and whose key that is when it is looked at again.
type Shown = (String, Option<Owner>);

/// A pass that opens the upstream service, whose key is good yet.
async fn pass(
    proxy: &Proxy,
    service: &UpstreamService,
    headers: &HeaderMap,
) -> Result<Option<Shown>, Failure> {
    let cookies = headers.get_all(COOKIE).iter().filter_map(|value| value.to_str().ok());
    let passes = cookies.flat_map(|value| value.split(';')).filter_map(|pair| {
        let (name, value) = pair.trim().split_once('=')?;
        (name == COOKIE_NAME).then_some(value)
    });
    for pass in passes {
        let verified = verify::<UpstreamPass>(&proxy.0.config.secret, pass, now());
        let Ok((UpstreamPass { service: id, owner, key }, _)) = verified else { continue };
        if id != service.id || owner != service.owner {
            continue;
        }
        let (Some(TicketKey { id, owner }), Some(store)) = (key, &proxy.0.config.keys) else {
            return Ok(Some((format!("a pass to {}", service.id), None)));
        };
        if store.is_key_good(&owner, &id).await.map_err(|error| not_looked_up(&error))? {
            return Ok(Some((id, Some(owner))));
        }
    }
    Ok(None)
}

/// A key that opens the upstream service.
async fn key(
    proxy: &Proxy,
    service: &UpstreamService,
    headers: &HeaderMap,
    peer: IpAddr,
) -> Result<Option<Shown>, Failure> {
    let ProxyConfig { keys, rates, .. } = &proxy.0.config;
    let (Some(store), Ok(secret)) = (keys, key_of(headers)) else { return Ok(None) };
    let hash = secret.hash();
    let is_good = |found: &Result<Option<_>, _>| found.as_ref().ok().map(Option::is_some);
    let shown = (Credential::Key, hash);
    let found = rates.look_up(Some(peer), shown, store.find_key(hash), is_good).await;
    let found = found.map_err(|error| not_looked_up(&error))?;
    let Some(FoundKey { key, limited_peer }) = found else {
        if rates.refused(peer).is_ok() {
            return Ok(None);
        }
        let detail = "expected fewer requests without a good key a minute, found more";
        return Err(Failure::new(StatusCode::TOO_MANY_REQUESTS, detail));
    };
    let may = key.scopes.contains(&Scope::Debug) && limited_peer.is_none();
    Ok((key.owner == service.owner && may).then_some((key.id, Some(key.owner))))
}

fn not_looked_up(error: &StoreError) -> Failure {
    tracing::error!(%error, "a key could not be looked up");
    let detail =
        "expected to be able to look the key up, found that the database fails\ntry again later";
    Failure::new(StatusCode::SERVICE_UNAVAILABLE, detail)
}

/// The ticket that a request wants to turn into a pass.
pub(super) fn ticket(route: &Route) -> Option<&str> {
    let query = route.target.strip_prefix(ENTER)?.strip_prefix("?")?;
    query.split('&').find_map(|pair| pair.strip_prefix("ticket="))
}

/// Turns a ticket into a pass, and leads to the upstream service.
pub(super) fn enter(
    proxy: &Proxy,
    service: &UpstreamService,
    route: &Route,
    ticket: &str,
) -> Result<Response<Body>, Failure> {
    let secret = &proxy.0.config.secret;
    let pass = redeem(proxy, service, ticket)
        .and_then(|pass| sign(secret, &pass, now()))
        .map_err(|error| Failure::new(StatusCode::UNAUTHORIZED, error.to_string()))?;
    let (prefix, limit) = (&route.prefix, UpstreamPass::LIFETIME.as_secs());
    let secure = if route.scheme == "https" { "; Secure" } else { "" };
    let cookie = format!(
        "{COOKIE_NAME}={pass}; Path={prefix}/; Max-Age={limit}; HttpOnly; SameSite=Lax{secure}"
    );
    let mut response = Response::new(Body::empty());
    *response.status_mut() = StatusCode::SEE_OTHER;
    let ours = [(SET_COOKIE, cookie), (LOCATION, format!("{prefix}/"))];
    for (name, value) in ours {
        let value = HeaderValue::from_str(&value);
        let value =
            value.map_err(|_| Failure::new(StatusCode::INTERNAL_SERVER_ERROR, "no pass"))?;
        response.headers_mut().insert(name, value);
    }
    response.headers_mut().insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    response.headers_mut().insert(REFERRER_POLICY, HeaderValue::from_static("no-referrer"));
    Ok(response)
}

fn redeem(
    proxy: &Proxy,
    service: &UpstreamService,
    ticket: &str,
) -> Result<UpstreamPass, TokenError> {
    let now = now();
    let (ticket, expires): (EnterTicket, _) = verify(&proxy.0.config.secret, ticket, now)?;
    if ticket.service != service.id || ticket.owner != service.owner {
        return Err(TokenError::Audience { expected: "this cocoon" });
    }
    let mut used = proxy.0.tickets.lock().unwrap_or_else(PoisonError::into_inner);
    used.take(&ticket.nonce, expires, now)?;
    Ok(UpstreamPass { service: ticket.service, owner: ticket.owner, key: ticket.key })
}
