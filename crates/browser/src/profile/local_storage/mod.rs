//! The localStorage of a profile, in either of the two databases that Chromium has for it.
//!
//! The one idea: a browser uses one of them and never looks at the other, and which one depends on its
//! version. So both are written, alike; and the one that was written later is read, and an older one
//! removed before a browser starts that might believe it.
//!
//! Texts are as DOM storage has them: one byte tells how the others are to be read
//! (`components/services/storage/dom_storage/local_storage_impl.cc`).

mod database;
mod rows;

use super::instant::{Instant, written};
use super::keep::remove;
use super::leveldb::{LevelDbError, Lost};
use super::sqlite::SqliteError;
use super::{ProfileError, leveldb};
use baton_session::{Entries, StorageKey, Text};
use std::collections::BTreeMap;
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
        let (areas, strange) = database::read(&default.join(SQLITE))?;
        return Ok(StoredAreas { areas, strange, ..StoredAreas::default() });
    }
    let Some(leveldb::Contents { rows, lost }) = leveldb::read(&default.join(LEVELDB))? else {
        return Ok(StoredAreas::default());
    };
    match rows::version(&rows) {
        Some(version) if !rows::is_known(version) => {
            Err(LocalStorageError::Version(String::from_utf8_lossy(version).into_owned()))
        }
        _ => {
            let (areas, strange) = rows::decode(&rows);
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
        let written = scope.spawn(|| database::write(&path, areas, now));
        let rows = rows::encode(areas, now);
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
