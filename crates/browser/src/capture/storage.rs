//! Reads the storage that one frame can see, or a worker where no page shows its key now, and what one key
//! holds: its databases, caches, files and service worker registrations.
//!
//! The one idea: what was read goes into the mirror at once, so that whatever a page writes from then
//! on, and an event tells of, is newer. The areas are kept besides, for the capture itself: an event
//! that is still on its way must not set them back.
//!
//! A service worker, or a shared one, outlives the pages of its site and goes on writing. It is a
//! window on its key's storage like any frame, only the last to be asked.
//!
//! One call for each of the three: each can take its time, and has a bound of its own.

use super::{PAGE_LIMIT, PAGES_AT_ONCE, Work};
use crate::cdp::CdpSession;
use crate::live::Live;
use crate::live::mirror::DirtyDatabases;
use crate::live::seen::{DirtyStored, file_usage};
use crate::script;
use crate::script::collected::{
    Caches, CollectedDatabases, CollectedFiles, CollectedStored, DatabaseFailure, StoredFailure,
};
use crate::script::{Script, ScriptError, World};
use crate::targets::TargetId;
use baton_session::{Entries, State, StorageKey, Unread};
use futures_util::stream;
use futures_util::stream::StreamExt;
use serde::Deserialize;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use tokio::time::timeout;

/// A frame whose storage is to be read.
#[derive(Debug)]
pub(super) struct FramePlace<'a> {
    pub(super) tab: &'a TargetId,
    pub(super) session: &'a CdpSession,
    pub(super) key: &'a StorageKey,
    /// Whether what all tabs share of the key is read here.
    pub(super) shared: bool,
}

/// What is to be read in a frame.
#[derive(Debug)]
pub(super) struct WantedOfFrame {
    pub(super) local: bool,
    pub(super) session: bool,
    databases: Option<DirtyDatabases>,
    stored: Option<WantedStored>,
}

/// What was read in the frames of a tab, but for what is the tab's own.
#[derive(Debug, Default)]
pub(super) struct FrameContents {
    /// An area that does not exist is none.
    local: BTreeMap<StorageKey, Option<Entries>>,
    /// Databases, caches and files that could not be read.
    failures: Vec<Unread>,
}

/// What `collect.js` returns.
#[derive(Debug, Deserialize)]
struct CollectedAreas {
    local: Option<Entries>,
    session: Option<Entries>,
}

impl FramePlace<'_> {
    /// What the work wants of it.
    pub(super) async fn wanted(&self, work: &Work<'_>) -> WantedOfFrame {
        let stored =
            if self.shared { WantedStored::of(self.session, self.key, work).await } else { None };
        WantedOfFrame {
            stored,
            local: work.compares(self.key) || (self.shared && work.wants_local(self.key)),
            session: work.wants_session(self.tab, self.key),
            databases: work.wanted_databases(self.key).filter(|_| self.shared),
        }
    }
}

impl WantedOfFrame {
    pub(super) fn is_nothing(&self) -> bool {
        !self.local && !self.session && self.databases.is_none() && self.stored.is_none()
    }
}

impl FrameContents {
    /// Reads the areas that are wanted, and returns the sessionStorage. A document that was replaced
    /// meanwhile is an error, not a wrong result.
    pub(super) async fn read_areas(
        &mut self,
        place: &FramePlace<'_>,
        world: &World,
        wanted: &WantedOfFrame,
        work: &Work<'_>,
    ) -> Result<Option<Entries>, ScriptError> {
        if !wanted.local && !wanted.session {
            return Ok(None);
        }
        let CollectedAreas { local, session } = collect(place, world, wanted).await?;
        let mut mirror = work.shared().mirror();
        if let Some(local) = &local {
            mirror.area(place.tab, place.key, true).clone_from(local);
        }
        if let Some(session) = &session {
            mirror.area(place.tab, place.key, false).clone_from(session);
        }
        drop(mirror);
        if wanted.local {
            work.did_local(place.key);
            self.local.insert(place.key.clone(), local);
        }
        if wanted.session {
            work.did_session(place.tab, place.key);
        }
        Ok(session)
    }

    /// Reads the databases, caches, files and workers that are wanted: after the areas, for they can
    /// take their time.
    pub(super) async fn read_stored(
        &mut self,
        place: &FramePlace<'_>,
        world: &World,
        wanted: WantedOfFrame,
        work: &Work<'_>,
    ) -> Result<(), ScriptError> {
        let window = Window { session: place.session, world, key: place.key };
        if let Some(wanted) = &wanted.databases {
            self.failures.extend(window.read(wanted, work).await?);
        }
        if let Some(wanted) = wanted.stored {
            self.failures.extend(window.read_stored(wanted, work).await?);
        }
        Ok(())
    }

    /// Whether the localStorage of a key was read.
    pub(super) fn has_area(&self, key: &StorageKey) -> bool {
        self.local.contains_key(key)
    }

    /// The localStorage areas that were read.
    pub(super) fn areas(&mut self) -> impl Iterator<Item = (&StorageKey, &mut Entries)> {
        self.local.iter_mut().filter_map(|(key, local)| Some((key, local.as_mut()?)))
    }

    /// Forgets the areas, which were read in documents that may have left.
    pub(super) fn forget(&mut self, tab: &TargetId, work: &Work<'_>) {
        work.forget(tab, std::mem::take(&mut self.local).keys());
    }

    /// Puts the areas into the state of a capture, and returns what could not be read.
    pub(super) fn apply(self, state: &mut State) -> Vec<Unread> {
        for (key, local) in self.local {
            if let Some(local) = local {
                state.origins.entry(key).or_default().local_storage = local;
            }
        }
        self.failures
    }
}

async fn collect(
    place: &FramePlace<'_>,
    world: &World,
    wanted: &WantedOfFrame,
) -> Result<CollectedAreas, ScriptError> {
    let argument = json!({
        "origin": place.key.origin(),
        "wantLocal": wanted.local,
        "wantSession": wanted.session,
        "wantDatabases": null,
    });
    script::run(place.session, world, Script::Collect, &argument, PAGE_LIMIT).await
}

/// Reads what is still wanted after the pages were read, and returns what could not be read.
pub(super) async fn read(live: &Live, work: &Work<'_>) -> Vec<Unread> {
    let mut left = BTreeMap::new();
    for (session, key) in live.shared().workers().iter() {
        let Some(key) = key else { continue };
        if work.wanted_databases(key).is_some() || work.wanted_stored(key).is_some() {
            left.entry(key.clone()).or_insert(live.connection().session(session.clone()));
        }
    }
    let reads: Vec<_> = left.iter().map(|(key, session)| read_one(session, key, work)).collect();
    stream::iter(reads).buffered(PAGES_AT_ONCE).concat().await
}

async fn read_one(session: &CdpSession, key: &StorageKey, work: &Work<'_>) -> Vec<Unread> {
    let reading = async {
        let databases = work.wanted_databases(key);
        let stored = WantedStored::of(session, key, work).await;
        let stored = stored.and_then(WantedStored::without_workers);
        if databases.is_none() && stored.is_none() {
            return Ok(Vec::new());
        }
        work.claim_last(key);
        let global = script::global(session).await?;
        let window = Window { session, world: global.world(), key };
        let mut unread = Vec::new();
        if let Some(wanted) = databases {
            unread.extend(window.read(&wanted, work).await?);
        }
        if let Some(wanted) = stored {
            unread.extend(window.read_stored(wanted, work).await?);
        }
        Ok::<_, ScriptError>(unread)
    };
    match timeout(PAGE_LIMIT, reading).await {
        Ok(Ok(unread)) => unread,
        // The key of one that has ended cannot be seen.
        Ok(Err(_)) if !work.shared().is_worker(session) => Vec::new(),
        Ok(Err(error)) => vec![Unread::new(key.to_string(), error)],
        Err(_) => {
            let reason = format!("expected the worker to answer within {PAGE_LIMIT:?}");
            vec![Unread::new(key.to_string(), format!("{reason}, found it busy"))]
        }
    }
}

/// Where databases can be read.
#[derive(Debug)]
pub(super) struct Window<'a> {
    pub(super) session: &'a CdpSession,
    pub(super) world: &'a World,
    pub(super) key: &'a StorageKey,
}

impl Window<'_> {
    /// Reads what is wanted into the mirror, and returns what could not be read.
    pub(super) async fn read(
        &self,
        wanted: &DirtyDatabases,
        work: &Work<'_>,
    ) -> Result<Vec<Unread>, ScriptError> {
        let argument = json!({
            "origin": self.key.origin(),
            "wantLocal": false,
            "wantSession": false,
            "wantDatabases": self.wanted(wanted, work),
        });
        let script = Script::Collect;
        let mut collected: CollectedDatabases =
            script::run(self.session, self.world, script, &argument, PAGE_LIMIT).await?;
        self.read_generators(&mut collected).await;
        Ok(self.store_databases(collected, work))
    }

    /// Which databases to read: all, or those that are named, are new, or do not look as they did.
    fn wanted(&self, databases: &DirtyDatabases, work: &Work<'_>) -> Value {
        match databases {
            DirtyDatabases::All => json!({ "all": true, "named": [], "known": [] }),
            DirtyDatabases::Named(names) => {
                let mirror = work.shared().mirror();
                json!({ "all": false, "named": names, "known": mirror.looks(self.key) })
            }
        }
    }

    fn store_databases(&self, collected: CollectedDatabases, work: &Work<'_>) -> Vec<Unread> {
        let CollectedDatabases { databases, names, unlisted, failures } = collected;
        let again = failures.iter().filter(|failure| !failure.lasting);
        work.did_databases(self.key, again.map(|failure| failure.database.clone()));
        work.count_databases(databases.len());
        let mut unread = Vec::new();
        if let Some(names) = names {
            work.shared().mirror().set_databases(self.key, databases, &names);
            if failures.is_empty() {
                work.know_databases(self.key);
            }
        } else {
            if unlisted.is_some() {
                work.did_not_list_databases(self.key);
            }
            let found = unlisted.as_deref().unwrap_or("that it may not");
            let reason = format!("expected the page to list its databases, found {found}");
            let lasting = unlisted.is_none();
            unread.push(Unread { lasting, ..Unread::new(self.key.to_string(), reason) });
        }
        unread.extend(failures.into_iter().map(|failure| {
            let place = format!("{} database {}", self.key, failure.database.to_lossy());
            Unread { lasting: failure.lasting, ..Unread::new(place, failure.reason) }
        }));
        unread
    }

    /// Asks for the position of each key generator, which no script can read without moving it. A
    /// database that vanished meanwhile could not be read.
    async fn read_generators(&self, collected: &mut CollectedDatabases) {
        let databases = std::mem::take(&mut collected.databases);
        for mut database in databases {
            match script::read_generators(self.session, self.key, &mut database).await {
                Ok(()) => collected.databases.push(database),
                Err(error) => collected.failures.push(DatabaseFailure {
                    database: database.name,
                    reason: error.to_string(),
                    lasting: false,
                }),
            }
        }
    }
}

/// What is to be read of a key.
#[derive(Debug)]
pub(super) struct WantedStored {
    dirty: DirtyStored,
    files: bool,
    workers: bool,
}

impl WantedStored {
    /// What a capture has to read of a key in a window on it; none when there is nothing.
    pub(super) async fn of(
        session: &CdpSession,
        key: &StorageKey,
        work: &Work<'_>,
    ) -> Option<Self> {
        let dirty = work.wanted_stored(key)?;
        let has_workers = work.shared().mirror().has_workers(key);
        let workers = dirty.wants_workers() || has_workers;
        let files = has_files(session, key, work).await;
        let wanted = Self { dirty, files, workers };
        (wanted.dirty.wants_caches() || files || workers).then_some(wanted)
    }

    /// The same for a window that cannot see registrations.
    pub(super) fn without_workers(self) -> Option<Self> {
        let wanted = Self { workers: false, ..self };
        (wanted.dirty.wants_caches() || wanted.files).then_some(wanted)
    }
}

/// Whether there can be files. Asking the page itself would make the file system of its origin, and
/// asking the browser takes it some milliseconds: so neither is asked where there are certainly none.
async fn has_files(session: &CdpSession, key: &StorageKey, work: &Work<'_>) -> bool {
    if !work.may_have_files(key) {
        if *key == StorageKey::first_party(key.origin()) {
            work.shared().mirror().note_usage(key, 0);
        }
        return false;
    }
    let usage = session.call("Storage.getUsageAndQuota", json!({ "origin": key.origin() })).await;
    let usage = usage.ok().and_then(|answer| file_usage(&answer));
    let mut mirror = work.shared().mirror();
    if key.is_first_party() {
        mirror.note_usage(key, usage.unwrap_or_default());
    }
    // The answer does not speak of the partitions of an origin: those are asked themselves.
    mirror.has_files(key) || usage != Some(0) || !key.is_first_party()
}

impl Window<'_> {
    /// Reads what is wanted into the mirror, and returns what could not be read.
    pub(super) async fn read_stored(
        &self,
        wanted: WantedStored,
        work: &Work<'_>,
    ) -> Result<Vec<Unread>, ScriptError> {
        let mut again = DirtyStored::default();
        let mut unread = Vec::new();
        if wanted.dirty.wants_caches() {
            unread.extend(self.read_caches(&wanted.dirty, &mut again, work).await?);
        }
        if wanted.files {
            unread.extend(self.read_files(work).await?);
        }
        if wanted.workers {
            unread.extend(self.read_workers(&mut again, work).await?);
        } else {
            again.workers = wanted.dirty.wants_workers();
        }
        work.did_stored(self.key, again);
        Ok(unread)
    }

    async fn read_caches(
        &self,
        dirty: &DirtyStored,
        again: &mut DirtyStored,
        work: &Work<'_>,
    ) -> Result<Vec<Unread>, ScriptError> {
        let changed = dirty.caches.clone().unwrap_or_default();
        let known = json!(work.shared().mirror().cache_looks(self.key));
        let wanted = json!({ "all": dirty.all, "named": changed, "known": known });
        let collected = self.collect(json!({ "wantCaches": wanted })).await?;
        let Some(Caches { names, caches }) = collected.caches else {
            // They were not even listed: whatever is marked of them stays so.
            again.merge(DirtyStored { workers: false, ..dirty.clone() });
            return Ok(self.unread("caches", collected.failures));
        };
        let Some(names) = names else {
            let reason = "expected the page to list its caches, found that it may not";
            return Ok(vec![Unread { lasting: true, ..Unread::new(self.key.to_string(), reason) }]);
        };
        work.shared().mirror().set_caches(self.key, caches, &names);
        for failure in collected.failures.iter().filter(|failure| !failure.lasting) {
            again.caches.get_or_insert_default().insert(failure.name.clone());
        }
        Ok(self.unread("cache", collected.failures))
    }

    async fn read_files(&self, work: &Work<'_>) -> Result<Vec<Unread>, ScriptError> {
        let known = work.shared().mirror().files_look(self.key).filter(|_| !work.is_whole());
        let collected = self.collect(json!({ "wantFiles": { "known": known } })).await?;
        if let Some(CollectedFiles { look, files: Some(files) }) = collected.files {
            let unread: Vec<_> =
                collected.failures.iter().map(|failure| failure.name.to_lossy()).collect();
            work.shared().mirror().set_files(self.key, files, &unread, look);
        }
        Ok(self.unread("file", collected.failures))
    }

    async fn read_workers(
        &self,
        again: &mut DirtyStored,
        work: &Work<'_>,
    ) -> Result<Vec<Unread>, ScriptError> {
        let collected = self.collect(json!({ "wantWorkers": true })).await?;
        if let Some(found) = collected.workers {
            work.shared().mirror().set_registrations(self.key, found);
        }
        again.workers = collected.mute || !collected.failures.is_empty();
        Ok(self.unread("service workers", collected.failures))
    }

    async fn collect(&self, mut wanted: Value) -> Result<CollectedStored, ScriptError> {
        wanted["origin"] = json!(self.key.origin());
        script::run(self.session, self.world, Script::CollectStored, &wanted, PAGE_LIMIT).await
    }

    fn unread(&self, kind: &str, failures: Vec<StoredFailure>) -> Vec<Unread> {
        let unread = failures.into_iter().map(|failure| {
            let place = format!("{} {kind} {}", self.key, failure.name.to_lossy());
            Unread { lasting: failure.lasting, ..Unread::new(place.trim_end(), failure.reason) }
        });
        unread.collect()
    }
}
