//! Chromium's `SQLite` files: read from a copy, because to open one is to write to it, and written
//! anew, each in one transaction.

use rusqlite::{Connection, OpenFlags};
use std::fs;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};
use tempfile::TempDir;

/// The largest file that is read, in bytes.
const LARGEST: u64 = 512 << 20;
/// How much of a new database stays in memory until it is whole, in KiB.
const CACHE: i64 = 64 << 10;
/// How often a file is copied that a browser writes meanwhile.
const ATTEMPTS: usize = 20;
const PAUSE: Duration = Duration::from_millis(10);
/// What stands beside a database and belongs to it.
const BESIDE: [&str; 3] = ["", "-journal", "-wal"];

/// A copy of a database, open. It goes with its folder.
pub(super) struct Copy {
    pub(super) connection: Connection,
    _folder: TempDir,
}

/// How a file looks.
type Look = Vec<Option<(u64, SystemTime)>>;

/// Opens a copy of the database at `path`; none when there is none. Blocks on the disk, and for a
/// fifth of a second at most while a browser writes.
pub(super) fn open_copy(path: &Path) -> Result<Option<Copy>, SqliteError> {
    if !path.exists() {
        return Ok(None);
    }
    let folder = tempfile::tempdir()?;
    let target = folder.path().join("copy");
    for attempt in 1.. {
        let before = look(path)?;
        copy(path, &target)?;
        if before == look(path)? {
            break;
        }
        if attempt == ATTEMPTS {
            return Err(SqliteError::Busy);
        }
        std::thread::sleep(PAUSE);
    }
    let connection = Connection::open_with_flags(&target, OpenFlags::SQLITE_OPEN_READ_WRITE)?;
    connection.pragma_update(None, "trusted_schema", false)?;
    Ok(Some(Copy { connection, _folder: folder }))
}

/// A new database at `path`, where nothing is, with pages of so many bytes; what it holds is synced by
/// whoever puts it in its place.
pub(super) fn create(path: &Path, page: u32) -> Result<Connection, SqliteError> {
    let connection = Connection::open(path)?;
    connection.pragma_update(None, "page_size", page)?;
    connection.pragma_update(None, "journal_mode", "off")?;
    connection.pragma_update(None, "synchronous", "off")?;
    // Nobody else can see it: pages are written once, when it is whole.
    connection.pragma_update(None, "locking_mode", "exclusive")?;
    connection.pragma_update(None, "cache_size", -CACHE)?;
    Ok(connection)
}

/// A number in the table `meta`, which tells versions.
pub(super) fn version(connection: &Connection, name: &str) -> Result<Option<i64>, SqliteError> {
    let mut found = connection.prepare("select value from meta where key = ?1")?;
    let mut rows = found.query([name])?;
    let Some(row) = rows.next()? else { return Ok(None) };
    // It is text or a number, depending on who wrote it.
    let value = row.get_ref(0)?;
    Ok(value.as_i64().ok().or_else(|| value.as_str().ok()?.parse().ok()))
}

/// Whether there is a plain table with this name: a view may be anything.
pub(super) fn has_table(connection: &Connection, name: &str) -> Result<bool, SqliteError> {
    let plain = "select count(*) from sqlite_master
        where type = 'table' and name = ?1 and sql like 'create table%'";
    Ok(connection.query_row(plain, [name], |row| row.get::<_, i64>(0))? == 1)
}

fn beside(path: &Path, end: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(end);
    name.into()
}

fn look(path: &Path) -> Result<Look, SqliteError> {
    let looks: io::Result<Look> = BESIDE
        .iter()
        .map(|end| match fs::metadata(beside(path, end)) {
            Ok(found) => Ok(Some((found.len(), found.modified()?))),
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error),
        })
        .collect();
    let looks = looks?;
    let size: u64 = looks.iter().flatten().map(|(size, _)| size).sum();
    if size > LARGEST { Err(SqliteError::TooLarge) } else { Ok(looks) }
}

fn copy(from: &Path, to: &Path) -> Result<(), SqliteError> {
    for end in BESIDE {
        let (from, to) = (beside(from, end), beside(to, end));
        remove(&to)?;
        match reflink_copy::reflink_or_copy(from, to) {
            Err(error) if error.kind() != ErrorKind::NotFound || end.is_empty() => {
                return Err(error.into());
            }
            _ => {}
        }
    }
    Ok(())
}

fn remove(path: &Path) -> io::Result<()> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

/// Why a database could not be read or written.
#[derive(Debug, thiserror::Error)]
pub(super) enum SqliteError {
    #[error(transparent)]
    File(#[from] io::Error),
    #[error("expected a whole SQLite database, found one that cannot be read: {0}")]
    Damaged(#[from] rusqlite::Error),
    #[error("expected a whole SQLite database, found it damaged: {0}")]
    Broken(String),
    #[error("expected at most 512 MiB, found more")]
    TooLarge,
    #[error("expected it to stay as it is while it is copied, found it written all the time")]
    Busy,
}

impl SqliteError {
    /// Whether the disk had no room.
    pub(super) fn is_full(&self) -> bool {
        let code = match self {
            Self::Damaged(error) => error.sqlite_error_code(),
            _ => None,
        };
        code == Some(rusqlite::ErrorCode::DiskFull)
    }
}
