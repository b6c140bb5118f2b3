//! The plan of a restore: which page fills which storage key.
//!
//! The one idea: a tab has to visit the origins of its own sessionStorage anyway, so it fills their
//! localStorage and databases on the way. Only keys that no tab visits need a page of their own. A key
//! that a tab shows and the snapshot does not name held nothing: what a profile has there still, say
//! the token from before a logout, must not rise again.

use super::ground::Ground;
use super::visit::{FillVisit, own_key};
use baton_session::receipt::ReceiptItem;
use baton_session::state::OriginState;
use baton_session::{Entries, Receipt, Site, State, StorageKey, Tab};
use std::collections::{BTreeMap, BTreeSet};

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
                databases: &origin.databases,
                stored: has_stored(origin).then_some(origin),
                ..FillVisit::new(key.clone())
            };
            if later.contains(&key.site()) {
                at_rest.extend(visit.leave_stored());
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
