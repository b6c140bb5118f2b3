//! sessionStorage of a profile, by the namespaces that its tabs have
//! (`components/services/storage/dom_storage/session_storage_metadata.h` in Chromium): rows
//! `namespace-<id>-<storage key>` name a map, rows `map-<map>-<key>` have its entries.

use crate::profile::bounds::{Budget, TooMuch};
use crate::profile::leveldb::{self, LevelDbError, Lost};
use crate::profile::local_storage::utf_16;
use crate::profile::sqlite::{self, SqliteError};
use baton_session::{Entries, StorageKey, Text};
use std::collections::{BTreeMap, HashMap};
use std::path::Path;

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

/// Reads it from whichever database the profile has. Blocks on the disk.
pub(super) fn read(profile: &Path) -> Result<StoredNamespaces, SessionStorageError> {
    let (folder, file) = (profile.join("Session Storage"), profile.join("SessionStorage"));
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
    // Tabs that were duplicated share a map, so a map may be told many times.
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
