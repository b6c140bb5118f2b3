//! The localStorage of a profile, in either of the two databases that Chromium has for it.
//!
//! The one idea: a browser uses one of them and never looks at the other, and which one depends on its
//! version. So both are written, alike; and the one that was written later is read, and an older one
//! removed before a browser starts that might believe it.
//!
//! Texts are as DOM storage has them: one byte tells how the others are to be read
//! (`components/services/storage/dom_storage/local_storage_impl.cc`).
//!
//! The older one is a `LevelDB` (`components/services/storage/dom_storage/leveldb` in Chromium): a
//! row `_<storage key>\0<entry key>` for each entry, and for each storage key the rows `META:<storage key>`
//! and `METAACCESS:<storage key>`, protocol buffers with the instants of its last change and use.
//!
//! Newer versions of Chromium go behind a `SQLite` database
//! (`components/services/storage/dom_storage/sqlite`): `maps` has the storage keys, `map_entries`
//! their entries, and large values may be compressed with zstd.

use super::formats::{Instant, written};
use super::leveldb::{LevelDbError, Lost};
use super::sqlite::SqliteError;
use super::{ProfileError, leveldb, remove};
use crate::profile::leveldb::Rows;
use crate::profile::memory::Budget;
use crate::profile::{formats, sqlite};
use baton_session::{Entries, StorageKey, Text};
use rusqlite::{Connection, Row, params};
use std::collections::{BTreeMap, HashMap};
use std::io::Read;
use std::path::{Path, PathBuf};
use std::{fs, thread};

/// The localStorage of each storage key.
pub(crate) type Areas = BTreeMap<StorageKey, Area>;

/// The localStorage of one storage key.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Area {
    pub(crate) entries: Entries,
    /// When it was last changed; none when Chromium did not say.
    pub(crate) changed: Option<Instant>,
}

/// What a profile holds of it.
#[derive(Debug, Default)]
pub(super) struct StoredAreas {
    pub(super) areas: Areas,
    /// Entries that could not be understood.
    pub(super) strange: usize,
    /// What of the database was damaged.
    pub(super) lost: Lost,
}

/// Where the `LevelDB` is, in the folder `Default`.
pub(super) const LEVELDB: &str = "Local Storage/leveldb";
/// Where the `SQLite` database is, in the folder `Default`.
pub(super) const SQLITE: &str = "LocalStorage";

/// Reads what was written last in the folder `Default` of a profile. Blocks on the disk.
pub(super) fn read(default: &Path) -> Result<StoredAreas, LocalStorageError> {
    if is_sqlite_later(default) {
        let (areas, strange) = read_database(&default.join(SQLITE))?;
        return Ok(StoredAreas { areas, strange, ..StoredAreas::default() });
    }
    let Some(leveldb::Contents { rows, lost }) = leveldb::read(&default.join(LEVELDB))? else {
        return Ok(StoredAreas::default());
    };
    match version(&rows) {
        Some(version) if !is_known(version) => {
            Err(LocalStorageError::Version(String::from_utf8_lossy(version).into_owned()))
        }
        _ => {
            let (areas, strange) = decode(&rows);
            Ok(StoredAreas { areas, strange, lost })
        }
    }
}

/// Writes both databases into the folder `Default` of a profile that has neither, as of one instant.
/// The areas are said to be used at `now`. Nothing is synced.
pub(super) fn write(default: &Path, areas: &Areas, now: Instant) -> Result<(), Unwritable> {
    let (folder, path) = (default.join(LEVELDB), default.join(SQLITE));
    fs::create_dir_all(&folder).map_err(ProfileError::new("create", &folder))?;
    thread::scope(|scope| {
        let written = scope.spawn(|| write_database(&path, areas, now));
        let rows = encode(areas, now);
        leveldb::write(&folder, rows.iter().map(|(key, value)| (&**key, &**value)))?;
        let written = written.join().unwrap_or(Err(SqliteError::Busy));
        written.map_err(|source| Unwritable::Sqlite { path: path.clone(), source })
    })?;
    let alike = (|| {
        let at = fs::metadata(folder.join(leveldb::LAST_WRITTEN))?.modified()?;
        fs::File::options().write(true).open(&path)?.set_modified(at)
    })();
    Ok(alike.map_err(ProfileError::new("date", path))?)
}

/// Removes the `SQLite` database of a profile whose `LevelDB` was written later: a newer browser would
/// believe it. No browser runs on the profile. Blocks on the disk.
pub fn drop_older(profile: &Path) -> Result<(), ProfileError> {
    let default = profile.join("Default");
    match (written_sqlite(&default), written(&default.join(LEVELDB))) {
        (Some(sqlite), Some(leveldb)) if leveldb > sqlite => remove_sqlite(&default),
        _ => Ok(()),
    }
}

fn remove_sqlite(default: &Path) -> Result<(), ProfileError> {
    let names = ["LocalStorage-wal", "LocalStorage-shm", "LocalStorage-journal", SQLITE];
    names.iter().try_for_each(|name| remove(&default.join(name)))
}

/// Whether the `SQLite` database is there, and was written after the other one. Of two that are alike
/// the other one is read sooner.
fn is_sqlite_later(default: &Path) -> bool {
    written_sqlite(default).is_some_and(|at| written(&default.join(LEVELDB)) < Some(at))
}

fn written_sqlite(default: &Path) -> Option<Instant> {
    let files = [SQLITE, "LocalStorage-wal"].map(|name| written(&default.join(name)));
    files.into_iter().flatten().max()
}

/// Why localStorage could not be read.
#[derive(Debug, thiserror::Error)]
pub(super) enum LocalStorageError {
    #[error(transparent)]
    LevelDb(#[from] LevelDbError),
    #[error(transparent)]
    Sqlite(#[from] SqliteError),
    #[error("expected a database of localStorage, found none with a table {0:?}")]
    Table(&'static str),
    #[error(
        "expected localStorage of version 1, found version {0:?}, which this Baton does not know"
    )]
    Version(String),
}

impl LocalStorageError {
    /// Whether that is the fault of this machine, and not of what lies there.
    pub(super) fn is_ours(&self) -> bool {
        match self {
            Self::LevelDb(error) => error.is_ours(),
            Self::Sqlite(error) => error.is_ours(),
            Self::Table(_) | Self::Version(_) => false,
        }
    }
}

/// Why localStorage could not be written.
#[derive(Debug, thiserror::Error)]
pub(super) enum Unwritable {
    #[error(transparent)]
    Profile(#[from] ProfileError),
    #[error(transparent)]
    LevelDb(#[from] LevelDbError),
    #[error("could not write {}: {source}", path.display())]
    Sqlite { path: PathBuf, source: SqliteError },
}

const UTF_16: u8 = 0;
const LATIN_1: u8 = 1;

/// A text of localStorage; none when it is no such text.
fn decode_text(bytes: &[u8]) -> Option<Text> {
    match bytes.split_first()? {
        (&LATIN_1, rest) if rest.is_ascii() => Some(String::from_utf8_lossy(rest).as_ref().into()),
        (&LATIN_1, rest) => {
            Some(rest.iter().map(|byte| char::from(*byte)).collect::<String>().into())
        }
        (&UTF_16, rest) => utf_16(rest),
        _ => None,
    }
}

/// UTF-16, the lower byte first, as sessionStorage has it without any mark.
pub(super) fn utf_16(bytes: &[u8]) -> Option<Text> {
    let (pairs, odd) = bytes.as_chunks::<2>();
    let units: Vec<u16> = pairs.iter().map(|pair| u16::from_le_bytes(*pair)).collect();
    odd.is_empty().then(|| Text::from_utf16(&units))
}

/// A text as the browser would write it: one byte for each character when that suffices.
fn encode_text(text: &Text) -> Vec<u8> {
    let latin = text.as_str().and_then(latin_1);
    latin.unwrap_or_else(|| {
        let units = text.to_utf16();
        [UTF_16].into_iter().chain(units.iter().flat_map(|unit| unit.to_le_bytes())).collect()
    })
}

fn latin_1(text: &str) -> Option<Vec<u8>> {
    let mut bytes = Vec::with_capacity(1 + text.len());
    bytes.push(LATIN_1);
    if text.is_ascii() {
        bytes.extend_from_slice(text.as_bytes());
        return Some(bytes);
    }
    for c in text.chars() {
        bytes.push(u8::try_from(u32::from(c)).ok()?);
    }
    Some(bytes)
}

const META: &[u8] = b"META:";
const ACCESS: &[u8] = b"METAACCESS:";
/// The only version that there has been.
const ROWS_VERSION: (&[u8], &[u8]) = (b"VERSION", b"1");

/// The areas in the rows of a database, and how many entries could not be understood.
fn decode(rows: &Rows) -> (Areas, usize) {
    let (mut areas, mut strange) = (Areas::new(), 0);
    for (key, value) in rows {
        if let Some(name) = key.strip_prefix(META) {
            if let Some(area) = storage_key(name) {
                let changed = formats::first_number(value).and_then(Instant::from_chromium);
                areas.entry(area).or_default().changed = changed;
            }
        } else if key.starts_with(b"_") {
            match entry(key, value) {
                Some((area, key, value)) => {
                    areas.entry(area).or_default().entries.0.insert(key, value);
                }
                None => strange += 1,
            }
        }
    }
    (areas, strange)
}

/// The version of a database; none when it says none.
fn version(rows: &Rows) -> Option<&[u8]> {
    rows.get(ROWS_VERSION.0).map(Vec::as_slice)
}

/// Whether a version is the one that we know.
fn is_known(version: &[u8]) -> bool {
    version == ROWS_VERSION.1
}

/// The rows of a database with these areas, which are said to be used at `now`.
fn encode(areas: &Areas, now: Instant) -> Rows {
    let mut rows = Rows::new();
    rows.insert(ROWS_VERSION.0.to_vec(), ROWS_VERSION.1.to_vec());
    for (key, area) in areas {
        let name = name(key);
        let mut size = 0;
        for (entry, value) in &area.entries.0 {
            let (entry, value) = (encode_text(entry), encode_text(value));
            size += entry.len() + value.len();
            rows.insert([b"_", name, b"\0", &entry].concat(), value);
        }
        let changed = area.changed.unwrap_or(now).to_chromium();
        let meta = formats::numbers(&[changed, i64::try_from(size).unwrap_or(i64::MAX)]);
        rows.insert([META, name].concat(), meta);
        rows.insert([ACCESS, name].concat(), formats::numbers(&[now.to_chromium()]));
    }
    rows
}

fn entry(key: &[u8], value: &[u8]) -> Option<(StorageKey, Text, Text)> {
    let key = key.strip_prefix(b"_")?;
    let end = key.iter().position(|byte| *byte == 0)?;
    Some((storage_key(&key[..end])?, decode_text(&key[end + 1..])?, decode_text(value)?))
}

fn storage_key(name: &[u8]) -> Option<StorageKey> {
    let name = std::str::from_utf8(name).ok()?;
    Some(if name.contains('^') { StorageKey::new(name) } else { StorageKey::first_party(name) })
}

/// First-party keys are written without their trailing slash.
fn name(key: &StorageKey) -> &[u8] {
    let name = if key.is_first_party() { key.origin() } else { key.as_str() };
    name.as_bytes()
}

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
fn read_database(path: &Path) -> Result<(Areas, usize), LocalStorageError> {
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
fn write_database(path: &Path, areas: &Areas, now: Instant) -> Result<(), SqliteError> {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_of_every_form_are_read_back() {
        for (text, kind, length) in
            [("", 1, 1), ("plain", 1, 6), ("é\0", 1, 3), ("漢", 0, 3), ("😀", 0, 5)]
        {
            let bytes = encode_text(&Text::from(text));
            assert_eq!((bytes[0], bytes.len()), (kind, length));
            assert_eq!(decode_text(&bytes), Some(Text::from(text)));
        }
        let lone = Text::from_utf16(&[0x61, 0xd800]);
        assert_eq!(decode_text(&encode_text(&lone)), Some(lone));
    }

    #[test]
    fn what_is_no_text_is_none() {
        for bytes in [&[][..], &[2, 65], &[0, 65]] {
            assert_eq!(decode_text(bytes), None);
        }
    }
}
