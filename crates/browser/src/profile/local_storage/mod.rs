//! The localStorage of a profile, in either of the two databases that Chromium has for it.
//!
//! The one idea: a browser uses one of them and never looks at the other, and which one depends on its
//! version. So both are written, alike; and the one that was written later is read, and an older one
//! removed before a browser starts that might believe it.

mod database;
mod rows;
mod text;

pub(super) use text::utf_16;

use super::ProfileError;
use super::at_rest::{Instant, written};
use super::leveldb::{self, LevelDbError};
use super::sqlite::SqliteError;
use baton_session::{Entries, StorageKey};
use std::collections::BTreeMap;
use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

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
pub(super) struct Found {
    pub(super) areas: Areas,
    /// Entries that could not be understood.
    pub(super) strange: usize,
}

/// Where the `LevelDB` is, in the folder `Default`.
pub(super) const LEVELDB: &str = "Local Storage/leveldb";
/// Where the `SQLite` database is, in the folder `Default`.
pub(super) const SQLITE: &str = "LocalStorage";

/// Reads what was written last in the folder `Default` of a profile. Blocks on the disk.
pub(super) fn read(default: &Path) -> Result<Found, Unreadable> {
    let (areas, strange) = if later(default) == Some(SQLITE) {
        database::read(&default.join(SQLITE))?
    } else if default.join(LEVELDB).join("CURRENT").exists() {
        let rows = leveldb::read(&default.join(LEVELDB))?;
        match rows::version(&rows) {
            Some(version) if !rows::is_known(version) => {
                return Err(Unreadable::Version(String::from_utf8_lossy(version).into_owned()));
            }
            _ => rows::decode(&rows),
        }
    } else {
        (Areas::new(), 0)
    };
    Ok(Found { areas, strange })
}

/// Writes both databases into the folder `Default` of a profile that has neither. The areas are said
/// to be used at `now`. Nothing is synced.
pub(super) fn write(default: &Path, areas: &Areas, now: Instant) -> Result<(), Unwritable> {
    let folder = default.join(LEVELDB);
    fs::create_dir_all(&folder).map_err(ProfileError::new("create", &folder))?;
    let rows = rows::encode(areas, now);
    leveldb::write(&folder, rows.iter().map(|(key, value)| (&**key, &**value)))?;
    let path = default.join(SQLITE);
    database::write(&path, areas, now).map_err(|source| Unwritable::Sqlite { path, source })
}

/// Removes the `SQLite` database of a profile whose `LevelDB` was written later: a newer browser would
/// believe it. No browser runs on the profile. Blocks on the disk.
pub fn drop_older(profile: &Path) -> Result<(), ProfileError> {
    let default = profile.join("Default");
    if later(&default) == Some(LEVELDB) { remove_sqlite(&default) } else { Ok(()) }
}

fn remove_sqlite(default: &Path) -> Result<(), ProfileError> {
    for name in ["LocalStorage-wal", "LocalStorage-shm", "LocalStorage-journal", SQLITE] {
        let path = default.join(name);
        match fs::remove_file(&path) {
            Err(error) if error.kind() != ErrorKind::NotFound => {
                return Err(ProfileError::new("remove", path)(error));
            }
            _ => {}
        }
    }
    Ok(())
}

/// Which of the two was written later, when both are there or the `SQLite` database alone.
fn later(default: &Path) -> Option<&'static str> {
    let sqlite = [SQLITE, "LocalStorage-wal"].map(|name| written(&default.join(name)));
    let sqlite = sqlite.into_iter().flatten().max()?;
    let leveldb = written(&default.join(LEVELDB));
    Some(if leveldb.is_some_and(|at| at > sqlite) { LEVELDB } else { SQLITE })
}

/// Why localStorage could not be read.
#[derive(Debug, thiserror::Error)]
pub(super) enum Unreadable {
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
