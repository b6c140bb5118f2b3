//! Reads what one storage key holds: its databases, caches, files and service worker registrations.
//!
//! One call for each of the three: each can take its time, and has a bound of its own.

use super::PAGE_LIMIT;
use super::work::Work;
use crate::cdp::CdpSession;
use crate::live::mirror::DirtyDatabases;
use crate::live::seen::{DirtyStored, SeenRegistration, file_usage};
use crate::script;
use crate::script::{Script, ScriptError, World};
use baton_session::{Cache, Database, FileEntry, StorageKey, Text, Unread};
use serde::Deserialize;
use serde_json::{Value, json};

/// Where databases can be read.
#[derive(Debug)]
pub(super) struct Window<'a> {
    pub(super) session: &'a CdpSession,
    pub(super) world: &'a World,
    pub(super) key: &'a StorageKey,
}

/// What `collect.js` returns of them.
#[derive(Debug, Deserialize)]
struct CollectedDatabases {
    databases: Vec<Database>,
    names: Option<Vec<Text>>,
    failures: Vec<DatabaseFailure>,
}

/// A database that could not be read.
#[derive(Debug, Deserialize)]
struct DatabaseFailure {
    database: Text,
    reason: String,
    /// Whether another try would find the same.
    lasting: bool,
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
        let CollectedDatabases { databases, names, failures } = collected;
        let again = failures.iter().filter(|failure| !failure.lasting);
        work.did_databases(self.key, again.map(|failure| failure.database.clone()));
        let mut unread = Vec::new();
        if let Some(names) = names {
            work.shared().mirror().set_databases(self.key, databases, &names);
        } else {
            let reason = "expected the page to list its databases, found that it may not";
            unread.push(Unread::new(self.key.to_string(), reason));
        }
        unread.extend(failures.into_iter().map(|failure| {
            let place = format!("{} database {}", self.key, failure.database.to_lossy());
            Unread::new(place, failure.reason)
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

/// What `collect_stored.js` returns.
#[derive(Debug, Deserialize)]
struct CollectedStored {
    caches: Option<Caches>,
    files: Option<CollectedFiles>,
    workers: Option<Vec<SeenRegistration>>,
    failures: Vec<StoredFailure>,
    /// Whether another document has to be asked for the workers.
    mute: bool,
}

#[derive(Debug, Deserialize)]
struct Caches {
    names: Option<Vec<Text>>,
    caches: Vec<Cache>,
}

#[derive(Debug, Deserialize)]
struct CollectedFiles {
    look: Option<String>,
    /// None when they look as they did.
    files: Option<Vec<FileEntry>>,
}

/// A cache or a file that could not be read.
#[derive(Debug, Deserialize)]
struct StoredFailure {
    name: Text,
    reason: String,
    /// Whether another try would find the same.
    lasting: bool,
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
        let Some(Caches { names: Some(names), caches }) = collected.caches else {
            let reason = "expected the page to list its caches, found that it may not";
            return Ok(vec![Unread::new(self.key.to_string(), reason)]);
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
            Unread::new(place.trim_end(), failure.reason)
        });
        unread.collect()
    }
}
