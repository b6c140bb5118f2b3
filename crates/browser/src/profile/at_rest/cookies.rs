//! When a profile's cookie store was last written.

use crate::profile::instant::Instant;
use crate::profile::sqlite::{self, SqliteError};
use std::path::Path;

/// The newest instant in the store at `path`. A store that is not there was never written.
pub(super) fn last_write(path: &Path) -> Result<Option<Instant>, SqliteError> {
    let Some(copy) = sqlite::open_copy(path)? else { return Ok(None) };
    // A cookie that was only sent has a new instant of access, which is written like any other.
    let newest = "select max(max(creation_utc, last_access_utc, last_update_utc)) from cookies";
    let newest: Option<i64> = copy.connection.query_row(newest, [], |row| row.get(0))?;
    Ok(newest.and_then(Instant::from_chromium))
}
