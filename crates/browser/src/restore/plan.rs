//! The plan of a restore, which page fills which storage key, and the ground for it: which sites the profile
//! holds later than the snapshot.
//!
//! The one idea: a tab has to visit the origins of its own sessionStorage anyway, so it fills their
//! localStorage and databases on the way. Only keys that no tab visits need a page of their own. A key
//! that a tab shows and the snapshot does not name held nothing: what a profile has there still, say
//! the token from before a logout, must not rise again.
//!
//! A login is cookies and storage of one instant. A site whose refresh token rotates is
//! logged out by an old token beside a new cookie, so of each registrable site one side is taken as a
//! whole: the one that was written later. The profile is taken only when nothing in it is older than
//! what the snapshot holds; else the snapshot is, which was promised.

use super::visit::{FillVisit, Made, own_key};
use crate::profile::at_rest::{AtRest, Instant};
use baton_session::cookie::{Expiry, PartitionKey};
use baton_session::receipt::ReceiptItem;
use baton_session::state::OriginState;
use baton_session::{Cookie, Entries, Receipt, Site, State, StorageKey, Tab};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

static EMPTY: Entries = Entries(BTreeMap::new());

/// Which page fills which storage key.
#[derive(Debug)]
pub(super) struct Plan<'a> {
    /// For each tab, its visits; the last one is at the tab's own address.
    pub(super) tabs: Vec<Vec<FillVisit<'a>>>,
    /// Keys that no tab visits.
    pub(super) hidden: Vec<FillVisit<'a>>,
    /// Items of keys to which no document of ours can belong.
    pub(super) unreachable: Receipt,
    /// Items of keys that the profile holds already, so that no page has to look.
    pub(super) at_rest: Receipt,
}

impl<'a> Plan<'a> {
    /// Spreads the keys of a state over its tabs and hidden pages, but for those that no tab visits
    /// and the ground holds. The caches, files and workers of `later` sites stay as they are.
    pub(super) fn new(state: &'a State, ground: Option<&Ground>, later: &BTreeSet<Site>) -> Self {
        let mut unreachable = Receipt::default();
        let mut at_rest = Receipt::default();
        let mut open: BTreeMap<StorageKey, FillVisit<'a>> = BTreeMap::new();
        for key in state.tabs.iter().filter_map(|tab| own_key(&tab.url)) {
            open.insert(key.clone(), FillVisit { local: Some(&EMPTY), ..FillVisit::new(key) });
        }
        for (key, origin) in &state.origins {
            let mut visit = FillVisit {
                local: Some(&origin.local_storage),
                databases: origin.databases.iter().collect(),
                stored: has_stored(origin).then_some(origin),
                ..FillVisit::new(key.clone())
            };
            if later.contains(&key.site()) {
                at_rest.extend(visit.leave_stored());
            }
            if let Some(ground) = ground {
                at_rest.extend(visit.leave_made(&ground.made));
            }
            if is_reachable(key) {
                open.insert(key.clone(), visit);
            } else if ground.is_some_and(|ground| ground.holds(&visit)) {
                at_rest.extend(visit.held());
            } else {
                unreachable.extend(not_portable(&visit));
            }
        }
        let tabs = state.tabs.iter().map(|tab| tab_visits(tab, &mut open, &mut unreachable));
        let tabs = tabs.collect();
        open.retain(|_, visit| {
            let is_held = ground.is_some_and(|ground| ground.holds(visit));
            if is_held {
                at_rest.extend(visit.held());
            }
            !is_held
        });
        Self { tabs, hidden: open.into_values().collect(), unreachable, at_rest }
    }
}

fn tab_visits<'a>(
    tab: &'a Tab,
    open: &mut BTreeMap<StorageKey, FillVisit<'a>>,
    unreachable: &mut Receipt,
) -> Vec<FillVisit<'a>> {
    let own = own_key(&tab.url);
    let mut keys: BTreeSet<StorageKey> = tab.session_storage.keys().cloned().collect();
    keys.extend(own.clone());
    let mut visits = Vec::new();
    for key in keys {
        let session = tab.session_storage.get(&key);
        if is_reachable(&key) {
            let shared = open.remove(&key).unwrap_or_else(|| FillVisit::new(key));
            visits.push(FillVisit { session, ..shared });
        } else {
            unreachable.extend(not_portable(&FillVisit { session, ..FillVisit::new(key) }));
        }
    }
    // The tab's own document comes last, so that the tab ends where it belongs.
    visits.sort_by_key(|visit| Some(&visit.key) == own.as_ref());
    visits
}

fn is_reachable(key: &StorageKey) -> bool {
    let is_web = key.origin().starts_with("http://") || key.origin().starts_with("https://");
    key.is_reachable() && is_web
}

fn has_stored(origin: &OriginState) -> bool {
    let OriginState { caches, files, service_workers, .. } = origin;
    !(caches.is_empty() && files.is_empty() && service_workers.is_empty())
}

fn not_portable(visit: &FillVisit<'_>) -> Receipt {
    let mut receipt = super::refused(visit, "no document of ours can have this storage key");
    let items = std::mem::take(&mut receipt.items);
    let mut receipt = Receipt::default();
    for item in items {
        let reason = item.reason.unwrap_or_default();
        receipt.push(ReceiptItem::not_portable(item.kind, item.place, reason));
    }
    receipt
}

/// A profile that belongs to the snapshot: what it holds is what the browser of the snapshot left.
#[derive(Debug)]
pub struct Ground {
    /// What it holds.
    pub at_rest: AtRest,
    /// When the snapshot was taken.
    pub taken_at: Instant,
    /// Whether the machine has run ever since: then all that the browser wrote is on the disk, and
    /// what was not written since is as it was.
    pub same_boot: bool,
    /// Whether no browser of the session wrote it: it was compiled of this snapshot, or of one before it.
    pub is_compiled: bool,
    /// What of it was made of the same parts as the snapshot has.
    pub made: Made,
}

impl Ground {
    /// A profile in which nothing is but the cookies and the localStorage of a snapshot of `taken_at`,
    /// read back from the disk. Blocks on the disk.
    pub fn compiled(profile: &Path, taken_at: Instant) -> Self {
        let at_rest = AtRest::read_local_storage(profile);
        let made = Made::default();
        Self { at_rest, taken_at, same_boot: false, is_compiled: true, made }
    }

    /// The same with what only pages make, of which `made` is as the snapshot has it.
    #[must_use]
    pub fn with_pages(self, made: Made) -> Self {
        Self { made, ..self }
    }

    /// Whether a cookie can have changed after the snapshot.
    pub(super) fn has_later_cookies(&self) -> bool {
        self.at_rest.cookies.is_some_and(|at| at > self.taken_at)
    }

    /// The sites that the profile holds later, and nothing of them earlier. `found` are the cookies
    /// that the browser found in the profile.
    pub(super) fn later_sites(
        &self,
        wanted: &State,
        found: &[Cookie],
        now: Expiry,
    ) -> BTreeSet<Site> {
        let mut tally = Tally::default();
        for site in differing_cookies(wanted, found, now) {
            tally.note(site, self.has_later_cookies());
        }
        for (key, area) in &self.at_rest.local {
            let known = wanted.origins.get(key).map(|origin| &origin.local_storage);
            let is_later = area.changed.is_some_and(|at| self.is_later(at));
            // What the snapshot does not know, and is older, was deleted before it or never seen.
            if area.entries != *known.unwrap_or(&EMPTY) && (is_later || known.is_some()) {
                tally.note(key.site(), is_later);
            }
        }
        for (key, origin) in &wanted.origins {
            if !origin.local_storage.is_empty() && !self.at_rest.local.contains_key(key) {
                tally.note(key.site(), false);
            }
            if !origin.databases.is_empty() && self.was_written_later(key) {
                tally.note(key.site(), true);
            }
        }
        tracing::debug!(later = ?tally.later, earlier = ?tally.earlier, "profile and snapshot differ");
        &tally.later - &tally.earlier
    }

    /// Makes the state that of the profile for `sites`, but for databases, which only a page can read.
    pub(super) fn prefer(&self, sites: &BTreeSet<Site>, wanted: &mut State, found: Vec<Cookie>) {
        let mut found: Vec<Cookie> =
            found.into_iter().filter(|cookie| sites.contains(&cookie.site())).collect();
        let (theirs, rest) =
            wanted.cookies.drain(..).partition(|cookie| sites.contains(&cookie.site()));
        wanted.cookies = rest;
        keep_ended(theirs, &mut found);
        wanted.cookies.extend(found);
        for (key, origin) in &mut wanted.origins {
            if sites.contains(&key.site()) {
                origin.local_storage = Entries::default();
            }
        }
        for (key, area) in &self.at_rest.local {
            if sites.contains(&key.site()) {
                let origin = wanted.origins.entry(key.clone()).or_default();
                origin.local_storage.clone_from(&area.entries);
            }
        }
    }

    /// Whether the profile holds of a key exactly what a visit would bring, as far as the disk can
    /// tell, so that no page has to look.
    pub(super) fn holds(&self, visit: &FillVisit<'_>) -> bool {
        let local = self.at_rest.local.get(&visit.key).map_or(&EMPTY, |area| &area.entries);
        visit.session.is_none()
            && local == visit.local.unwrap_or(&EMPTY)
            && (visit.databases.is_empty() || self.is_untouched(&visit.key))
            && visit.stored.is_none_or(|origin| self.holds_stored(&visit.key, origin))
    }

    /// Whether the databases of a key are on the disk and were not written after the snapshot.
    pub(super) fn is_untouched(&self, key: &StorageKey) -> bool {
        self.stands_since(self.at_rest.files.databases(key))
    }

    fn holds_stored(&self, key: &StorageKey, origin: &OriginState) -> bool {
        let files = &self.at_rest.files;
        (origin.files.is_empty() || self.stands_since(files.systems(key)))
            && (origin.caches.is_empty() || self.stands_since(files.caches(key)))
            && (origin.service_workers.is_empty() || self.stands_since(files.workers()))
    }

    fn stands_since(&self, written: Option<Instant>) -> bool {
        self.same_boot && written.is_some_and(|at| !self.is_later(at))
    }

    fn was_written_later(&self, key: &StorageKey) -> bool {
        self.at_rest.files.databases(key).is_some_and(|at| self.is_later(at))
    }

    fn is_later(&self, at: Instant) -> bool {
        at > self.taken_at
    }
}

/// What speaks for the profile, and what against it.
#[derive(Default)]
struct Tally {
    later: BTreeSet<Site>,
    earlier: BTreeSet<Site>,
}

impl Tally {
    fn note(&mut self, site: Site, is_later: bool) {
        if is_later { &mut self.later } else { &mut self.earlier }.insert(site);
    }
}

/// The sites whose cookies are not those of the snapshot. One that ends with the browser may be
/// missing in the profile.
fn differing_cookies(wanted: &State, found: &[Cookie], now: Expiry) -> BTreeSet<Site> {
    let valid = wanted.cookies.iter().filter(|cookie| cookie.validate(now).is_ok());
    let wanted: BTreeMap<_, _> = valid.map(|cookie| (identity(cookie), cookie)).collect();
    let found: BTreeMap<_, _> = found.iter().map(|cookie| (identity(cookie), cookie)).collect();
    let changed = wanted.iter().filter(|(identity, cookie)| match found.get(*identity) {
        Some(found) => found.value != cookie.value,
        None => cookie.expires.is_some(),
    });
    let new = found.iter().filter(|(identity, _)| !wanted.contains_key(*identity));
    changed.chain(new).map(|(_, cookie)| cookie.site()).collect()
}

/// Puts the cookies that end with the browser among those that were found: one that ended by itself dropped
/// them, and no one logged out. Each comes before the one that was set after it.
fn keep_ended(known: Vec<Cookie>, found: &mut Vec<Cookie>) {
    let position = |found: &[Cookie], cookie: &Cookie| {
        found.iter().position(|other| identity(other) == identity(cookie))
    };
    let mut before = found.len();
    for cookie in known.into_iter().rev() {
        match position(found, &cookie) {
            Some(at) => before = at,
            None if cookie.expires.is_none() => found.insert(before, cookie),
            None => {}
        }
    }
}

/// What stays the same when the browser takes a cookie: the source's scheme may not.
pub(super) fn identity(cookie: &Cookie) -> (&str, &str, &str, Option<&PartitionKey>) {
    (&cookie.domain, &cookie.path, &cookie.name, cookie.partition_key.as_ref())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::profile::local_storage::Area;
    use baton_session::Database;

    const SNAPSHOT: Instant = Instant(1_000);
    const NOW: Expiry = Expiry(5_000);

    /// A site with a token in a cookie and one in localStorage, in the snapshot and on the disk.
    struct Case {
        cookie: [&'static str; 2],
        /// When the disk's cookies were written, and its localStorage.
        written: [i64; 2],
        local: [&'static str; 2],
    }

    impl Case {
        fn ground(&self) -> Ground {
            let area =
                Area { entries: entries(self.local[1]), changed: Some(Instant(self.written[1])) };
            let at_rest = AtRest {
                local: BTreeMap::from([(key(), area)]),
                cookies: Some(Instant(self.written[0])),
                ..AtRest::default()
            };
            Ground {
                at_rest,
                taken_at: SNAPSHOT,
                same_boot: true,
                is_compiled: false,
                made: Made::default(),
            }
        }

        fn wanted(&self) -> State {
            let mut wanted = State { cookies: vec![cookie(self.cookie[0])], ..State::default() };
            wanted.origins.entry(key()).or_default().local_storage = entries(self.local[0]);
            wanted
        }

        fn takes_the_disk(&self) -> bool {
            let found = [cookie(self.cookie[1])];
            !self.ground().later_sites(&self.wanted(), &found, NOW).is_empty()
        }
    }

    fn key() -> StorageKey {
        StorageKey::first_party("https://app.test")
    }

    fn entries(token: &str) -> Entries {
        [("token", token)].into_iter().collect()
    }

    fn cookie(value: &str) -> Cookie {
        serde_json::from_value(serde_json::json!({
            "name": "token", "value": value, "domain": "app.test", "path": "/", "expires": 9_000,
        }))
        .unwrap()
    }

    #[test]
    fn a_site_is_taken_from_the_side_that_was_written_later() {
        let case = |cookie, local, written| Case { cookie, written, local }.takes_the_disk();
        // Equal: nothing to choose.
        assert!(!case(["a", "a"], ["a", "a"], [2_000, 2_000]));
        // The disk lags behind, or runs ahead.
        assert!(!case(["b", "a"], ["b", "a"], [500, 500]));
        assert!(case(["a", "b"], ["a", "b"], [2_000, 2_000]));
        // A part of it lags behind: what was promised is in the snapshot.
        assert!(!case(["b", "a"], ["a", "b"], [500, 2_000]));
        assert!(!case(["a", "b"], ["b", "a"], [2_000, 500]));
        // Only one of the two has changed since.
        assert!(case(["a", "a"], ["a", "b"], [500, 2_000]));
        assert!(case(["a", "b"], ["a", "a"], [2_000, 500]));
    }

    #[test]
    fn what_ends_with_the_browser_is_no_sign_and_stays() {
        let case = Case { cookie: ["a", "a"], written: [2_000, 2_000], local: ["a", "b"] };
        let (ground, mut wanted) = (case.ground(), case.wanted());
        wanted.cookies.push(Cookie { name: "open".into(), expires: None, ..cookie("secret") });
        let found = vec![cookie("a")];
        let later = ground.later_sites(&wanted, &found, NOW);
        assert_eq!(later.len(), 1);
        ground.prefer(&later, &mut wanted, found);
        let names: Vec<_> = wanted.cookies.iter().map(|cookie| cookie.name.as_str()).collect();
        assert_eq!(names, ["token", "open"], "in the order in which they were set");
        assert_eq!(wanted.origins[&key()].local_storage, entries("b"));
    }

    #[test]
    fn a_page_need_not_look_at_what_the_disk_holds_already() {
        let case = Case { cookie: ["a", "a"], written: [500, 500], local: ["a", "a"] };
        let (mut ground, mut wanted) = (case.ground(), case.wanted());
        let holds = |ground: &Ground, wanted: &State| {
            let origin = &wanted.origins[&key()];
            ground.holds(&FillVisit {
                local: Some(&origin.local_storage),
                databases: origin.databases.iter().collect(),
                ..FillVisit::new(key())
            })
        };
        assert!(holds(&ground, &wanted));
        let origin = wanted.origins.get_mut(&key()).unwrap();
        origin.databases.push(Database { name: "d".into(), version: 1, stores: Vec::new() });
        assert!(!holds(&ground, &wanted), "its folder is not there");
        ground.at_rest.files =
            crate::profile::at_rest::WrittenFolders::of([("https_app.test_0", 900)]);
        assert!(holds(&ground, &wanted));
        ground.same_boot = false;
        assert!(!holds(&ground, &wanted), "the machine may have lost what was not synced");
        ground.same_boot = true;
        ground.at_rest.files =
            crate::profile::at_rest::WrittenFolders::of([("https_app.test_0", 1_100)]);
        assert!(!holds(&ground, &wanted), "it was written since");
    }

    #[test]
    fn a_page_fills_only_the_databases_of_which_the_profile_was_not_made() {
        let case = Case { cookie: ["a", "a"], written: [500, 500], local: ["a", "a"] };
        let (mut ground, mut wanted) = (case.ground(), case.wanted());
        let named = |name: &str| Database { name: name.into(), version: 1, stores: Vec::new() };
        wanted.origins.entry(key()).or_default().databases = vec![named("large"), named("small")];
        ground.made.databases = BTreeSet::from([(key(), "large".into())]);
        let Plan { hidden, at_rest, .. } = Plan::new(&wanted, Some(&ground), &BTreeSet::new());
        let filled: Vec<_> = hidden[0].databases.iter().map(|one| one.name.to_lossy()).collect();
        assert_eq!(filled, ["small"]);
        let left: Vec<_> = at_rest.items.iter().map(|item| item.place.as_str()).collect();
        assert_eq!(left, ["https://app.test/ large"]);
    }
}
