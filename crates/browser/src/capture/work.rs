//! The work of one capture: what is to be read, and what has been read so far.
//!
//! The one idea: a mark is only taken away by the reader of its place. When a page hangs, a frame leaves, or
//! the capture itself is given up, the marks of what was not read are set again.

use crate::live::Shared;
use crate::live::mirror::{Dirty, DirtyDatabases};
use crate::live::seen::DirtyStored;
use crate::profile::raw::Systems;
use crate::targets::TargetId;
use baton_session::{StorageKey, Text};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// What one capture has to read.
#[derive(Debug)]
pub(super) struct Work<'a> {
    shared: &'a Shared,
    dirty: Dirty,
    systems: Systems,
    /// Whether what looks as it did is read all the same.
    all: bool,
    progress: Mutex<Progress>,
}

#[derive(Debug, Default)]
struct Progress {
    /// Keys whose localStorage and databases a tab has taken upon itself, for all tabs share them.
    claims: BTreeSet<StorageKey>,
    /// Claims that were given up.
    released: BTreeSet<StorageKey>,
    local: BTreeSet<StorageKey>,
    session: BTreeSet<(String, StorageKey)>,
    /// With the databases that are to be tried again.
    databases: BTreeMap<StorageKey, BTreeSet<Text>>,
    /// With what of caches, files and service workers is to be tried again.
    stored: BTreeMap<StorageKey, DirtyStored>,
    /// Whether every place answered.
    whole: bool,
}

impl<'a> Work<'a> {
    /// Takes the marks from the mirror; with `all`, everything is to be read.
    pub(super) fn from_mirror(shared: &'a Shared, systems: Systems, all: bool) -> Self {
        let mut dirty = shared.mirror().take_dirty();
        dirty.all |= all;
        Self { shared, all: dirty.all, dirty, systems, progress: Mutex::default() }
    }

    /// Whether a key can have files.
    pub(super) fn may_have_files(&self, key: &StorageKey) -> bool {
        self.systems.may_hold(key) || self.shared.mirror().has_files(key)
    }

    pub(super) fn shared(&self) -> &Shared {
        self.shared
    }

    /// Whether the tab that asks is to read what all tabs share of a key: the first one is, and
    /// then keeps on being it.
    pub(super) fn claim(&self, key: &StorageKey, mine: &mut BTreeSet<StorageKey>) -> bool {
        if self.progress().claims.insert(key.clone()) {
            mine.insert(key.clone());
        }
        mine.contains(key)
    }

    /// Claims a key for the last frame that is asked, whatever others could not read of it.
    pub(super) fn claim_last(&self, key: &StorageKey) {
        self.progress().claims.insert(key.clone());
    }

    /// Gives up claims, so that another tab can read what this one could not; returns whether there
    /// is anything left to read.
    pub(super) fn release(&self, claims: &BTreeSet<StorageKey>) -> bool {
        let left: Vec<_> = claims
            .iter()
            .filter(|key| {
                let stored = self.wanted_stored(key).is_some_and(|stored| !stored.is_empty());
                self.wants_local(key) || self.wanted_databases(key).is_some() || stored
            })
            .collect();
        let mut progress = self.progress();
        progress.claims.retain(|key| !left.contains(&key));
        progress.released.extend(left.iter().copied().cloned());
        !left.is_empty()
    }

    /// Gives the areas back that were read in a document that left, so that they are read again: a
    /// tab's sessionStorage, and the localStorage of these keys.
    pub(super) fn forget<'k>(&self, tab: &TargetId, local: impl Iterator<Item = &'k StorageKey>) {
        let mut progress = self.progress();
        progress.session.retain(|(of, _)| of != tab.as_str());
        for key in local {
            progress.local.remove(key);
        }
    }

    pub(super) fn wants_local(&self, key: &StorageKey) -> bool {
        self.dirty.wants_local(key) && !self.progress().local.contains(key)
    }

    pub(super) fn wants_session(&self, tab: &TargetId, key: &StorageKey) -> bool {
        let read = || self.progress().session.contains(&(tab.to_string(), key.clone()));
        self.dirty.wants_session(tab.as_str(), key) && !read()
    }

    pub(super) fn wanted_databases(&self, key: &StorageKey) -> Option<DirtyDatabases> {
        self.dirty.wanted_databases(key).filter(|_| !self.progress().databases.contains_key(key))
    }

    /// What of the caches, files and service workers of a key is marked; none when they were read.
    pub(super) fn wanted_stored(&self, key: &StorageKey) -> Option<DirtyStored> {
        let is_read = self.progress().stored.contains_key(key);
        (!is_read).then(|| self.dirty.wanted_stored(key))
    }

    /// Whether everything is read, whatever it looks like.
    pub(super) fn is_whole(&self) -> bool {
        self.all
    }

    pub(super) fn did_local(&self, key: &StorageKey) {
        self.progress().local.insert(key.clone());
    }

    pub(super) fn did_session(&self, tab: &TargetId, key: &StorageKey) {
        self.progress().session.insert((tab.to_string(), key.clone()));
    }

    /// The databases of a key were read, but for those that are to be tried again.
    pub(super) fn did_databases(&self, key: &StorageKey, again: impl Iterator<Item = Text>) {
        self.progress().databases.insert(key.clone(), again.collect());
    }

    /// Caches, files and service workers of a key were read, but for what is to be tried again.
    pub(super) fn did_stored(&self, key: &StorageKey, again: DirtyStored) {
        self.progress().stored.insert(key.clone(), again);
    }

    /// Every place that could be asked has answered.
    pub(super) fn did_all(&self) {
        self.progress().whole = true;
    }

    fn progress(&self) -> MutexGuard<'_, Progress> {
        self.progress.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Work<'_> {
    fn drop(&mut self) {
        let mut left = std::mem::take(&mut self.dirty);
        let progress = std::mem::take(&mut *self.progress());
        if left.all && progress.whole {
            left.all = false;
            // A tab that took a key upon itself, and then left it, has kept others from reading it.
            for key in progress.claims.into_iter().chain(progress.released) {
                left.local.insert(key.clone());
                left.databases.insert(key.clone(), DirtyDatabases::All);
                left.stored(key).all = true;
            }
        }
        left.local.retain(|key| !progress.local.contains(key));
        left.session.retain(|place| !progress.session.contains(place));
        left.databases.retain(|key, _| !progress.databases.contains_key(key));
        left.stored.retain(|key, _| !progress.stored.contains_key(key));
        for (key, again) in progress.stored {
            left.stored(key).merge(again);
        }
        for (key, again) in progress.databases {
            for name in again {
                left.mark_database(key.clone(), name);
            }
        }
        self.shared.mirror().dirty().merge(left);
    }
}
