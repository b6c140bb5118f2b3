//! A part of a state: which sites of a session, and which kinds of what a browser keeps, a peer sees of it;
//! or what belongs to some domains.
//!
//! The one idea: what belongs together stays together. The unit is the registrable site, for cookies and
//! tokens of one site are worth nothing without each other; and within it the kind. Whose something is
//! says its own host: that of a frame in another site is the frame's, not the site's around it. The way out
//! to the network is of no kind: it goes along with whatever is given of a session, and no part says what it is.

use crate::egress::Egress;
use crate::receipt::{ItemKind, Receipt, ReceiptItem};
use crate::state::{Environment, OriginState, State};
use crate::storage::{Site, StorageKey};
use crate::tab::{History, Tab};
use crate::text_form::words;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use std::fmt;
use std::str::FromStr;
use url::{Host, Url};

/// How many sites a view names at most.
pub const SITES_MAX: usize = 256;

words! {
    /// A kind of what a browser keeps.
    StateKind, else UnknownStateKind ("kind of state"):
    /// Cookies.
    Cookies "cookies",
    /// localStorage.
    LocalStorage "local-storage",
    /// IndexedDB.
    Databases "databases",
    /// Cache Storage.
    Caches "caches",
    /// The origin private file system.
    Files "files",
    /// Service worker registrations.
    ServiceWorkers "service-workers",
    /// Tabs with their history and their sessionStorage.
    Tabs "tabs",
    /// What sites may do; and viewport, user agent, time zone, locale and place, which are no site's.
    Environment "environment",
}

/// Which sites of a session, and which kinds of what a browser keeps, somebody sees of it.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct View {
    /// The registrable domains, or hosts that have none; left out, all of them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schema(value_type = Option<Vec<String>>))]
    pub sites: Option<BTreeSet<Site>>,
    /// The kinds; left out, all of them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schema(value_type = Option<Vec<StateKind>>))]
    pub kinds: Option<BTreeSet<StateKind>>,
}

impl View {
    /// Of everything.
    pub fn whole() -> Self {
        Self::default()
    }

    /// Whether it leaves out nothing.
    pub fn is_whole(&self) -> bool {
        *self == Self::default()
    }

    /// Whether it leaves out everything.
    pub fn is_empty(&self) -> bool {
        let is_none = |found: Option<usize>| found == Some(0);
        is_none(self.sites.as_ref().map(BTreeSet::len))
            || is_none(self.kinds.as_ref().map(BTreeSet::len))
    }

    /// Whether a kind of a site is in it; of what is no site's when none is named.
    pub fn has(&self, site: Option<&Site>, kind: StateKind) -> bool {
        let has_site = |sites: &BTreeSet<Site>| site.is_none_or(|site| sites.contains(site));
        self.sites.as_ref().is_none_or(has_site)
            && self.kinds.as_ref().is_none_or(|kinds| kinds.contains(&kind))
    }

    /// Whether all of another one is in it.
    pub fn contains(&self, other: &Self) -> bool {
        other.is_empty()
            || is_within(other.sites.as_ref(), self.sites.as_ref())
                && is_within(other.kinds.as_ref(), self.kinds.as_ref())
    }

    /// What is in both.
    #[must_use]
    pub fn meet(&self, other: &Self) -> Self {
        Self {
            sites: meet(self.sites.as_ref(), other.sites.as_ref()),
            kinds: meet(self.kinds.as_ref(), other.kinds.as_ref()),
        }
    }
}

fn is_within<T: Ord>(part: Option<&BTreeSet<T>>, whole: Option<&BTreeSet<T>>) -> bool {
    whole.is_none_or(|whole| part.is_some_and(|part| part.is_subset(whole)))
}

fn meet<T: Ord + Clone>(
    one: Option<&BTreeSet<T>>,
    other: Option<&BTreeSet<T>>,
) -> Option<BTreeSet<T>> {
    match (one, other) {
        (Some(one), Some(other)) => Some(one & other),
        (one, other) => one.or(other).cloned(),
    }
}

impl fmt::Display for View {
    /// As a person reads it: `cookies and tabs of shop.test`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fn list<T: fmt::Display>(these: &BTreeSet<T>) -> String {
            let words: Vec<String> = these.iter().map(T::to_string).collect();
            match words.as_slice() {
                [] => "nothing".to_owned(),
                [only] => only.clone(),
                [first @ .., last] => format!("{} and {last}", first.join(", ")),
            }
        }
        let kinds = self.kinds.as_ref().map_or_else(|| "everything".to_owned(), list);
        match &self.sites {
            None => f.pad(&kinds),
            Some(sites) if sites.is_empty() => f.pad("nothing"),
            Some(sites) => f.pad(&format!("{kinds} of {}", list(sites))),
        }
    }
}

impl View {
    /// What of a state is in it, in normal form. A tab keeps the sessionStorage of sites that are in the
    /// view, and its history when that led nowhere else: its entries are places in a row.
    pub fn of(&self, state: &State) -> State {
        let mut seen = State { environment: state.environment.clone(), ..State::default() };
        let has = |site: &Site, kind| self.has(Some(site), kind);
        let cookies = state.cookies.iter();
        seen.cookies =
            cookies.filter(|one| has(&one.site(), StateKind::Cookies)).cloned().collect();
        for (key, origin) in &state.origins {
            let site = key.site();
            let kept = pick(origin, &OriginState::default(), |kind| has(&site, kind));
            seen.origins.insert(key.clone(), kept);
        }
        let tabs = state.tabs.iter().filter(|tab| has(&tab_site(tab), StateKind::Tabs));
        seen.tabs = tabs.map(|tab| self.of_tab(tab)).collect();
        if !self.has(None, StateKind::Environment) {
            seen.environment = Environment::default();
        }
        let permissions = &mut seen.environment.permissions;
        permissions.retain(|one| has(&Site::of_origin(&one.origin), StateKind::Environment));
        seen.environment.egress = self.way_out(state);
        seen.normalize();
        seen
    }

    /// The way out of a state as it goes along with what is in the view: a login that came without it would go
    /// everywhere. Who comes to its proxy is told only to a node that sees all of the session.
    pub fn way_out(&self, state: &State) -> Option<Egress> {
        let egress = state.environment.egress.as_ref().filter(|_| !self.is_empty())?;
        Some(if self.is_whole() { egress.clone() } else { egress.without_credentials() })
    }

    /// Whether a state in normal form has nothing that is not in it.
    pub fn holds(&self, state: &State) -> bool {
        self.of(state) == *state
    }

    fn of_tab(&self, tab: &Tab) -> Tab {
        let has = |site: &Site| self.has(Some(site), StateKind::Tabs);
        let mut seen = tab.clone();
        seen.session_storage.retain(|key, _| has(&key.site()));
        if leads_out(&tab.history, has) {
            seen.history = History::default();
        }
        seen
    }
}

/// Whether a history has been at a site that is not one of these.
fn leads_out(history: &History, has: impl Fn(&Site) -> bool) -> bool {
    !history.entries.iter().all(|entry| has(&Site::of_origin(&entry.url)))
}

/// Whose a tab is: that of the page that it shows.
fn tab_site(tab: &Tab) -> Site {
    Site::of_origin(&tab.url)
}

/// Of what two states hold of one storage key, each kind from one of the two.
fn pick(
    one: &OriginState,
    other: &OriginState,
    is_from_one: impl Fn(StateKind) -> bool,
) -> OriginState {
    let from = |kind| if is_from_one(kind) { one } else { other };
    OriginState {
        local_storage: from(StateKind::LocalStorage).local_storage.clone(),
        databases: from(StateKind::Databases).databases.clone(),
        raw: from(StateKind::Databases).raw.clone(),
        caches: from(StateKind::Caches).caches.clone(),
        files: from(StateKind::Files).files.clone(),
        service_workers: from(StateKind::ServiceWorkers).service_workers.clone(),
    }
}

/// Puts over a state what another one says about some sites and kinds; no site means what is no site's.
///
/// A node that says what of a session is its to say changes nothing else of it. What it does not see stays
/// where it is: other tabs at their places, and in its own tabs the sessionStorage of other sites and a
/// history that led there. The way out is never its to say: that stays where it is.
pub fn mix(
    over: &State,
    under: &State,
    is_over: impl Fn(Option<&Site>, StateKind) -> bool,
) -> State {
    let of_site = |site: &Site, kind| is_over(Some(site), kind);
    let mut mixed = State {
        cookies: each(&over.cookies, &under.cookies, |one| {
            of_site(&one.site(), StateKind::Cookies)
        }),
        tabs: tabs(over, under, |site| of_site(site, StateKind::Tabs)),
        environment: environment(over, under, &is_over),
        ..State::default()
    };
    let nothing = OriginState::default();
    let keys: BTreeSet<&StorageKey> = over.origins.keys().chain(under.origins.keys()).collect();
    for key in keys {
        let site = key.site();
        let [one, other] = [over, under].map(|state| state.origins.get(key).unwrap_or(&nothing));
        mixed.origins.insert(key.clone(), pick(one, other, |kind| of_site(&site, kind)));
    }
    mixed.normalize();
    mixed
}

/// Those of `over` that are over, and those of `under` that are not.
fn each<T: Clone>(over: &[T], under: &[T], is_over: impl Fn(&T) -> bool) -> Vec<T> {
    let taken = over.iter().filter(|one| is_over(one));
    let left = under.iter().filter(|one| !is_over(one));
    taken.chain(left).cloned().collect()
}

fn environment(
    over: &State,
    under: &State,
    is_over: impl Fn(Option<&Site>, StateKind) -> bool,
) -> Environment {
    let [over, under] = [over, under].map(|state| &state.environment);
    let from = if is_over(None, StateKind::Environment) { over } else { under };
    let permissions = each(&over.permissions, &under.permissions, |one| {
        is_over(Some(&Site::of_origin(&one.origin)), StateKind::Environment)
    });
    Environment { permissions, egress: under.egress.clone(), ..from.clone() }
}

/// The tabs: those of `under` at their places, and at the places of those that are over the ones of
/// `over`, in their order.
fn tabs(over: &State, under: &State, is_over: impl Fn(&Site) -> bool) -> Vec<Tab> {
    let is_theirs = |tab: &&Tab| is_over(&tab_site(tab));
    let theirs: Vec<&Tab> = over.tabs.iter().filter(is_theirs).collect();
    let theirs_below: Vec<&Tab> = under.tabs.iter().filter(is_theirs).collect();
    let mut theirs = with_partners(&theirs, &theirs_below).into_iter();
    let mut left = theirs_below.len();
    let mut tabs = Vec::new();
    for tab in &under.tabs {
        if !is_theirs(&tab) {
            tabs.push(tab.clone());
            continue;
        }
        left -= 1;
        // Those that have no place of their own follow the last one that has.
        let many = if left == 0 { usize::MAX } else { 1 };
        let placed = theirs.by_ref().take(many);
        tabs.extend(placed.map(|(tab, partner)| joined(tab, partner, &is_over)));
    }
    tabs.extend(theirs.map(|(tab, partner)| joined(tab, partner, &is_over)));
    // A node that does not see the tab in front cannot say that another one is.
    if under.active_tab().is_some_and(|tab| tab.active && !is_theirs(&tab)) {
        let in_front = tabs.iter().position(|tab| tab.active && !is_theirs(&tab));
        tabs.iter_mut().enumerate().for_each(|(at, tab)| tab.active = Some(at) == in_front);
    }
    tabs
}

/// Each with the tab at `places` that it is: in their order when there are as many, else the next one at
/// the same address.
fn with_partners<'a>(theirs: &[&'a Tab], places: &[&'a Tab]) -> Vec<(&'a Tab, Option<&'a Tab>)> {
    if theirs.len() == places.len() {
        return theirs.iter().copied().zip(places.iter().copied().map(Some)).collect();
    }
    let mut is_used = vec![false; places.len()];
    let mut partner = |tab: &Tab| {
        let mut free = places.iter().zip(&mut is_used).filter(|(_, is_used)| !**is_used);
        let (place, is_used) = free.find(|(place, _)| place.url == tab.url)?;
        *is_used = true;
        Some(*place)
    };
    theirs.iter().map(|tab| (*tab, partner(tab))).collect()
}

/// A tab with what the node that speaks of it does not see of it.
fn joined(tab: &Tab, partner: Option<&Tab>, is_over: impl Fn(&Site) -> bool) -> Tab {
    let mut joined = tab.clone();
    joined.session_storage.retain(|key, _| is_over(&key.site()));
    let Some(partner) = partner else { return joined };
    let others = partner.session_storage.iter().filter(|(key, _)| !is_over(&key.site()));
    joined.session_storage.extend(others.map(|(key, entries)| (key.clone(), entries.clone())));
    let is_unmoved = tab.history.is_empty() && tab.url == partner.url;
    if is_unmoved && leads_out(&partner.history, &is_over) {
        joined.history = partner.history.clone();
    }
    joined
}

/// A domain and all that is below it; or one address of a machine.
///
/// It counts label by label: `example.com` has `www.example.com`, and never `notexample.com`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Domain(Host);

/// A text that is no domain.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("expected a domain such as example.com, without a scheme, port or path, found {0:?}")]
pub struct BadDomain(String);

impl FromStr for Domain {
    type Err = BadDomain;

    fn from_str(text: &str) -> Result<Self, BadDomain> {
        let name = text.strip_prefix("*.").or(text.strip_prefix('.')).unwrap_or(text);
        let name = name.strip_suffix('.').unwrap_or(name);
        let bad = || BadDomain(text.to_owned());
        let host = Host::parse(name).map_err(|_| bad())?;
        let is_bad = |label: &str| label.is_empty() || label.contains('*');
        match &host {
            Host::Domain(name) if name.split('.').any(is_bad) => Err(bad()),
            _ => Ok(Self(host)),
        }
    }
}

impl fmt::Display for Domain {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.0.to_string())
    }
}

impl Domain {
    /// Whether a host, or the domain of a cookie, is this one or below it.
    pub fn has(&self, host: &str) -> bool {
        let host = host.strip_prefix('.').unwrap_or(host).trim_end_matches('.');
        let own = self.0.to_string();
        let Some(rest) = host.len().checked_sub(own.len()) else { return false };
        let (Some(below), Some(end)) = (host.get(..rest), host.get(rest..)) else { return false };
        let is_below = below.ends_with('.') && matches!(self.0, Host::Domain(_));
        end.eq_ignore_ascii_case(&own) && (below.is_empty() || is_below)
    }
}

/// Takes out of a state what belongs to none of the domains. The environment stays, permissions aside.
pub fn keep(state: &mut State, domains: &[Domain]) {
    let has = |host: &str| domains.iter().any(|domain| domain.has(host));
    let owns = |address: &str| host_of(address).is_some_and(|host| has(&host));
    state.cookies.retain(|cookie| has(&cookie.domain));
    state.origins.retain(|key, _| owns(key.origin()));
    state.tabs.retain(|tab| owns(&tab.url));
    state.tabs.iter_mut().for_each(|tab| keep_in_tab(tab, &owns));
    state.environment.permissions.retain(|permission| owns(&permission.origin));
}

/// Of a tab that stays: what it holds of others. A history that led elsewhere is left out, for its
/// entries are places in a row.
fn keep_in_tab(tab: &mut Tab, owns: &impl Fn(&str) -> bool) {
    tab.session_storage.retain(|key, _| owns(key.origin()));
    if !tab.history.entries.iter().all(|entry| owns(&entry.url)) {
        tab.history = History::default();
    }
}

/// The lines of a receipt about these domains, and those that are about none.
pub fn concerning(receipt: Receipt, domains: &[Domain]) -> Receipt {
    let has = |host: &str| domains.iter().any(|domain| domain.has(host));
    let items = receipt.items.into_iter();
    items.filter(|item| host_in(item).is_none_or(|host| has(&host))).collect()
}

/// The host in the place of an item; none when it is about no single one.
fn host_in(item: &ReceiptItem) -> Option<String> {
    if item.kind == ItemKind::Cookie {
        return item.place.split_once('/').map(|(domain, _)| domain.to_owned());
    }
    item.place.split_whitespace().find_map(|word| host_of(StorageKey::new(word).origin()))
}

fn host_of(address: &str) -> Option<String> {
    Url::parse(address).ok()?.host_str().map(str::to_owned)
}
