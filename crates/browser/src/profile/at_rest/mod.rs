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
pub(super) use files::{folder_name, key_of};

use super::cookies::Place;
use super::local_storage::{self, Areas};
use super::sqlite::SqliteError;
use baton_session::receipt::{ItemKind, ReceiptItem, Verified};
use baton_session::{Entries, Receipt, StorageKey};
use std::fmt::Display;
use std::path::Path;

/// A profile at rest.
#[derive(Debug, Default)]
pub struct AtRest {
    pub(crate) local: Areas,
    /// When the newest row of the cookie store was written: all that happened to any cookie before
    /// that is in the store, for Chromium writes what has gathered in one transaction.
    pub(crate) cookies: Option<Instant>,
    pub(crate) files: Files,
    /// What could not be read: there the snapshot stands, and whatever is later than it is lost.
    pub(crate) unread: Receipt,
}

impl AtRest {
    /// The localStorage of a key.
    pub fn local_storage(&self, key: &StorageKey) -> Option<&Entries> {
        self.local.get(key).map(|area| &area.entries)
    }

    /// Reads a profile on which no browser runs, and changes nothing in it. What cannot be read is
    /// as if it were not there, and is named: then the snapshot is taken. Blocks on the disk.
    pub fn read(profile: &Path) -> Self {
        let default = profile.join("Default");
        let mut read = Self::read_local_storage(profile);
        let last_write = Place::find(&default)
            .map_err(SqliteError::from)
            .and_then(|place| cookies::last_write(&default.join(place.name)));
        read.cookies = read.take("the profile's cookies", last_write);
        read.files = Files::read(&default);
        read
    }

    /// Reads localStorage only, as if there were nothing else.
    pub(crate) fn read_local_storage(profile: &Path) -> Self {
        let found = local_storage::read(&profile.join("Default"));
        // Of one that is damaged nobody knows what is missing, and so not how late it was written.
        let areas = found.map_err(|error| error.to_string()).and_then(|found| {
            if found.lost.is_none() { Ok(found.areas) } else { Err(found.lost.to_string()) }
        });
        let mut read = Self::default();
        read.local = read.take("the profile's localStorage", areas);
        read
    }

    /// What of the profile could not be read, for the receipt of a resume on it.
    pub fn unread(&self) -> &Receipt {
        &self.unread
    }

    /// What was read; or nothing, and a line.
    fn take<T: Default>(&mut self, what: &str, read: Result<T, impl Display>) -> T {
        read.unwrap_or_else(|error| {
            tracing::warn!(what, %error, "the profile could not be read; the snapshot stands for it");
            let reason = format!("{error}; the snapshot stands for it, and what was later is lost");
            self.unread.push(ReceiptItem {
                reason: Some(reason),
                verified: Verified::None,
                ..ReceiptItem::restored(ItemKind::Snapshot, what)
            });
            T::default()
        })
    }
}
