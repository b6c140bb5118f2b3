//! Chromium's `SQLite` files: read from a copy, because to open one is to write to it, and written
//! anew, each in one transaction.
//!
//! The one idea: a database is also a program. One that is not ours runs no triggers and no views,
//! computes no columns, is looked through before anything of it is believed, and has a time limit.

use super::is_ours;
use super::memory::{LARGEST, TooMuch};
use crate::plain::expect_file;
use rusqlite::config::DbConfig;
use rusqlite::limits::Limit;
use rusqlite::{Connection, ErrorCode, OpenFlags};
use std::io::ErrorKind;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant, SystemTime};
use std::{fs, io};
use tempfile::TempDir;

/// The longest text or blob of a row, in bytes: a site may store 10 MiB at most.
const LONGEST: i32 = 64 << 20;
/// How long all work on one database may take, and after how many steps one looks at the clock.
const LIMIT: Duration = Duration::from_mins(1);
const STEPS: i32 = 10_000;
/// How much of a new database stays in memory until it is whole, in KiB.
const CACHE: i64 = 64 << 10;
/// How often a file is copied that a browser writes meanwhile.
const ATTEMPTS: usize = 20;
const PAUSE: Duration = Duration::from_millis(10);
/// What is beside a database and belongs to it.
const BESIDE: [&str; 3] = ["", "-journal", "-wal"];

/// A copy of a database, open. It goes with its folder.
pub(super) struct Copy {
    pub(super) connection: Connection,
    _folder: TempDir,
}

/// How a file looks.
type FileMarks = Vec<Option<(u64, SystemTime)>>;

/// Opens a copy of the database at `path`; none when there is none. Blocks on the disk, and for a
/// fifth of a second at most while a browser writes.
pub(super) fn open_copy(path: &Path) -> Result<Option<Copy>, SqliteError> {
    // What may not be looked at, and a link that leads nowhere, is not absent.
    match fs::symlink_metadata(path) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        found => found.map(drop)?,
    }
    let folder = own_folder()?;
    let target = folder.path().join("copy");
    for attempt in 1.. {
        let (start, before) = (SystemTime::now(), read_marks(path)?);
        copy(path, &target)?;
        if before == read_marks(path)? && is_at_rest(&before, start) {
            break;
        }
        if attempt == ATTEMPTS {
            return Err(SqliteError::Busy);
        }
        std::thread::sleep(PAUSE);
    }
    Ok(Some(Copy { connection: open(&target)?, _folder: folder }))
}

/// A folder for this process alone: where a file system shares blocks, a copy may be read by all.
fn own_folder() -> io::Result<TempDir> {
    tempfile::Builder::new().permissions(fs::Permissions::from_mode(0o700)).tempdir()
}

/// Opens an untrusted database, if it is whole.
pub(super) fn open(path: &Path) -> Result<Connection, SqliteError> {
    let connection = Connection::open_with_flags(path, OpenFlags::SQLITE_OPEN_READ_WRITE)?;
    connection.set_limit(Limit::SQLITE_LIMIT_LENGTH, LONGEST)?;
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_TRIGGER, false)?;
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_VIEW, false)?;
    connection.pragma_update(None, "trusted_schema", false)?;
    let end = Instant::now() + LIMIT;
    connection.progress_handler(STEPS, Some(move || Instant::now() > end))?;
    // Pages that are reached twice would say without an end what the file says once.
    let whole: String = connection.query_row("pragma quick_check(1)", [], |row| row.get(0))?;
    if whole == "ok" { Ok(connection) } else { Err(SqliteError::Broken(whole.replace('\n', " "))) }
}

/// A new database at `path`, where nothing is, with pages of so many bytes; its caller syncs what it holds,
/// when that puts it in its place.
pub(super) fn create(path: &Path, page: u32) -> Result<Connection, SqliteError> {
    let connection = Connection::open(path)?;
    connection.pragma_update(None, "page_size", page)?;
    connection.pragma_update(None, "journal_mode", "off")?;
    connection.pragma_update(None, "synchronous", "off")?;
    // No other process can see it: pages are written once, when it is whole.
    connection.pragma_update(None, "locking_mode", "exclusive")?;
    connection.pragma_update(None, "cache_size", -CACHE)?;
    Ok(connection)
}

/// A number in the table `meta`, which holds versions.
pub(super) fn version(connection: &Connection, name: &str) -> Result<Option<i64>, SqliteError> {
    let mut found = connection.prepare("select value from meta where key = ?1")?;
    let mut rows = found.query([name])?;
    let Some(row) = rows.next()? else { return Ok(None) };
    // It is text or a number, depending on who wrote it.
    let value = row.get_ref(0)?;
    Ok(value.as_i64().ok().or_else(|| value.as_str().ok()?.parse().ok()))
}

/// Whether there is a plain table with this name: a view, or a column that is computed, may be anything.
pub(super) fn has_table(connection: &Connection, name: &str) -> Result<bool, SqliteError> {
    let plain = "select count(*) from sqlite_master
        where type = 'table' and name = ?1 and sql like 'create table%'
        and not exists (select 1 from pragma_table_xinfo(?1) where hidden <> 0)";
    Ok(connection.query_row(plain, [name], |row| row.get::<_, i64>(0))? == 1)
}

fn beside(path: &Path, end: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(end);
    name.into()
}

fn read_marks(path: &Path) -> Result<FileMarks, SqliteError> {
    let looks: io::Result<FileMarks> = BESIDE
        .iter()
        .map(|end| match fs::metadata(beside(path, end)) {
            Ok(found) => {
                expect_file(&found)?;
                Ok(Some((found.len(), found.modified()?)))
            }
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error),
        })
        .collect();
    let looks = looks?;
    let size: u64 = looks.iter().flatten().map(|(size, _)| size).sum();
    if size > LARGEST { Err(SqliteError::TooLarge) } else { Ok(looks) }
}

/// Whether nothing was written just before `start`: the clock of files is coarse, and what was written
/// then and is written now would look alike.
fn is_at_rest(look: &FileMarks, start: SystemTime) -> bool {
    let written = look.iter().flatten().map(|(_, written)| *written);
    written.filter_map(|at| start.duration_since(at).ok()).all(|age| age >= PAUSE)
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
    Damaged(String),
    #[error("expected a whole SQLite database, found it damaged: {0}")]
    Broken(String),
    #[error("expected at most 512 MiB, found more")]
    TooLarge,
    #[error(transparent)]
    TooMuch(#[from] TooMuch),
    #[error("expected it to stay as it is while it is copied, found it written all the time")]
    Busy,
    #[error("expected room on the disk, found none")]
    Full,
    #[error("expected it to be read within 60 s, found more work than that")]
    Slow,
    #[error("expected to work on a copy of it, found that the system refuses: {0}")]
    Refused(String),
}

impl From<rusqlite::Error> for SqliteError {
    fn from(error: rusqlite::Error) -> Self {
        match error {
            // Its text has the whole statement in it.
            rusqlite::Error::SqlInputError { msg, .. } => Self::Damaged(msg),
            error => match error.sqlite_error_code() {
                Some(ErrorCode::OperationInterrupted) => Self::Slow,
                Some(ErrorCode::DiskFull) => Self::Full,
                Some(
                    ErrorCode::CannotOpen
                    | ErrorCode::OutOfMemory
                    | ErrorCode::PermissionDenied
                    | ErrorCode::ReadOnly
                    | ErrorCode::SystemIoFailure,
                ) => Self::Refused(error.to_string()),
                _ => Self::Damaged(error.to_string()),
            },
        }
    }
}

impl SqliteError {
    /// Whether that is the fault of this machine, and not of what lies there.
    pub(super) fn is_ours(&self) -> bool {
        match self {
            Self::File(error) => is_ours(error),
            Self::Full | Self::Busy | Self::Slow | Self::Refused(_) => true,
            Self::Damaged(_) | Self::Broken(_) | Self::TooLarge | Self::TooMuch(_) => false,
        }
    }

    /// Whether the disk had no room.
    pub(super) fn is_full(&self) -> bool {
        matches!(self, Self::Full)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nobody_else_looks_at_a_copy() {
        let mode = own_folder().unwrap().path().metadata().unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o700);
    }
}
