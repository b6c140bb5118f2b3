//! When the files of a profile were last written that hold what Chromium writes at once:
//! databases, caches, files and workers of sites.

use crate::profile::instant::{Instant, written};
use baton_session::StorageKey;
use std::fs;
use std::path::Path;
use url::Url;

/// When the folders below `Default` were written.
#[derive(Debug, Default)]
pub(crate) struct Files {
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

impl Files {
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
pub(in crate::profile) fn key_of(folder: &str) -> Option<StorageKey> {
    let (scheme, rest) = folder.split_once('_')?;
    let (host, port) = rest.rsplit_once('_')?;
    let port = if port == "0" { String::new() } else { format!(":{port}") };
    let url = Url::parse(&format!("{scheme}://{host}{port}")).ok()?;
    Some(StorageKey::first_party(&url.origin().ascii_serialization()))
}

/// How Chromium names the folder of an origin (`storage::GetIdentifierFromOrigin`): the port is 0
/// when it is the scheme's own.
pub(in crate::profile) fn folder_name(origin: &str) -> Option<String> {
    let url = Url::parse(origin).ok()?;
    let host = url.host_str()?.replace(':', "_");
    Some(format!("{}_{host}_{}", url.scheme(), url.port().unwrap_or(0)))
}
