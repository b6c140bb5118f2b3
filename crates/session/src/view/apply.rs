//! What of a state is in a view.

use super::{StateKind, View};
use crate::history::History;
use crate::site::Site;
use crate::state::OriginState;
use crate::state::State;
use crate::tab::Tab;

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
            seen.environment = crate::environment::Environment::default();
        }
        let permissions = &mut seen.environment.permissions;
        permissions.retain(|one| has(&Site::of_origin(&one.origin), StateKind::Environment));
        seen.normalize();
        seen
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
pub(super) fn leads_out(history: &History, has: impl Fn(&Site) -> bool) -> bool {
    !history.entries.iter().all(|entry| has(&Site::of_origin(&entry.url)))
}

/// Whose a tab is: that of the page that it shows.
pub(super) fn tab_site(tab: &Tab) -> Site {
    Site::of_origin(&tab.url)
}

/// Of what two states hold of one storage key, each kind from one of the two.
pub(super) fn pick(
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
