//! Logins: where a state is logged in, as far as cookies and storage tell, and for how much longer.
//!
//! The one idea: whether a site takes a cookie for a login, only the site knows. But a cookie that has
//! expired logs nobody in, and where there is neither a living cookie nor anything stored, there is no
//! login. That much can be said before an agent finds out.

use crate::domains::Domain;
use crate::forecast::{Forecast, of_cookies};
use crate::state::OriginState;
use crate::{Cookie, Site, State, StorageKey};
use jiff::Timestamp;
use std::collections::BTreeMap;
use url::Url;

/// Why a state logs nobody in.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NoLogin {
    /// It did once.
    #[error(
        "expected a login for {place} that still lasts, found that its last cookie expired at {ended}\nlog in again, and capture the session"
    )]
    Expired {
        /// For which domain, or `any site`.
        place: String,
        /// When the last of its cookies ended.
        ended: Timestamp,
    },
    /// It never did.
    #[error(
        "expected a login for {place}, found neither a cookie nor anything stored\nlog in there, and capture the session"
    )]
    Missing {
        /// For which domain, or `any site`.
        place: String,
    },
}

/// How long the cookies of each site last, as seen at `now`.
pub fn logins(state: &State, now: Timestamp) -> BTreeMap<Site, Forecast> {
    let mut sites: BTreeMap<Site, Vec<&Cookie>> = BTreeMap::new();
    for cookie in &state.cookies {
        let host = cookie.domain.strip_prefix('.').unwrap_or(&cookie.domain);
        sites.entry(Site::of_host(host)).or_default().push(cookie);
    }
    sites.into_iter().map(|(site, cookies)| (site, of_cookies(&cookies, now))).collect()
}

/// Checks that a state logs somebody in at `now`: for each of these domains, or for any site when none
/// is named. `stored` has more for which something is stored.
pub fn expect_login(
    state: &State,
    stored: &[StorageKey],
    domains: &[Domain],
    now: Timestamp,
) -> Result<(), NoLogin> {
    if domains.is_empty() {
        return expect_one("any site", state, stored, |_| true, |_| true, now);
    }
    domains.iter().try_for_each(|domain| {
        let counts = |cookie: &Cookie| counts_for(cookie, domain);
        let has = |key: &StorageKey| host(key).is_some_and(|host| domain.has(&host));
        expect_one(&domain.to_string(), state, stored, counts, has, now)
    })
}

fn expect_one(
    place: &str,
    state: &State,
    stored: &[StorageKey],
    counts: impl Fn(&Cookie) -> bool,
    has: impl Fn(&StorageKey) -> bool,
    now: Timestamp,
) -> Result<(), NoLogin> {
    let cookies: Vec<&Cookie> = state.cookies.iter().filter(|cookie| counts(cookie)).collect();
    let is_stored = stored.iter().any(&has)
        || state.origins.iter().any(|(key, origin)| has(key) && holds_something(origin));
    if is_stored || of_cookies(&cookies, now).cookies > 0 {
        return Ok(());
    }
    let place = place.to_owned();
    let last = cookies.iter().filter_map(|cookie| cookie.expires).max();
    Err(match last.and_then(|end| Timestamp::from_microsecond(end.0).ok()) {
        Some(ended) => NoLogin::Expired { place, ended },
        None => NoLogin::Missing { place },
    })
}

/// Whether a browser sends a cookie to a domain, or to something below it.
fn counts_for(cookie: &Cookie, domain: &Domain) -> bool {
    let above = cookie.domain.strip_prefix('.').and_then(|name| name.parse::<Domain>().ok());
    domain.has(&cookie.domain) || above.is_some_and(|above| above.has(&domain.to_string()))
}

fn holds_something(origin: &OriginState) -> bool {
    !origin.local_storage.is_empty() || !origin.databases.is_empty() || !origin.raw.is_empty()
}

fn host(key: &StorageKey) -> Option<String> {
    Url::parse(key.origin()).ok()?.host_str().map(str::to_owned)
}
