//! People on their way to a provider: which browser left, and what the node needs once it is back.
//!
//! The one idea: an answer of a provider comes through a browser, and whoever can lead a browser somewhere can bring
//! an answer of their own. So each departure has a cookie beside its state, of the browser that left; both are needed,
//! once, within minutes.

use super::halves::{COOKIE_NAME, PageHash, TAG_LENGTH, cookies, hash, random, secure};
use super::own::lock;
use axum::http::HeaderMap;
use baton_store::clock::Deadline;
use baton_sync::oidc::{KeptDeparture, SignInRefusal};
use secrecy::{ExposeSecret, SecretString};
use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// How long somebody may take to sign in there.
pub(crate) const DEPARTURE_LIMIT: Duration = Duration::from_mins(10);
/// Where the cookie is shown, and nowhere else: the provider sends browsers back there.
pub(crate) const CALLBACK: &str = "/page/oidc/callback";
/// How many may be on their way.
const MOST: usize = 4096;
/// How many from one address; one more makes the first of these count no more.
const MOST_OF_AN_ADDRESS: usize = 128;

/// Somebody on their way.
struct Away {
    cookie: PageHash,
    kept: KeptDeparture,
    address: Option<IpAddr>,
    until: Deadline,
}

/// Who is on their way. Cheap to clone.
#[derive(Clone, Default)]
pub(crate) struct Departures(Arc<Mutex<HashMap<PageHash, Away>>>);

impl Departures {
    /// Keeps what is needed when the browser is back that gets the cookie; returns that cookie's header.
    pub(crate) fn keep(
        &self,
        state: &SecretString,
        kept: KeptDeparture,
        address: Option<IpAddr>,
        is_secure: bool,
    ) -> Result<String, SignInRefusal> {
        let half = random();
        let away = &mut lock(&self.0);
        away.retain(|_, one| !one.until.is_over());
        let of_address = away.iter().filter(|(_, one)| address.is_some() && one.address == address);
        if of_address.clone().count() >= MOST_OF_AN_ADDRESS {
            let first = of_address.min_by_key(|(_, one)| one.until).map(|(state, _)| *state);
            first.and_then(|first| away.remove(&first));
        }
        if away.len() >= MOST {
            return Err(SignInRefusal::TooMany { most: MOST });
        }
        let cookie = hash(half.expose_secret());
        let one = Away { cookie, kept, address, until: Deadline::after(DEPARTURE_LIMIT) };
        away.insert(hash(state.expose_secret()), one);
        Ok(header(state.expose_secret(), half.expose_secret(), DEPARTURE_LIMIT, is_secure))
    }

    /// What was kept for the browser that is back with this state, the one time that it counts.
    pub(crate) fn redeem(
        &self,
        state: &str,
        headers: &HeaderMap,
    ) -> Result<KeptDeparture, SignInRefusal> {
        let not_begun = |found| {
            let minutes = DEPARTURE_LIMIT.as_secs() / 60;
            SignInRefusal::NotBegun { minutes, found }
        };
        let shown = state.get(..TAG_LENGTH).and_then(|tag| cookies(headers, tag).next());
        let shown = shown.map(hash);
        let away = &mut lock(&self.0);
        let state = hash(state);
        // Of another browser's departure nothing is used up.
        if away.get(&state).is_some_and(|one| Some(one.cookie) != shown) {
            return Err(not_begun("one that another browser began"));
        }
        let found = away.remove(&state).filter(|one| !one.until.is_over());
        Ok(found.ok_or_else(|| not_begun("one that does not count, or no longer"))?.kept)
    }
}

/// The header that takes the cookie of a departure back.
pub(crate) fn no_departure(state: &str, is_secure: bool) -> String {
    header(state, "", Duration::ZERO, is_secure)
}

/// A provider sends the browser here from another site, so the cookie has to come along with that.
fn header(state: &str, half: &str, limit: Duration, is_secure: bool) -> String {
    // What is no tag of ours names no cookie of ours.
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_".contains(c);
    let tag = state.get(..TAG_LENGTH).filter(|tag| tag.chars().all(is_plain)).unwrap_or_default();
    let (seconds, end) = (limit.as_secs(), secure(is_secure));
    format!(
        "{COOKIE_NAME}{tag}={half}; Path={CALLBACK}; Max-Age={seconds}; HttpOnly; SameSite=Lax{end}"
    )
}
