//! The mirror: what we last knew of a running browser, and what has changed since it was read.
//!
//! The one idea: an event both updates the mirror and marks its place as dirty. A capture reads the
//! dirty places again, so the mirror need not be exact; but when a page hangs or its frame is gone, the
//! mirror is the newest that anyone has.
//!
//! Events tell what changed in caches. No event tells of files, and of registrations only that
//! a worker came or went; but what both look like is cheap to ask, so each capture asks, and reads only
//! what looks otherwise.

use super::seen::{CacheLook, DirtyStored, Sources, StoredKnowledge};
use crate::profile::databases::DatabaseLog;
use crate::script::collected::SeenRegistration;
use crate::targets::TargetId;
use baton_session::state::{OriginState, Viewport};
use baton_session::stored::ObjectStore;
use baton_session::{
    Cache, Cookie, Database, Entries, Environment, FileEntry, Identity, Permission, State,
    StorageKey, Tab, Text, cookie,
};
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};

/// What we last knew of a running browser.
#[derive(Debug, Default)]
pub(crate) struct Mirror {
    /// Its tabs stand in the order in which they appeared.
    state: State,
    dirty: Dirty,
    pub(super) seen: StoredKnowledge,
    /// Whether it is to be found out who the browser says that it is.
    asks_who: bool,
}

/// Places that may differ from the mirror.
#[derive(Debug, Default)]
pub(crate) struct Dirty {
    /// Everything, because events were missed.
    pub(crate) all: bool,
    /// localStorage of these keys.
    pub(crate) local: BTreeSet<StorageKey>,
    /// Keys whose localStorage was emptied, and whose tabs need not agree since.
    pub(crate) emptied: BTreeSet<StorageKey>,
    /// sessionStorage of these tabs and keys.
    pub(crate) session: BTreeSet<(String, StorageKey)>,
    /// IndexedDB of these keys.
    pub(crate) databases: BTreeMap<StorageKey, DirtyDatabases>,
    /// Caches, files and service workers of these keys.
    pub(crate) stored: BTreeMap<StorageKey, DirtyStored>,
}

/// Which databases of a storage key may differ.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum DirtyDatabases {
    /// All, because the key was not watched until now.
    All,
    /// These.
    Named(BTreeSet<Text>),
}

/// A database as far as it is known without reading its records.
#[derive(Debug, Serialize)]
pub(crate) struct DatabaseLook<'a> {
    name: &'a Text,
    version: u64,
    stores: Vec<StoreLook<'a>>,
}

#[derive(Debug, Serialize)]
struct StoreLook<'a> {
    name: &'a Text,
    /// How many.
    records: usize,
}

impl<'a> DatabaseLook<'a> {
    fn of(database: &'a Database) -> Self {
        let store =
            |store: &'a ObjectStore| StoreLook { name: &store.name, records: store.records.len() };
        let stores = database.stores.iter().map(store).collect();
        Self { name: &database.name, version: database.version, stores }
    }
}

impl Mirror {
    /// A mirror of a browser of which we know `state`, and trust none of it.
    pub(crate) fn new(state: State) -> Self {
        Self { state, dirty: Dirty::whole(), seen: StoredKnowledge::default(), asks_who: false }
    }

    /// The tab's mirror, made when it is new.
    pub(crate) fn tab(&mut self, target: &TargetId) -> &mut Tab {
        let tabs = &mut self.state.tabs;
        let position = tabs.iter().position(|tab| tab.id == target.as_str());
        let position = position.unwrap_or_else(|| {
            tabs.push(Tab { id: target.to_string(), ..Tab::default() });
            tabs.len() - 1
        });
        &mut tabs[position]
    }

    /// Notes that another document is in a tab. Events come in the order in which things happen: what they
    /// told of its storage so far is of the visits before, and what follows of this one.
    pub(crate) fn visit(&mut self, target: &TargetId, url: String) {
        let tab = self.tab(target);
        tab.url = url;
        tab.title.clear();
    }

    /// Forgets tabs that are not among `living`.
    pub(crate) fn retain_tabs(&mut self, living: &BTreeSet<&str>) {
        self.state.tabs.retain(|tab| living.contains(tab.id.as_str()));
        self.dirty.session.retain(|(tab, _)| living.contains(tab.as_str()));
        self.seen.permissions.retain(|tab| living.contains(tab));
    }

    /// Forgets a tab that was closed.
    pub(crate) fn forget_tab(&mut self, target: &TargetId) {
        self.state.tabs.retain(|tab| tab.id != target.as_str());
        self.dirty.session.retain(|(tab, _)| tab != target.as_str());
        self.seen.permissions.retain(|tab| tab != target.as_str());
    }

    /// The tabs as we last knew them.
    pub(crate) fn tabs(&self) -> &[Tab] {
        &self.state.tabs
    }

    /// The storage of a key, made when it is new.
    pub(crate) fn origin(&mut self, key: &StorageKey) -> &mut OriginState {
        self.state.origins.entry(key.clone()).or_default()
    }

    /// The entries that a `DOMStorage` event speaks of.
    pub(crate) fn area(
        &mut self,
        target: &TargetId,
        key: &StorageKey,
        local: bool,
    ) -> &mut Entries {
        if local {
            &mut self.origin(key).local_storage
        } else {
            self.tab(target).session_storage.entry(key.clone()).or_default()
        }
    }

    /// Replaces the databases that were read, and drops those that are no longer there.
    pub(crate) fn set_databases(&mut self, key: &StorageKey, read: Vec<Database>, names: &[Text]) {
        let databases = &mut self.origin(key).databases;
        databases.retain(|database| names.contains(&database.name));
        for database in read {
            databases.retain(|known| known.name != database.name);
            databases.push(database);
        }
    }

    /// How the databases of a key looked when they were read, for the page to compare.
    pub(crate) fn looks(&self, key: &StorageKey) -> Vec<DatabaseLook<'_>> {
        let origin = self.state.origins.get(key);
        let databases = origin.map(|origin| origin.databases.as_slice()).unwrap_or_default();
        databases.iter().map(DatabaseLook::of).collect()
    }

    /// The keys that had databases at the last look, each with how these stood before all of them were read. Of keys
    /// that have none any more that is forgotten.
    pub(crate) fn database_logs(&mut self) -> Vec<(StorageKey, Option<DatabaseLog>)> {
        let origins = &self.state.origins;
        let has_some =
            |key: &StorageKey| origins.get(key).is_some_and(|origin| !origin.databases.is_empty());
        self.seen.databases.retain(|key, _| has_some(key));
        let known = origins.keys().filter(|key| has_some(key));
        known.map(|key| (key.clone(), self.seen.databases.get(key).cloned())).collect()
    }

    /// Notes how the databases of a key stood before all of them were read.
    pub(crate) fn note_database_log(&mut self, key: &StorageKey, log: DatabaseLog) {
        self.seen.databases.insert(key.clone(), log);
    }

    /// Replaces all cookies.
    pub(crate) fn set_cookies(&mut self, mut cookies: Vec<Cookie>) {
        cookie::order(&mut cookies);
        self.state.cookies = cookies;
    }

    /// The cookies, in the order in which they are sent.
    pub(crate) fn cookies(&self) -> &[Cookie] {
        &self.state.cookies
    }

    /// Replaces the permissions by those of the profile's settings, and says whether another decision
    /// is among them.
    pub(crate) fn set_permissions(&mut self, found: Vec<Permission>) -> bool {
        let decided = |one: &Permission| (one.name.clone(), one.origin.clone(), one.setting);
        let known = std::mem::replace(&mut self.state.environment.permissions, found);
        let found = self.state.environment.permissions.iter().map(decided);
        !found.eq(known.iter().map(decided))
    }

    /// Notes that there is no person who could have allowed something for a while.
    pub(super) fn note_headless(&mut self) {
        self.seen.permissions.note_headless();
    }

    /// Notes what the page in a tab said that its origin, if it has one, was granted.
    pub(crate) fn note_granted(
        &mut self,
        target: &TargetId,
        origin: Option<String>,
        names: Vec<String>,
    ) {
        self.seen.permissions.note(target.as_str(), origin, names);
    }

    /// The whole, not normalized, with the permissions of the settings only.
    pub(crate) fn state(&self) -> &State {
        &self.state
    }

    /// A copy of the whole, not normalized, with what pages said that they may.
    pub(crate) fn snapshot(&self) -> State {
        let mut state = self.state.clone();
        self.seen.permissions.add_to(&mut state.environment);
        state
    }

    /// Notes the viewport that the browser chose by itself. Later sizes are not the window's: a
    /// client that emulates another one, or takes a screenshot of a part, changes what pages see.
    pub(crate) fn note_viewport(&mut self, viewport: Viewport) {
        self.state.environment.viewport.get_or_insert(viewport);
    }

    /// Has it found out who the browser says that it is, unless the environment says so.
    pub(crate) fn ask_who(&mut self) {
        let Environment { user_agent, identity, .. } = &self.state.environment;
        self.asks_who = user_agent.is_none() && identity.is_none();
    }

    /// Whether that is to be found out.
    pub(crate) fn asks_who(&self) -> bool {
        self.asks_who
    }

    /// Notes it, once.
    pub(crate) fn note_identity(&mut self, user_agent: String, identity: Identity) {
        if std::mem::take(&mut self.asks_who) {
            self.state.environment.user_agent = Some(user_agent);
            self.state.environment.identity = Some(identity);
        }
    }

    /// Marks everything: events were missed.
    pub(crate) fn distrust(&mut self) {
        self.dirty.all = true;
    }

    /// What is dirty, which is from now on the caller's to read.
    pub(crate) fn take_dirty(&mut self) -> Dirty {
        std::mem::take(&mut self.dirty)
    }

    /// What is dirty.
    pub(crate) fn dirty(&mut self) -> &mut Dirty {
        &mut self.dirty
    }
}

impl Dirty {
    /// Everything.
    pub(crate) fn whole() -> Self {
        Self { all: true, ..Self::default() }
    }

    /// Adds what another one marks.
    pub(crate) fn merge(&mut self, other: Self) {
        self.all |= other.all;
        self.local.extend(other.local);
        self.emptied.extend(other.emptied);
        self.session.extend(other.session);
        for (key, stored) in other.stored {
            self.stored(key).merge(stored);
        }
        for (key, databases) in other.databases {
            match databases {
                DirtyDatabases::All => drop(self.databases.insert(key, DirtyDatabases::All)),
                DirtyDatabases::Named(names) => {
                    for name in names {
                        self.mark_database(key.clone(), name);
                    }
                }
            }
        }
    }

    /// The areas of this key in this tab may differ.
    pub(crate) fn mark_areas(&mut self, tab: &TargetId, key: &StorageKey) {
        self.local.insert(key.clone());
        self.session.insert((tab.to_string(), key.clone()));
    }

    /// A document of this key appeared in this tab: the key was not watched before.
    pub(crate) fn mark_document(&mut self, tab: &TargetId, key: &StorageKey) {
        self.mark_areas(tab, key);
        self.databases.insert(key.clone(), DirtyDatabases::All);
        self.stored(key.clone()).all = true;
    }

    /// What is marked of the caches, files and service workers of a key.
    pub(crate) fn stored(&mut self, key: StorageKey) -> &mut DirtyStored {
        self.stored.entry(key).or_default()
    }

    /// A database changed.
    pub(crate) fn mark_database(&mut self, key: StorageKey, name: Text) {
        match self.databases.entry(key).or_insert_with(|| DirtyDatabases::Named(BTreeSet::new())) {
            DirtyDatabases::All => {}
            DirtyDatabases::Named(names) => {
                names.insert(name);
            }
        }
    }

    /// Databases came or went: the list is to be read, and what is new in it.
    pub(crate) fn mark_databases(&mut self, key: StorageKey) {
        self.databases.entry(key).or_insert_with(|| DirtyDatabases::Named(BTreeSet::new()));
    }

    /// Whether the localStorage of a key is to be read.
    pub(crate) fn wants_local(&self, key: &StorageKey) -> bool {
        self.all || self.local.contains(key)
    }

    /// Whether the sessionStorage of a tab and key is to be read.
    pub(crate) fn wants_session(&self, tab: &str, key: &StorageKey) -> bool {
        self.all || self.session.contains(&(tab.to_owned(), key.clone()))
    }

    /// Which databases of a key are to be read.
    pub(crate) fn wanted_databases(&self, key: &StorageKey) -> Option<DirtyDatabases> {
        if self.all { Some(DirtyDatabases::All) } else { self.databases.get(key).cloned() }
    }

    /// What of the caches, files and service workers of a key is to be read.
    pub(crate) fn wanted_stored(&self, key: &StorageKey) -> DirtyStored {
        if self.all {
            return DirtyStored::whole();
        }
        self.stored.get(key).cloned().unwrap_or_default()
    }
}

/// How many workers' scripts are kept until their registrations are seen.
const MOST_SOURCES: usize = 64;

impl Mirror {
    /// Replaces the caches that were read, drops those that are no longer there, and puts all in the
    /// order of `names`.
    pub(crate) fn set_caches(&mut self, key: &StorageKey, read: Vec<Cache>, names: &[Text]) {
        let caches = &mut self.origin(key).caches;
        caches.retain(|cache| names.contains(&cache.name));
        for cache in read {
            caches.retain(|known| known.name != cache.name);
            caches.push(cache);
        }
        for cache in caches.iter_mut() {
            let position = names.iter().position(|name| name == &cache.name);
            cache.position = position.and_then(|at| u32::try_from(at).ok()).unwrap_or_default();
        }
        caches.sort_by_key(|cache| cache.position);
    }

    /// How the caches of a key looked when they were read, for the page to compare.
    pub(crate) fn cache_looks(&self, key: &StorageKey) -> Vec<CacheLook<'_>> {
        let origin = self.state().origins.get(key);
        let caches = origin.map(|origin| origin.caches.as_slice()).unwrap_or_default();
        caches.iter().map(CacheLook::of).collect()
    }

    /// Replaces the files of a key; those that could not be read stay as they were. `look` says how
    /// all of them looked, when that says enough.
    pub(crate) fn set_files(
        &mut self,
        key: &StorageKey,
        mut read: Vec<FileEntry>,
        unread: &[String],
        look: Option<String>,
    ) {
        let files = &mut self.origin(key).files;
        read.extend(files.drain(..).filter(|known| unread.contains(&known.place())));
        *files = read;
        match look.filter(|_| unread.is_empty()) {
            Some(look) => drop(self.seen.files.insert(key.clone(), look)),
            None => drop(self.seen.files.remove(key)),
        }
    }

    /// How the files of a key looked when they were read.
    pub(crate) fn files_look(&self, key: &StorageKey) -> Option<String> {
        self.seen.files.get(key).cloned()
    }

    /// Notes how many bytes the files of a key's origin take.
    pub(crate) fn note_usage(&mut self, key: &StorageKey, usage: u64) {
        self.seen.usage.insert(key.origin().to_owned(), usage);
    }

    /// How many bytes the files of an origin took when last asked.
    pub(crate) fn usage(&self, origin: &str) -> Option<u64> {
        self.seen.usage.get(origin).copied()
    }

    /// Whether the key had files at the last look.
    pub(crate) fn has_files(&self, key: &StorageKey) -> bool {
        self.state().origins.get(key).is_some_and(|origin| !origin.files.is_empty())
    }

    /// Whether the key had service workers at the last look.
    pub(crate) fn has_workers(&self, key: &StorageKey) -> bool {
        self.state().origins.get(key).is_some_and(|origin| !origin.service_workers.is_empty())
    }

    /// Gives the scripts of a worker to its registration, or keeps them for when that is seen. No tab may
    /// show the site any more, and then its registrations are not looked at again.
    pub(crate) fn keep_sources(&mut self, key: StorageKey, script_url: String, sources: Sources) {
        let mut is_known = false;
        for registration in &mut self.origin(&key).service_workers {
            if registration.script_url == script_url {
                registration.worker_type = Some(sources.worker_type);
                registration.scripts.clone_from(&sources.scripts);
                is_known = true;
            }
        }
        if is_known {
            return;
        }
        let all = &mut self.seen.sources;
        if all.len() >= MOST_SOURCES {
            all.pop_first();
        }
        all.insert((key, script_url), sources);
    }

    /// Replaces the registrations of a key. Their scripts are those of the worker that ran last, or
    /// what was known before.
    pub(crate) fn set_registrations(&mut self, key: &StorageKey, found: Vec<SeenRegistration>) {
        let known = std::mem::take(&mut self.origin(key).service_workers);
        let mut registrations = Vec::new();
        for found in found {
            let place = (key.clone(), found.script_url.clone());
            let before = known.iter().find(|one| one.script_url == found.script_url);
            let sources = self.seen.sources.get(&place).cloned();
            registrations.push(found.with(sources.or_else(|| before.and_then(Sources::of))));
        }
        let is_known = |url: &str| registrations.iter().any(|one| one.script_url == url);
        self.seen.sources.retain(|(of, url), _| of != key || !is_known(url));
        self.origin(key).service_workers = registrations;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use baton_session::State;
    use baton_session::stored::{WorkerScript, WorkerType};
    use serde_json::json;

    #[test]
    fn scripts_that_come_late_belong_to_the_registration_that_is_known() {
        let mut mirror = Mirror::new(State::default());
        let key = StorageKey::first_party("https://app.test");
        let url = "https://app.test/sw.js".to_owned();
        let seen = json!({
            "scope": "https://app.test/", "scriptUrl": url, "updateViaCache": "imports",
            "navigationPreload": { "enabled": false, "header": "true" },
        });
        mirror.set_registrations(&key, vec![serde_json::from_value(seen).unwrap()]);
        let scripts = vec![WorkerScript { url: url.clone(), source: "onfetch = null".into() }];
        let sources = Sources { worker_type: WorkerType::Classic, scripts };
        mirror.keep_sources(key.clone(), url, sources);
        assert!(mirror.state().origins[&key].service_workers[0].is_whole());
    }

    #[test]
    fn caches_stand_in_the_order_in_which_the_page_lists_them() {
        let mut mirror = Mirror::new(State::default());
        let key = StorageKey::first_party("https://app.test");
        let cache = |name: &str| Cache { name: name.into(), position: 0, entries: Vec::new() };
        mirror.set_caches(&key, vec![cache("b"), cache("a")], &["b".into(), "a".into()]);
        mirror.set_caches(&key, vec![cache("c")], &["a".into(), "c".into()]);
        let caches = &mirror.state().origins[&key].caches;
        let found: Vec<_> =
            caches.iter().map(|cache| (cache.name.clone(), cache.position)).collect();
        assert_eq!(found, [("a".into(), 0), ("c".into(), 1)]);
    }
}
