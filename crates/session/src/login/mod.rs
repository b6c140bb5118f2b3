//! Logins: where a state is logged in, as far as cookies and storage tell, and for how much longer.
//!
//! The one idea: whether a site takes something for a login, only the site knows. But what has expired is no
//! login, what only measures visitors never did, and where nothing else is there, there is no login. That
//! much can be said before an agent finds out, and how likely the rest is. What a sign-in changed says more than
//! any name.

mod sign_in;
mod signs;

pub use sign_in::{SignIn, SignIns};

use crate::cookie::{Cookie, Expiry};
use crate::receipt::ItemKind;
use crate::state::{OriginState, State};
use crate::storage::{Entries, Site, StorageKey};
use crate::view::Domain;
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use sign_in::Marks;
use signs::{Sign, of_cookie, of_database, of_entry};
use std::collections::{BTreeMap, BTreeSet};
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
    /// To which hosts of the site that belongs which may be a login now: to `app.test`, or to `.app.test` and what is
    /// below it.
    pub hosts: BTreeSet<String>,
    /// The last sign-in there that was seen, where what it changed lasts.
    pub sign_in: Option<SignIn>,
    /// How long the cookies of the site last.
    pub forecast: Forecast,
}

/// What is known of a session, to judge where it is logged in.
#[derive(Debug, Clone, Copy)]
pub struct Known<'s> {
    /// What it holds.
    pub state: &'s State,
    /// More keys that hold something which was not loaded.
    pub stored: &'s [StorageKey],
    /// What sign-ins changed.
    pub sign_ins: &'s SignIns,
}

impl<'s> Known<'s> {
    /// A state alone.
    pub fn of(state: &'s State) -> Self {
        const NONE: &SignIns = &SignIns::none();
        Self { state, stored: &[], sign_ins: NONE }
    }
}

/// What a state has of a site.
#[derive(Default)]
struct Kept<'s> {
    cookies: Vec<(&'s Cookie, Judged<'s>)>,
    stored: Option<Judged<'s>>,
    /// The hosts that stored what may be a login.
    hosts: BTreeSet<String>,
    origin: Option<String>,
    /// Whether a tab shows it.
    is_shown: bool,
}

/// How likely something is a login, and which sign-in says so.
#[derive(Debug, Clone, Copy)]
struct Judged<'s> {
    sign: Sign,
    sign_in: Option<&'s SignIn>,
}

impl<'s> Judged<'s> {
    /// What is new since a sign-in is likely the login, unless it is known to be something else.
    fn new(sign: Sign, sign_in: Option<&'s SignIn>) -> Self {
        let sign_in = sign_in.filter(|_| sign > Sign::Else);
        Self { sign: if sign_in.is_some() { Sign::Likely } else { sign }, sign_in }
    }

    /// The likelier of both, with the newer of their sign-ins.
    fn or(self, other: Self) -> Self {
        let sign_in = [self.sign_in, other.sign_in].into_iter().flatten().max_by_key(|one| one.at);
        Self { sign: self.sign.max(other.sign), sign_in }
    }

    fn is_login(&self) -> bool {
        self.sign > Sign::Else
    }
}

/// Where a session may be logged in at `now`, by its cookies, web storage and databases, and by what sign-ins
/// changed. The likeliest sites come first, and of those what a tab shows.
pub fn logins(known: Known<'_>, now: Timestamp) -> Vec<Login> {
    let mut found: Vec<(bool, Login)> = kept(known)
        .into_iter()
        .filter_map(|(site, kept)| Some((!kept.is_shown, kept.login(site, now)?)))
        .collect();
    found.sort_by(|(hidden, one), (other_hidden, other)| {
        let likely = other.likelihood.cmp(&one.likelihood);
        likely.then(hidden.cmp(other_hidden)).then_with(|| one.site.cmp(&other.site))
    });
    found.into_iter().map(|(_, login)| login).collect()
}

fn kept(known: Known<'_>) -> BTreeMap<Site, Kept<'_>> {
    let mut sites: BTreeMap<Site, Kept<'_>> = BTreeMap::new();
    let marks = Marks::new(known.sign_ins);
    for cookie in &known.state.cookies {
        let judged = of_a_cookie(cookie, &marks);
        sites.entry(cookie.site()).or_default().cookies.push((cookie, judged));
    }
    for (key, judged) in stored(known, &marks) {
        let kept = sites.entry(key.site()).or_default();
        kept.stored = Some(kept.stored.map_or(judged, |stored| stored.or(judged)));
        kept.hosts.extend(host(key).filter(|_| judged.is_login()));
        kept.origin.get_or_insert_with(|| key.origin().to_owned());
    }
    for tab in &known.state.tabs {
        let Some(origin) = Url::parse(&tab.url).ok().filter(Url::has_host) else { continue };
        let origin = origin.origin().ascii_serialization();
        if let Some(kept) = sites.get_mut(&Site::of_origin(&origin)).filter(|kept| !kept.is_shown) {
            kept.is_shown = true;
            kept.origin = Some(origin);
        }
    }
    sites
}

fn of_a_cookie<'s>(cookie: &Cookie, marks: &Marks<'s>) -> Judged<'s> {
    Judged::new(of_cookie(cookie), marks.of_cookie(cookie))
}

/// What storage says, key by key: what was loaded, what was not, and what tabs alone have.
fn stored<'s>(
    known: Known<'s>,
    marks: &Marks<'s>,
) -> impl Iterator<Item = (&'s StorageKey, Judged<'s>)> {
    let loaded = known.state.origins.iter();
    let loaded = loaded.filter_map(|(key, origin)| Some((key, of_origin(key, origin, marks)?)));
    // What it says is known only once it is loaded.
    let others = known.stored.iter();
    let others = others.map(|key| (key, Judged::new(Sign::Possible, marks.of_key(key))));
    let areas = areas(known.state).filter_map(|(key, entries)| {
        Some((key, of_entries(ItemKind::SessionStorage, key, entries, marks)?))
    });
    loaded.chain(others).chain(areas)
}

impl Kept<'_> {
    /// None where nothing ever was a login.
    fn login(self, site: Site, now: Timestamp) -> Option<Login> {
        let lives = |cookie: &Cookie| cookie.expires.is_none_or(|end| end.0 > now.as_microsecond());
        let living = self.cookies.iter().filter(|(cookie, _)| lives(cookie));
        let living = living.map(|(_, judged)| *judged).chain(self.stored).reduce(Judged::or);
        let was = self.cookies.iter().any(|(_, judged)| judged.is_login());
        let likelihood = match living.map(|living| living.sign) {
            Some(Sign::Likely) => Likelihood::Likely,
            Some(Sign::Possible) => Likelihood::Possible,
            _ if was => Likelihood::Over,
            _ => return None,
        };
        let address = self.origin.unwrap_or_else(|| format!("https://{}", site.as_str()));
        let is_stored = self.stored.is_some_and(|stored| stored.is_login());
        let sign_in = living.and_then(|living| living.sign_in).cloned();
        let signs =
            self.cookies.iter().filter(|(cookie, judged)| lives(cookie) && judged.is_login());
        let mut hosts = self.hosts;
        hosts.extend(signs.map(|(cookie, _)| cookie.domain.clone()));
        let cookies: Vec<&Cookie> = self.cookies.iter().map(|(cookie, _)| *cookie).collect();
        let forecast = of_cookies(&cookies, now);
        Some(Login { site, likelihood, address, is_stored, hosts, sign_in, forecast })
    }
}

/// Checks that a session is logged in at `now`, once it is handed in: for each of these domains, or for any site
/// when none is named.
pub fn expect_login(known: Known<'_>, domains: &[Domain], now: Timestamp) -> Result<(), NoLogin> {
    if domains.is_empty() {
        let any = Wanted { place: "any site".to_owned() };
        return any.expect(known, |_| true, |_| true, now);
    }
    domains.iter().try_for_each(|domain| {
        let counts = |cookie: &Cookie| counts_for(cookie, domain);
        let has = |key: &StorageKey| host(key).is_some_and(|host| domain.has(&host));
        let wanted = Wanted { place: domain.to_string() };
        wanted.expect(known, counts, has, now)
    })
}

/// For what a login is wanted.
struct Wanted {
    place: String,
}

impl Wanted {
    fn expect(
        self,
        known: Known<'_>,
        counts: impl Fn(&Cookie) -> bool,
        has: impl Fn(&StorageKey) -> bool,
        now: Timestamp,
    ) -> Result<(), NoLogin> {
        let Self { place } = self;
        let (state, marks) = (known.state, Marks::new(known.sign_ins));
        let (signs, others): (Vec<&Cookie>, Vec<&Cookie>) = state
            .cookies
            .iter()
            .filter(|cookie| counts(cookie))
            .partition(|cookie| of_a_cookie(cookie, &marks).is_login());
        let is_stored = stored(known, &marks).any(|(key, judged)| has(key) && judged.is_login());
        if is_stored || of_cookies(&signs, now).cookies > 0 {
            return Ok(());
        }
        let last = signs.iter().filter_map(|cookie| cookie.expires).max();
        if let Some(ended) = last.and_then(|end| Timestamp::from_microsecond(end.0).ok()) {
            return Err(NoLogin::Expired { place, ended });
        }
        let local = state.origins.iter().map(|(key, origin)| (key, &origin.local_storage));
        let here = local.chain(areas(state)).filter(|(key, _)| has(key));
        let keys = here.flat_map(|(_, entries)| entries.0.keys());
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
fn of_origin<'s>(key: &StorageKey, origin: &OriginState, marks: &Marks<'s>) -> Option<Judged<'s>> {
    let entries = of_entries(ItemKind::LocalStorage, key, &origin.local_storage, marks);
    let databases = origin.databases.iter().map(of_database);
    // What is in the browser's own folders, only a page knows.
    let raw = origin.raw.first().map(|_| Sign::Possible);
    let others = databases.chain(raw).map(|sign| Judged::new(sign, None));
    others.chain(entries).reduce(Judged::or)
}

/// What web storage says; none when it holds nothing.
fn of_entries<'s>(
    kind: ItemKind,
    key: &StorageKey,
    entries: &Entries,
    marks: &Marks<'s>,
) -> Option<Judged<'s>> {
    let judged =
        |(name, value)| Judged::new(of_entry(name, value), marks.of_entry(kind, key, name));
    entries.0.iter().map(judged).reduce(Judged::or)
}

/// The sessionStorage of all tabs, also that of frames of other sites, which belongs to the frame's own site. What no
/// document can have again is no login.
fn areas(state: &State) -> impl Iterator<Item = (&StorageKey, &Entries)> {
    let all = state.tabs.iter().flat_map(|tab| &tab.session_storage);
    all.filter(|(key, _)| key.is_reachable())
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
