//! What a profile holds while no browser runs on it, and how late it was written.
//!
//! The one idea: a disk says when it was written. After a browser was killed its profile may lag behind the
//! last snapshot, because cookies and localStorage are written late, or be ahead of it, because no other
//! snapshot was taken. Chromium notes an instant beside each of its cookies and each area of localStorage;
//! whatever else it stores it writes at once, and the files tell when.

pub use super::formats::Instant;

use super::cookies::StorePlace;
use super::formats::written;
use super::local_storage::Areas;
use super::sqlite::SqliteError;
use super::{local_storage, sqlite};
use baton_session::receipt::{ItemKind, ReceiptItem, Verified};
use baton_session::{Entries, Receipt, StorageKey};
use std::fmt::Display;
use std::fs;
use std::path::Path;
use url::Url;

/// A profile at rest.
#[derive(Debug, Default)]
pub struct AtRest {
    pub(crate) local: Areas,
    /// When the newest row of the cookie store was written: all that happened to any cookie before
    /// that is in the store, for Chromium writes what has gathered in one transaction.
    pub(crate) cookies: Option<Instant>,
    pub(crate) files: WrittenFolders,
    /// What could not be read: there the snapshot counts, and what is later than it is lost.
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
        let last_write = StorePlace::find(&default)
            .map_err(SqliteError::from)
            .and_then(|place| last_write(&default.join(place.name)));
        read.cookies = read.read_or_note("the profile's cookies", last_write);
        read.files = WrittenFolders::read(&default);
        read
    }

    /// Reads localStorage only, as if there were nothing else.
    pub(crate) fn read_local_storage(profile: &Path) -> Self {
        let found = local_storage::read(&profile.join("Default"));
        // Of one that is damaged it is not known what is missing, and so not how late it was written.
        let areas = found.map_err(|error| error.to_string()).and_then(|found| {
            if found.lost.is_none() { Ok(found.areas) } else { Err(found.lost.to_string()) }
        });
        let mut read = Self::default();
        read.local = read.read_or_note("the profile's localStorage", areas);
        read
    }

    /// What of the profile could not be read, for the receipt of a resume on it.
    pub fn unread(&self) -> &Receipt {
        &self.unread
    }

    /// What was read; or nothing, and a line.
    fn read_or_note<T: Default>(&mut self, what: &str, read: Result<T, impl Display>) -> T {
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

/// When the folders below `Default` were written.
#[derive(Debug, Default)]
pub(crate) struct WrittenFolders {
    /// Databases of first parties: a folder for each origin.
    databases: Vec<(String, Instant)>,
    /// All that partitions hold.
    partitions: Option<Instant>,
    /// Caches of first parties.
    caches: Option<Instant>,
    /// Service workers.
    workers: Option<Instant>,
    /// Files of first parties.
    systems: Option<Instant>,
}

impl WrittenFolders {
    /// Reads the folder `Default` of a profile.
    pub(in crate::profile) fn read(default: &Path) -> Self {
        let mut databases = Vec::new();
        for entry in fs::read_dir(default.join("IndexedDB")).into_iter().flatten().flatten() {
            let name = entry.file_name().to_string_lossy().into_owned();
            if let (Some(owner), Some(at)) =
                (name.split(".indexeddb.").next(), written(&entry.path()))
            {
                databases.push((owner.to_owned(), at));
            }
        }
        let below = |folder: &str| written(&default.join(folder));
        Self {
            databases,
            partitions: below("WebStorage"),
            caches: below("Service Worker/CacheStorage"),
            workers: below("Service Worker/Database"),
            systems: below("File System"),
        }
    }

    /// Databases in folders with these names, written at these instants.
    #[cfg(test)]
    pub(crate) fn of<const N: usize>(folders: [(&str, i64); N]) -> Self {
        let databases = folders.map(|(name, at)| (name.to_owned(), Instant(at))).to_vec();
        Self { databases, ..Self::default() }
    }

    /// The first-party keys that have databases.
    pub(crate) fn keys(&self) -> impl Iterator<Item = StorageKey> {
        self.databases.iter().filter_map(|(folder, _)| key_of(folder))
    }

    /// When the databases of a key were last written; none when there are none.
    pub(crate) fn databases(&self, key: &StorageKey) -> Option<Instant> {
        if is_partition(key) {
            return self.partitions;
        }
        let owner = folder_name(key.origin())?;
        self.databases.iter().filter(|(name, _)| *name == owner).map(|(_, at)| *at).max()
    }

    /// When any cache was last written that lies where those of a key do.
    pub(crate) fn caches(&self, key: &StorageKey) -> Option<Instant> {
        if is_partition(key) { self.partitions } else { self.caches }
    }

    /// When any file was last written that lies where those of a key do.
    pub(crate) fn systems(&self, key: &StorageKey) -> Option<Instant> {
        if is_partition(key) { self.partitions } else { self.systems }
    }

    /// When any registration of a service worker was last written, in partitions too.
    pub(crate) fn workers(&self) -> Option<Instant> {
        self.workers
    }
}

fn is_partition(key: &StorageKey) -> bool {
    key.as_str().contains('^')
}

/// The first-party key of a folder.
pub(super) fn key_of(folder: &str) -> Option<StorageKey> {
    let (scheme, rest) = folder.split_once('_')?;
    let (host, port) = rest.rsplit_once('_')?;
    let port = if port == "0" { String::new() } else { format!(":{port}") };
    let url = Url::parse(&format!("{scheme}://{host}{port}")).ok()?;
    Some(StorageKey::first_party(&url.origin().ascii_serialization()))
}

/// How Chromium names the folder of an origin (`storage::GetIdentifierFromOrigin`): the port is 0
/// when it is the scheme's own.
pub(super) fn folder_name(origin: &str) -> Option<String> {
    let url = Url::parse(origin).ok()?;
    let host = url.host_str()?.replace(':', "_");
    Some(format!("{}_{host}_{}", url.scheme(), url.port().unwrap_or(0)))
}

/// The newest instant in the store at `path`. A store that is not there was never written.
fn last_write(path: &Path) -> Result<Option<Instant>, SqliteError> {
    let Some(copy) = sqlite::open_copy(path)? else { return Ok(None) };
    // A cookie that was only sent has a new instant of access, which is written like any other.
    let newest = "select max(max(creation_utc, last_access_utc, last_update_utc)) from cookies";
    let newest: Option<i64> = copy.connection.query_row(newest, [], |row| row.get(0))?;
    Ok(newest.and_then(Instant::from_chromium))
}
