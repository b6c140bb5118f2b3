//! localStorage in a `SQLite` database, behind which newer versions of Chromium go
//! (`components/services/storage/dom_storage/sqlite`): `maps` has the storage keys, `map_entries`
//! their entries, and large values may be compressed with zstd.

use super::{Area, Areas, LocalStorageError, decode_text, encode_text};
use crate::profile::bounds::Budget;
use crate::profile::instant::Instant;
use crate::profile::sqlite;
use crate::profile::sqlite::SqliteError;
use baton_session::StorageKey;
use rusqlite::{Connection, Row, params};
use std::collections::HashMap;
use std::io::Read;
use std::path::Path;

const SCHEMA: &str = "
    CREATE TABLE meta(key LONGVARCHAR NOT NULL UNIQUE PRIMARY KEY, value LONGVARCHAR);
    INSERT INTO meta VALUES('mmap_status','-1'),('version','1'),('last_compatible_version','1');
    CREATE TABLE maps(row_id INTEGER PRIMARY KEY AUTOINCREMENT,storage_key BLOB NOT NULL,last_accessed INTEGER,last_modified INTEGER,total_size INTEGER);
    CREATE UNIQUE INDEX maps_by_storage_key ON maps(storage_key);
    CREATE TABLE map_entries(map_id INTEGER NOT NULL,value_compression_type INTEGER NOT NULL,key BLOB NOT NULL,value BLOB NOT NULL,PRIMARY KEY(map_id, key)) WITHOUT ROWID;
";
const VERSION: i64 = 1;
/// How a value is compressed: not at all, or with zstd.
const PLAIN: i64 = 0;
const ZSTD: i64 = 1;
/// The size of the pages of a new database, in bytes. An entry of more than a quarter of a page takes
/// another page, mostly empty, so larger ones than Chromium's make it smaller and sooner written.
const PAGE: u32 = 16 << 10;
/// The largest value that is made of a compressed one: a site may store 10 MiB at most.
const LARGEST: u64 = 32 << 20;

/// The areas of the database at `path`, which must be there, and how many entries could not be
/// understood.
pub(super) fn read(path: &Path) -> Result<(Areas, usize), LocalStorageError> {
    let Some(copy) = sqlite::open_copy(path)? else { return Ok((Areas::new(), 0)) };
    let store = &copy.connection;
    for table in ["meta", "maps", "map_entries"] {
        if !sqlite::has_table(store, table)? {
            return Err(LocalStorageError::Table(table));
        }
    }
    match sqlite::version(store, "last_compatible_version")? {
        Some(VERSION) => {}
        found => return Err(LocalStorageError::Version(found.unwrap_or_default().to_string())),
    }
    let (mut areas, mut keys) = (Areas::new(), HashMap::new());
    read_maps(store, &mut keys, &mut areas).map_err(SqliteError::from)?;
    let strange = read_entries(store, &keys, &mut areas)?;
    Ok((areas, strange))
}

fn read_maps(
    store: &Connection,
    keys: &mut HashMap<i64, StorageKey>,
    areas: &mut Areas,
) -> rusqlite::Result<()> {
    let mut maps = store.prepare("select row_id, storage_key, last_modified from maps")?;
    let mut rows = maps.query([])?;
    while let Some(row) = rows.next()? {
        let changed: Option<i64> = row.get(2)?;
        if let Ok(key) = std::str::from_utf8(row.get_ref(1)?.as_bytes()?).map(StorageKey::new) {
            areas.entry(key.clone()).or_default().changed =
                changed.and_then(Instant::from_chromium);
            keys.insert(row.get(0)?, key);
        }
    }
    Ok(())
}

fn read_entries(
    store: &Connection,
    keys: &HashMap<i64, StorageKey>,
    areas: &mut Areas,
) -> Result<usize, SqliteError> {
    let (mut strange, mut budget) = (0, Budget::default());
    let mut entries =
        store.prepare("select map_id, value_compression_type, key, value from map_entries")?;
    let mut rows = entries.query([])?;
    while let Some(row) = rows.next()? {
        let (map, compression): (i64, i64) = (row.get(0)?, row.get(1)?);
        let (key, value) = (bytes(row, 2)?, bytes(row, 3)?);
        budget.take_row(key.len().saturating_add(value.len()))?;
        let value = match compression {
            PLAIN => decode_text(value),
            ZSTD => match decompress(value) {
                Some(value) => {
                    budget.spend(value.len())?;
                    decode_text(&value)
                }
                None => None,
            },
            _ => None,
        };
        let area = keys.get(&map).and_then(|key| areas.get_mut(key));
        match (area, decode_text(key), value) {
            (Some(area), Some(key), Some(value)) => {
                area.entries.0.insert(key, value);
            }
            _ => strange += 1,
        }
    }
    Ok(strange)
}

fn bytes<'a>(row: &'a Row<'_>, column: usize) -> Result<&'a [u8], rusqlite::Error> {
    Ok(row.get_ref(column)?.as_bytes()?)
}

/// What a compressed value says, unless that is too much.
fn decompress(value: &[u8]) -> Option<Vec<u8>> {
    let mut bytes = Vec::new();
    let decoder = zstd::stream::read::Decoder::with_buffer(value).ok()?;
    decoder.take(LARGEST + 1).read_to_end(&mut bytes).ok()?;
    (bytes.len() as u64 <= LARGEST).then_some(bytes)
}

/// Writes these areas, which are said to be used at `now`, to a new database at `path`.
pub(super) fn write(path: &Path, areas: &Areas, now: Instant) -> Result<(), SqliteError> {
    let mut store = sqlite::create(path, PAGE)?;
    let step = store.transaction()?;
    step.execute_batch(SCHEMA)?;
    {
        let mut maps = step.prepare("insert into maps values(?1,?2,?3,?4,?5)")?;
        let mut entries = step.prepare("insert into map_entries values(?1,?2,?3,?4)")?;
        for (id, (key, Area { entries: area, changed })) in (1_i64..).zip(areas) {
            let mut size = 0;
            for (entry, value) in &area.0 {
                let (entry, value) = (encode_text(entry), encode_text(value));
                size += entry.len() + value.len();
                entries.execute(params![id, PLAIN, entry, value])?;
            }
            let changed = changed.unwrap_or(now).to_chromium();
            let size = i64::try_from(size).unwrap_or(i64::MAX);
            let name = key.as_str().as_bytes();
            maps.execute(params![id, name, now.to_chromium(), changed, size])?;
        }
    }
    Ok(step.commit()?)
}
