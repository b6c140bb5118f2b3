//! The cookie store of a profile
//! (`net/extras/sqlite/sqlite_persistent_cookie_store.cc` in Chromium).
//!
//! The one idea: Chromium forgives nothing here. A store of another schema is emptied when it is opened,
//! and one bad row can cost every cookie of its site. So each row is checked before it is written, and
//! written as plain text, which is accepted on every machine.

mod place;
mod read;
mod row;
mod usable;
mod write;

pub(super) use place::{MOVED, PLACES, Place};
pub(super) use read::{count, read};
pub(super) use usable::usable;
pub(super) use write::{create, merge};

use super::sqlite::SqliteError;

/// Where the store of a new profile is, in the folder `Default`.
pub(super) const NAME: &str = "Cookies";

/// The version that is written.
const VERSION: i64 = 24;
/// The oldest version that is read: Chromium empties those before it.
const OLDEST: i64 = 23;

const SCHEMA: &str = "
    CREATE TABLE meta(key LONGVARCHAR NOT NULL UNIQUE PRIMARY KEY, value LONGVARCHAR);
    INSERT INTO meta VALUES('mmap_status','-1'),('version','24'),('last_compatible_version','24');
    CREATE TABLE cookies(creation_utc INTEGER NOT NULL,host_key TEXT NOT NULL,top_frame_site_key TEXT NOT NULL,name TEXT NOT NULL,value TEXT NOT NULL,encrypted_value BLOB NOT NULL,path TEXT NOT NULL,expires_utc INTEGER NOT NULL,is_secure INTEGER NOT NULL,is_httponly INTEGER NOT NULL,last_access_utc INTEGER NOT NULL,has_expires INTEGER NOT NULL,is_persistent INTEGER NOT NULL,priority INTEGER NOT NULL,samesite INTEGER NOT NULL,source_scheme INTEGER NOT NULL,source_port INTEGER NOT NULL,last_update_utc INTEGER NOT NULL,source_type INTEGER NOT NULL,has_cross_site_ancestor INTEGER NOT NULL);
    CREATE UNIQUE INDEX cookies_unique_index ON cookies(host_key, top_frame_site_key, has_cross_site_ancestor, name, path, source_scheme, source_port);
";

/// Why a store could not be read or written.
#[derive(Debug, thiserror::Error)]
pub enum CookieStoreError {
    /// It is no database, or a damaged one.
    #[error(transparent)]
    #[expect(private_interfaces, reason = "only its text is of use to others")]
    Sqlite(#[from] SqliteError),
    /// It is a database of something else.
    #[error("expected a cookie store of Chromium, found a database without a table of cookies")]
    NoCookies,
    /// Chromium itself would empty it.
    #[error(
        "expected a cookie store of version 23 or 24, found version {0}, which is too old: open the profile once in a browser of today"
    )]
    TooOld(i64),
    /// A browser that is newer than this program wrote it.
    #[error(
        "expected a cookie store of version 23 or 24, found version {0}, which is too new: use a newer Baton"
    )]
    TooNew(i64),
    /// One that can be read, but not written.
    #[error(
        "expected a cookie store of version 24, found version {0}: open the profile once in a browser of today, then merge"
    )]
    NotCurrent(i64),
    /// What was written to it cannot be read again.
    #[error(
        "expected to read back what was written, found {0} cookies missing: the store is damaged"
    )]
    NotReadBack(usize),
}

impl CookieStoreError {
    /// Whether that is the fault of this machine, and not of the store.
    pub(super) fn is_ours(&self) -> bool {
        matches!(self, Self::Sqlite(error) if error.is_ours())
    }
}

impl From<rusqlite::Error> for CookieStoreError {
    fn from(error: rusqlite::Error) -> Self {
        SqliteError::from(error).into()
    }
}
