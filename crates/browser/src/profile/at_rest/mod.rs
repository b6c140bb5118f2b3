//! What a profile holds while no browser runs on it, and how late it was written.
//!
//! The one idea: a disk says when it was written. After a browser was killed its profile may lag
//! behind the last snapshot, because cookies and localStorage are written late, or be ahead of it,
//! because nobody took another snapshot. Chromium notes an instant beside each of its cookies and each
//! area of localStorage; whatever else it stores it writes at once, and the files tell when.

mod cookies;
mod files;

pub use super::instant::Instant;
pub(crate) use files::Files;
pub(super) use files::folder_name;

use super::cookies::NAME as COOKIES;
use super::local_storage::{self, Areas};
use baton_session::{Entries, StorageKey};
use std::path::Path;

/// A profile at rest.
#[derive(Debug, Default)]
pub struct AtRest {
    pub(crate) local: Areas,
    /// When the newest row of the cookie store was written: all that happened to any cookie before
    /// that is in the store, for Chromium writes what has gathered in one transaction.
    pub(crate) cookies: Option<Instant>,
    pub(crate) files: Files,
}

impl AtRest {
    /// The localStorage of a key.
    pub fn local_storage(&self, key: &StorageKey) -> Option<&Entries> {
        self.local.get(key).map(|area| &area.entries)
    }

    /// Reads a profile on which no browser runs, and changes nothing in it. What cannot be read is
    /// as if it were not there: then the snapshot is taken. Blocks on the disk.
    pub fn read(profile: &Path) -> Self {
        let default = profile.join("Default");
        let cookies = cookies::last_write(&default.join(COOKIES));
        Self {
            cookies: told("cookies", cookies),
            files: Files::read(&default),
            ..Self::read_local_storage(profile)
        }
    }

    /// Reads localStorage only, as if there were nothing else.
    pub(crate) fn read_local_storage(profile: &Path) -> Self {
        let local = local_storage::read(&profile.join("Default")).map(|found| found.areas);
        Self { local: told("localStorage", local), ..Self::default() }
    }
}

fn told<T: Default>(what: &str, read: Result<T, impl std::fmt::Display>) -> T {
    read.unwrap_or_else(|error| {
        tracing::warn!(what, %error, "the profile could not be read; the snapshot stands for it");
        T::default()
    })
}
