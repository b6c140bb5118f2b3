//! When a profile's cookie store was last written.

use super::{Instant, Unreadable};
use rusqlite::{Connection, OpenFlags};
use std::fs;
use std::path::Path;

/// The newest instant in the store at `path`. It is read from a copy: after a crash SQLite mends
/// what it opens. A store that is not there was never written.
pub(super) fn last_write(path: &Path) -> Result<Option<Instant>, Unreadable> {
    if !path.exists() {
        return Ok(None);
    }
    let folder = tempfile::tempdir()?;
    let copy = folder.path().join("Cookies");
    reflink_copy::reflink_or_copy(path, &copy)?;
    let journal = path.with_file_name("Cookies-journal");
    if journal.exists() {
        fs::copy(journal, folder.path().join("Cookies-journal"))?;
    }
    let store = Connection::open_with_flags(&copy, OpenFlags::SQLITE_OPEN_READ_WRITE)?;
    // A cookie that was only sent has a new instant of access, which is written like any other.
    let newest = "select max(max(creation_utc, last_access_utc, last_update_utc)) from cookies";
    let newest: Option<i64> = store.query_row(newest, [], |row| row.get(0))?;
    Ok(newest.and_then(Instant::from_chromium))
}
