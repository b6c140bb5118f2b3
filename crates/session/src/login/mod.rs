//! Logins: where a state is logged in, as far as cookies and storage tell, and for how much longer.
//!
//! The one idea: whether a site takes something for a login, only the site knows. But what has expired is no
//! login, what only measures visitors never did, and where nothing else is there, there is no login. That
//! much can be said before an agent finds out, and how likely the rest is.

mod signs;

use crate::cookie::{Cookie, Expiry};
use crate::state::{OriginState, State};
use crate::storage::{Entries, Site, StorageKey};
use crate::view::Domain;
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use signs::{Sign, of_cookie, of_database, of_entry};
use std::collections::BTreeMap;
use url::Url;

/// Why a state is no login.
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
    /// What there is, is no login.
    #[error(
        "expected a login for {place}, found only {found}, which logs nobody in\nlog in there, and capture the session"
    )]
    Unlikely {
        /// For which domain, or `any site`.
        place: String,
        /// What there is, by its names.
        found: String,
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

/// How likely somebody is logged in at a site.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub enum Likelihood {
    /// There was one: what may have been the login has expired.
    Over,
    /// Something is kept that may be a login.
    Possible,
    /// Something is kept that looks like one.
    Likely,
}

/// A site where there may be a login.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Login {
    /// The site: a registrable domain, or a host without one.
    pub site: Site,
    /// How likely that is.
    pub likelihood: Likelihood,
    /// Where to begin: the origin of a tab or of what is stored there, or the site itself.
    pub address: String,
    /// Whether web storage or a database holds something that may be a login.
    pub is_stored: bool,
    /// How long the cookies of the site last.
    pub forecast: Forecast,
}

/// What a state has of a site.
#[derive(Default)]
struct Kept<'s> {
    cookies: Vec<&'s Cookie>,
    stored: Option<Sign>,
    origin: Option<String>,
    /// Whether a tab shows it.
    is_shown: bool,
}

/// Where a state may be logged in at `now`, by its cookies, web storage and databases. The likeliest sites come
/// first, and of those what a tab shows. `stored` has more keys that hold something which was not loaded.
pub fn logins(state: &State, stored: &[StorageKey], now: Timestamp) -> Vec<Login> {
    let mut found: Vec<(bool, Login)> = kept(state, stored)
        .into_iter()
        .filter_map(|(site, kept)| Some((!kept.is_shown, kept.login(site, now)?)))
        .collect();
    found.sort_by(|(hidden, one), (other_hidden, other)| {
        let likely = other.likelihood.cmp(&one.likelihood);
        likely.then(hidden.cmp(other_hidden)).then_with(|| one.site.cmp(&other.site))
    });
    found.into_iter().map(|(_, login)| login).collect()
}

fn kept<'s>(state: &'s State, stored: &[StorageKey]) -> BTreeMap<Site, Kept<'s>> {
    let mut sites: BTreeMap<Site, Kept<'_>> = BTreeMap::new();
    for cookie in &state.cookies {
        let host = cookie.domain.strip_prefix('.').unwrap_or(&cookie.domain);
        sites.entry(Site::of_host(host)).or_default().cookies.push(cookie);
    }
    let loaded = state.origins.iter().filter_map(|(key, origin)| Some((key, of_origin(origin)?)));
    // What it says is known only once it is loaded.
    let others = stored.iter().map(|key| (key, Sign::Possible));
    let areas = areas(state).filter_map(|(key, entries)| Some((key, of_entries(entries)?)));
    for (key, sign) in loaded.chain(others).chain(areas) {
        let kept = sites.entry(Site::of_origin(key.origin())).or_default();
        kept.stored = kept.stored.max(Some(sign));
        kept.origin.get_or_insert_with(|| key.origin().to_owned());
    }
    for tab in &state.tabs {
        let Some(origin) = Url::parse(&tab.url).ok().filter(Url::has_host) else { continue };
        let origin = origin.origin().ascii_serialization();
        if let Some(kept) = sites.get_mut(&Site::of_origin(&origin)).filter(|kept| !kept.is_shown) {
            kept.is_shown = true;
            kept.origin = Some(origin);
        }
    }
    sites
}

impl Kept<'_> {
    /// None where nothing ever was a login.
    fn login(self, site: Site, now: Timestamp) -> Option<Login> {
        let lives =
            |cookie: &&&Cookie| cookie.expires.is_none_or(|end| end.0 > now.as_microsecond());
        let living = self.cookies.iter().filter(lives).map(|cookie| of_cookie(cookie)).max();
        let was = self.cookies.iter().any(|cookie| of_cookie(cookie) > Sign::Else);
        let likelihood = match living.max(self.stored) {
            Some(Sign::Likely) => Likelihood::Likely,
            Some(Sign::Possible) => Likelihood::Possible,
            _ if was => Likelihood::Over,
            _ => return None,
        };
        let address = self.origin.unwrap_or_else(|| format!("https://{}", site.as_str()));
        let is_stored = self.stored > Some(Sign::Else);
        let forecast = of_cookies(&self.cookies, now);
        Some(Login { site, likelihood, address, is_stored, forecast })
    }
}

/// Checks that a state is a login at `now`, once it is handed in: for each of these domains, or for any site
/// when none is named. `stored` has more keys that hold something which was not loaded.
pub fn expect_login(
    state: &State,
    stored: &[StorageKey],
    domains: &[Domain],
    now: Timestamp,
) -> Result<(), NoLogin> {
    if domains.is_empty() {
        let any = Wanted { place: "any site".to_owned() };
        return any.expect(state, stored, |_| true, |_| true, now);
    }
    domains.iter().try_for_each(|domain| {
        let counts = |cookie: &Cookie| counts_for(cookie, domain);
        let has = |key: &StorageKey| host(key).is_some_and(|host| domain.has(&host));
        let wanted = Wanted { place: domain.to_string() };
        wanted.expect(state, stored, counts, has, now)
    })
}

/// For what a login is wanted.
struct Wanted {
    place: String,
}

impl Wanted {
    fn expect(
        self,
        state: &State,
        stored: &[StorageKey],
        counts: impl Fn(&Cookie) -> bool,
        has: impl Fn(&StorageKey) -> bool,
        now: Timestamp,
    ) -> Result<(), NoLogin> {
        let Self { place } = self;
        let (signs, others): (Vec<&Cookie>, Vec<&Cookie>) = state
            .cookies
            .iter()
            .filter(|cookie| counts(cookie))
            .partition(|cookie| of_cookie(cookie) > Sign::Else);
        let origins = || state.origins.iter().filter(|(key, _)| has(key)).map(|(_, origin)| origin);
        let in_tabs = || areas(state).filter(|(key, _)| has(key)).map(|(_, entries)| entries);
        let is_stored = stored.iter().any(&has)
            || origins().any(|one| of_origin(one) > Some(Sign::Else))
            || in_tabs().any(|one| of_entries(one) > Some(Sign::Else));
        if is_stored || of_cookies(&signs, now).cookies > 0 {
            return Ok(());
        }
        let last = signs.iter().filter_map(|cookie| cookie.expires).max();
        if let Some(ended) = last.and_then(|end| Timestamp::from_microsecond(end.0).ok()) {
            return Err(NoLogin::Expired { place, ended });
        }
        let keys = origins().map(|origin| &origin.local_storage).chain(in_tabs());
        let keys = keys.flat_map(|entries| entries.0.keys());
        let names: Vec<String> = others
            .iter()
            .map(|cookie| cookie.name.clone())
            .chain(keys.map(crate::text::Text::to_lossy))
            .collect();
        Err(match names.as_slice() {
            [] => NoLogin::Missing { place },
            [one] => NoLogin::Unlikely { place, found: one.clone() },
            [one, more @ ..] => {
                NoLogin::Unlikely { place, found: format!("{one} and {} more", more.len()) }
            }
        })
    }
}

/// Whether a browser sends a cookie to a domain, or to something below it.
fn counts_for(cookie: &Cookie, domain: &Domain) -> bool {
    let above = cookie.domain.strip_prefix('.').and_then(|name| name.parse::<Domain>().ok());
    domain.has(&cookie.domain) || above.is_some_and(|above| above.has(&domain.to_string()))
}

/// What a key's localStorage and databases say; none when it holds neither.
fn of_origin(origin: &OriginState) -> Option<Sign> {
    let entries = of_entries(&origin.local_storage);
    let databases = origin.databases.iter().map(of_database);
    // What is in the browser's own folders, only a page knows.
    let raw = origin.raw.first().map(|_| Sign::Possible);
    databases.chain(raw).chain(entries).max()
}

/// What web storage says; none when it holds nothing.
fn of_entries(entries: &Entries) -> Option<Sign> {
    entries.0.iter().map(|(key, value)| of_entry(key, value)).max()
}

/// The sessionStorage of all tabs, without that of frames, which belongs to their page.
fn areas(state: &State) -> impl Iterator<Item = (&StorageKey, &Entries)> {
    let all = state.tabs.iter().flat_map(|tab| &tab.session_storage);
    all.filter(|(key, _)| key.is_first_party())
}

fn host(key: &StorageKey) -> Option<String> {
    Url::parse(key.origin()).ok()?.host_str().map(str::to_owned)
}

/// One hour in microseconds.
const HOUR: i64 = 3_600_000_000;

/// How many cookies of a state expire how soon. One that ends with the browser has no end of its
/// own, because a resume brings it back.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct Forecast {
    /// Cookies that a resume at this moment would bring back.
    pub cookies: usize,
    /// Cookies that have expired since the state was captured.
    pub expired: usize,
    /// Cookies that expire within an hour.
    pub within_hour: usize,
    /// Cookies that expire within a day, those within an hour included.
    pub within_day: usize,
    /// Cookies that expire within seven days, those within a day included.
    pub within_week: usize,
    /// When the next one expires; none when none of them has an end.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schema(value_type = Option<String>, format = "date-time"))]
    pub next: Option<Timestamp>,
}

/// The forecast for `state` as seen at `now`.
pub fn forecast(state: &State, now: Timestamp) -> Forecast {
    of_cookies(&state.cookies.iter().collect::<Vec<_>>(), now)
}

/// The forecast for these cookies as seen at `now`.
fn of_cookies(cookies: &[&Cookie], now: Timestamp) -> Forecast {
    let now = now.as_microsecond();
    let expired = cookies.iter().filter(|cookie| left(cookie, now) <= 0).count();
    let ends: Vec<Expiry> =
        cookies.iter().filter_map(|cookie| cookie.expires).filter(|end| end.0 > now).collect();
    let within = |time: i64| ends.iter().filter(|end| end.0.saturating_sub(now) <= time).count();
    Forecast {
        cookies: cookies.len() - expired,
        expired,
        within_hour: within(HOUR),
        within_day: within(24 * HOUR),
        within_week: within(7 * 24 * HOUR),
        next: ends.iter().min().and_then(|end| Timestamp::from_microsecond(end.0).ok()),
    }
}

/// The microseconds that a cookie has left.
fn left(cookie: &Cookie, now: i64) -> i64 {
    cookie.expires.map_or(i64::MAX, |end| end.0.saturating_sub(now))
}
