//! What is seen of caches, files and service workers besides what they hold.

use super::permissions::Permissions;
use crate::profile::databases::DatabaseLog;
use crate::script::collected::SeenRegistration;
use baton_session::stored::{WorkerScript, WorkerType};
use baton_session::{Cache, Registration, StorageKey, Text};
use serde::Serialize;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};

/// What of a storage key may differ from the mirror.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct DirtyStored {
    /// All of it, because the key was not watched until now.
    pub(crate) all: bool,
    /// These caches, and whichever came or went.
    pub(crate) caches: Option<BTreeSet<Text>>,
    /// The registrations, because a worker came or went.
    pub(crate) workers: bool,
}

impl DirtyStored {
    /// All of it.
    pub(crate) fn whole() -> Self {
        Self { all: true, ..Self::default() }
    }

    /// Adds what another one marks.
    pub(crate) fn merge(&mut self, other: Self) {
        self.all |= other.all;
        self.workers |= other.workers;
        if let Some(names) = other.caches {
            self.caches.get_or_insert_default().extend(names);
        }
    }

    /// Whether it marks nothing.
    pub(crate) fn is_empty(&self) -> bool {
        self == &Self::default()
    }

    /// Whether the list of caches is to be read, and what differs in it.
    pub(crate) fn wants_caches(&self) -> bool {
        self.all || self.caches.is_some()
    }

    /// Whether registrations may have come or gone.
    pub(crate) fn wants_workers(&self) -> bool {
        self.all || self.workers
    }
}

/// A cache as far as it is known without reading it.
#[derive(Debug, Serialize)]
pub(crate) struct CacheLook<'a> {
    name: &'a Text,
    /// How many.
    entries: usize,
}

impl<'a> CacheLook<'a> {
    pub(super) fn of(cache: &'a Cache) -> Self {
        Self { name: &cache.name, entries: cache.entries.len() }
    }
}

/// The scripts of a worker that ran while we watched.
#[derive(Debug, Clone)]
pub(crate) struct Sources {
    pub(crate) worker_type: WorkerType,
    pub(crate) scripts: Vec<WorkerScript>,
}

/// What is known besides the state itself.
#[derive(Debug, Default)]
pub(crate) struct StoredKnowledge {
    /// How the files of a key looked when they were read.
    pub(super) files: BTreeMap<StorageKey, String>,
    /// How many bytes the files of an origin took when last asked.
    pub(super) usage: BTreeMap<String, u64>,
    /// The scripts of workers, by key and main script, until their registration is seen.
    pub(super) sources: BTreeMap<(StorageKey, String), Sources>,
    /// How the databases of a key stood before all of them were read.
    pub(super) databases: BTreeMap<StorageKey, DatabaseLog>,
    /// What is known of what sites may do.
    pub(super) permissions: Permissions,
}

impl Sources {
    /// Those that a registration holds.
    pub(super) fn of(registration: &Registration) -> Option<Self> {
        let worker_type = registration.worker_type?;
        Some(Self { worker_type, scripts: registration.scripts.clone() })
    }
}

impl SeenRegistration {
    pub(super) fn with(self, sources: Option<Sources>) -> Registration {
        let Self { scope, script_url, update_via_cache, navigation_preload } = self;
        let worker_type = sources.as_ref().map(|sources| sources.worker_type);
        let scripts = sources.map(|sources| sources.scripts).unwrap_or_default();
        Registration {
            scope,
            script_url,
            update_via_cache,
            navigation_preload,
            worker_type,
            scripts,
        }
    }
}

/// How many bytes the files of an origin take.
pub(crate) fn file_usage(answer: &Value) -> Option<u64> {
    let kinds = answer["usageBreakdown"].as_array()?;
    let files = kinds.iter().find(|kind| kind["storageType"] == "file_systems")?;
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a size")]
    files["usage"].as_f64().map(|usage| usage as u64)
}
