//! What sites store in a profile beside cookies and localStorage: sessionStorage, which is read, and what
//! only a browser can read.
//!
//! Only a browser can read databases, caches, files and service workers of sites. The answer says
//! whose they are, where that can be seen; so they are not taken for absent.
//!
//! sessionStorage goes by the namespaces that the tabs of a profile have
//! (`components/services/storage/dom_storage/session_storage_metadata.h` in Chromium): rows
//! `namespace-<id>-<storage key>` name a map, rows `map-<map>-<key>` have its entries.

use crate::plain;
use crate::profile::at_rest::key_of;
use crate::profile::leveldb::{LevelDbError, Lost};
use crate::profile::local_storage::utf_16;
use crate::profile::memory::{Budget, TooMuch};
use crate::profile::sqlite::SqliteError;
use crate::profile::{formats, leveldb, sqlite};
use baton_session::receipt::{ItemKind, ReceiptItem};
use baton_session::{Entries, Receipt, StorageKey, Text};
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::io::ErrorKind;
use std::path::Path;
use std::{fs, io};

const ONLY_A_BROWSER: &str =
    "only a browser can read it: open the profile in one, and use baton attach";

/// The largest list of caches that is read, in bytes.
const LARGEST: u64 = 16 << 20;

/// Where partitions have what, in their folders (`storage/browser/quota/quota_manager_proxy.cc`).
const OF_A_PARTITION: [(&str, ItemKind); 3] = [
    ("IndexedDB", ItemKind::IndexedDb),
    ("CacheStorage", ItemKind::Cache),
    ("FileSystem", ItemKind::Files),
];

/// A line for each site and kind. Blocks on the disk.
pub(super) fn left_out(profile: &Path) -> Receipt {
    let found = [
        (ItemKind::IndexedDb, "all databases", databases(profile)),
        (ItemKind::Cache, "all caches", caches(profile)),
        (ItemKind::Files, "all files", systems(profile)),
        (ItemKind::ServiceWorker, "all service workers", workers(profile)),
    ];
    let mut receipt = Receipt::default();
    for (kind, all, found) in found {
        match found {
            Ok(owners) => {
                let line = |owner: String| ReceiptItem::not_portable(kind, owner, ONLY_A_BROWSER);
                owners.into_iter().map(line).for_each(|item| receipt.push(item));
            }
            Err(reason) => receipt.push(ReceiptItem::rejected(kind, all, reason)),
        }
    }
    receipt.extend(partitions(profile));
    receipt
}

/// The names in a folder; none of one that is not there.
fn names(folder: &Path) -> io::Result<Vec<String>> {
    let entries = match fs::read_dir(folder) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Vec::new()),
        entries => entries?,
    };
    entries.map(|entry| Ok(entry?.file_name().to_string_lossy().into_owned())).collect()
}

/// Whether a folder, or a file in the place of one, has anything in it.
fn holds_any(path: &Path) -> bool {
    path.is_file() || fs::read_dir(path).is_ok_and(|mut entries| entries.next().is_some())
}

/// First parties have a folder each, and another one for what is large.
fn databases(profile: &Path) -> Result<BTreeSet<String>, String> {
    let folder = profile.join("IndexedDB");
    let names = names(&folder).map_err(|error| error.to_string())?;
    let there = names.into_iter().filter(|name| holds_any(&folder.join(name)));
    let owner = |name: String| match name.split_once(".indexeddb.") {
        Some((owner, _)) => named(owner),
        None => name,
    };
    Ok(there.map(owner).collect())
}

/// A first party by the name of its folder; where that means none, the name itself.
fn named(folder: &str) -> String {
    key_of(folder).map_or_else(|| folder.to_owned(), |key| key.to_string())
}

/// First parties have a folder each, in which a list has their storage key and the names of their caches
/// (`content/browser/cache_storage/cache_storage.proto`).
fn caches(profile: &Path) -> Result<BTreeSet<String>, String> {
    const CACHE: u64 = 1;
    const ORIGIN: u64 = 2;
    const STORAGE_KEY: u64 = 3;
    let folder = profile.join("Service Worker/CacheStorage");
    let mut owners = BTreeSet::new();
    for name in names(&folder).map_err(|error| error.to_string())? {
        let path = folder.join(&name);
        if !holds_any(&path) {
            continue;
        }
        let list = plain::read(&path.join("index.txt"), LARGEST).ok();
        let fields = list.as_deref().and_then(formats::texts).unwrap_or_default();
        let first = |number| fields.iter().find(|(field, _)| *field == number);
        let owner = first(STORAGE_KEY).or(first(ORIGIN));
        let owner = owner.and_then(|(_, owner)| std::str::from_utf8(owner).ok());
        match owner {
            // It had caches once, and has none.
            Some(_) if first(CACHE).is_none() => {}
            Some(owner) => {
                owners.insert(StorageKey::new(owner).to_string());
            }
            None => {
                owners.insert(name);
            }
        }
    }
    Ok(owners)
}

/// A database names the folder of each first party
/// (`storage/browser/file_system/sandbox_origin_database.cc`).
fn systems(profile: &Path) -> Result<BTreeSet<String>, String> {
    let rows = rows(&profile.join("File System/Origins"))?;
    let names = rows.iter().filter_map(|key| key.strip_prefix(b"ORIGIN:"));
    Ok(names.map(|name| named(&String::from_utf8_lossy(name))).collect())
}

/// A database names each storage key that has some, partitions too
/// (`components/services/storage/service_worker/service_worker_database.cc`).
fn workers(profile: &Path) -> Result<BTreeSet<String>, String> {
    let rows = rows(&profile.join("Service Worker/Database"))?;
    let keys = rows.iter().filter_map(|key| key.strip_prefix(b"INITDATA_UNIQUE_ORIGIN:"));
    Ok(keys.map(|key| StorageKey::new(String::from_utf8_lossy(key)).to_string()).collect())
}

/// The keys of a database, of which nothing is damaged.
fn rows(folder: &Path) -> Result<BTreeSet<Vec<u8>>, String> {
    match leveldb::read(folder).map_err(|error| error.to_string())? {
        Some(found) if !found.lost.is_none() => Err(found.lost.to_string()),
        found => Ok(found.unwrap_or_default().rows.into_keys().collect()),
    }
}

/// Partitions have a folder each, and a database names their storage keys.
fn partitions(profile: &Path) -> Receipt {
    let folder = profile.join("WebStorage");
    let mut receipt = Receipt::default();
    let names = match names(&folder) {
        Ok(names) => names,
        Err(error) => {
            receipt.push(ReceiptItem::rejected(ItemKind::IndexedDb, "all partitions", error));
            return receipt;
        }
    };
    let numbered = names.into_iter().filter(|name| name.parse::<i64>().is_ok());
    let mut numbered: Vec<_> = numbered.filter(|name| holds_any(&folder.join(name))).collect();
    numbered.sort();
    if numbered.is_empty() {
        return receipt;
    }
    let owners = owners(&folder.join("QuotaManager")).unwrap_or_default();
    for name in numbered {
        let place = owners.get(&name).cloned().unwrap_or_else(|| format!("WebStorage/{name}"));
        for (below, kind) in OF_A_PARTITION {
            if holds_any(&folder.join(&name).join(below)) {
                receipt.push(ReceiptItem::not_portable(kind, place.clone(), ONLY_A_BROWSER));
            }
        }
    }
    receipt
}

/// The storage key of each partition, by the name of its folder.
fn owners(path: &Path) -> Result<BTreeMap<String, String>, sqlite::SqliteError> {
    let Some(copy) = sqlite::open_copy(path)? else { return Ok(BTreeMap::new()) };
    let mut statement = copy.connection.prepare("select id, storage_key from buckets")?;
    let mut rows = statement.query([])?;
    let mut owners = BTreeMap::new();
    while let Some(row) = rows.next()? {
        let (id, key): (i64, String) = (row.get(0)?, row.get(1)?);
        owners.insert(id.to_string(), StorageKey::new(key).to_string());
    }
    Ok(owners)
}

/// What the tabs hold, by the id of their namespace.
pub(super) type Namespaces = HashMap<String, BTreeMap<StorageKey, Entries>>;

/// The length of an id: a UUID with underscores.
const ID: usize = 36;

/// What a profile holds of it.
#[derive(Debug, Default)]
pub(super) struct StoredNamespaces {
    pub(super) namespaces: Namespaces,
    /// Entries that could not be understood.
    pub(super) strange: usize,
    /// What of the database was damaged.
    pub(super) lost: Lost,
}

/// Where a profile has it: in a folder, or in one file.
pub(in crate::profile) const SESSION_STORAGE: (&str, &str) = ("Session Storage", "SessionStorage");

/// Reads it from whichever database the profile has. Blocks on the disk.
pub(super) fn read(profile: &Path) -> Result<StoredNamespaces, SessionStorageError> {
    let (folder, file) = (profile.join(SESSION_STORAGE.0), profile.join(SESSION_STORAGE.1));
    if let Some(copy) = sqlite::open_copy(&file)? {
        return Ok(from_sqlite(&copy)?);
    }
    let Some(leveldb::Contents { rows, lost }) = leveldb::read(&folder)? else {
        return Ok(StoredNamespaces::default());
    };
    let (namespaces, strange) = from_rows(&rows)?;
    Ok(StoredNamespaces { namespaces, strange, lost })
}

/// The namespaces in the rows of a database, and how many entries could not be understood.
fn from_rows(rows: &leveldb::Rows) -> Result<(Namespaces, usize), TooMuch> {
    let (mut maps, mut strange): (HashMap<&[u8], Entries>, _) = (HashMap::new(), 0);
    for (key, value) in rows {
        let Some(rest) = key.strip_prefix(b"map-") else { continue };
        let entry = rest
            .iter()
            .position(|byte| *byte == b'-')
            .and_then(|end| Some((&rest[..end], text(&rest[end + 1..])?, utf_16(value)?)));
        match entry {
            Some((map, key, value)) => {
                maps.entry(map).or_default().0.insert(key, value);
            }
            None => strange += 1,
        }
    }
    // Tabs that were duplicated share a map, so many rows may name the same map.
    let (mut namespaces, mut budget) = (Namespaces::new(), Budget::default());
    for (key, map) in rows {
        let named = key.strip_prefix(b"namespace-").and_then(|rest| {
            let (id, rest) = rest.split_at_checked(ID)?;
            let key = rest.strip_prefix(b"-").filter(|key| !key.is_empty())?;
            Some((std::str::from_utf8(id).ok()?, std::str::from_utf8(key).ok()?))
        });
        if let (Some((id, key)), Some(entries)) = (named, maps.get(&**map)) {
            for (key, value) in &entries.0 {
                budget.take_row(key.len().saturating_add(value.len()))?;
            }
            let areas = namespaces.entry(id.to_owned()).or_default();
            areas.insert(StorageKey::new(key), entries.clone());
        }
    }
    Ok((namespaces, strange))
}

fn from_sqlite(copy: &sqlite::Copy) -> Result<StoredNamespaces, SqliteError> {
    for table in ["session_metadata", "map_entries"] {
        if !sqlite::has_table(&copy.connection, table)? {
            return Err(SqliteError::Broken(format!("a database without a table {table}")));
        }
    }
    let mut statement = copy.connection.prepare(
        "select session_id, storage_key, key, value, value_compression_type
         from session_metadata join map_entries using (map_id)",
    )?;
    let mut rows = statement.query([])?;
    let (mut found, mut budget) = (StoredNamespaces::default(), Budget::default());
    while let Some(row) = rows.next()? {
        budget.take_row(row.get_ref(3)?.as_bytes().map_or(0, <[u8]>::len))?;
        let (key, entry) = (row.get_ref(1)?.as_bytes().ok(), row.get_ref(2)?.as_bytes().ok());
        let is_plain = row.get_ref(4)?.as_i64() == Ok(0);
        let value = row.get_ref(3)?.as_bytes().ok().filter(|_| is_plain).and_then(utf_16);
        let key = key.and_then(|key| std::str::from_utf8(key).ok());
        if let (Some(key), Some(entry), Some(value)) = (key, entry.and_then(text), value) {
            let areas = found.namespaces.entry(row.get(0)?).or_default();
            areas.entry(StorageKey::new(key)).or_default().0.insert(entry, value);
        } else {
            found.strange += 1;
        }
    }
    Ok(found)
}

fn text(bytes: &[u8]) -> Option<Text> {
    std::str::from_utf8(bytes).ok().map(Text::from)
}

/// Why sessionStorage could not be read.
#[derive(Debug, thiserror::Error)]
pub(super) enum SessionStorageError {
    #[error(transparent)]
    LevelDb(#[from] LevelDbError),
    #[error(transparent)]
    Sqlite(#[from] SqliteError),
    #[error(transparent)]
    TooMuch(#[from] TooMuch),
}
