//! Reads a cookie store.

use super::row::{COLUMNS, StoredCookie, Strange};
use super::{CookieStoreError, OLDEST, VERSION};
use crate::profile::bounds::Budget;
use crate::profile::sqlite::{self, SqliteError};
use baton_session::receipt::{ItemKind, ReceiptItem};
use baton_session::{Cookie, Receipt};
use std::path::Path;

/// What a store holds.
#[derive(Debug, Default)]
pub(in crate::profile) struct Found {
    /// Its cookies; without their values, those that could not be decrypted are not among them.
    pub(in crate::profile) cookies: Vec<Cookie>,
    /// Those that could not be read, with the reason.
    pub(in crate::profile) left_out: Receipt,
}

/// Reads the store at `path` from a copy; none when there is none. `decrypt` makes plain text of an
/// encrypted value of a host, in a store of that version; or says why it cannot. Blocks on the disk.
pub(in crate::profile) fn read(
    path: &Path,
    mut decrypt: impl FnMut(&[u8], &str, i64) -> Result<String, String>,
) -> Result<Option<Found>, CookieStoreError> {
    let Some(copy) = sqlite::open_copy(path)? else { return Ok(None) };
    let store = &copy.connection;
    if !sqlite::has_table(store, "meta")? || !sqlite::has_table(store, "cookies")? {
        return Err(CookieStoreError::NoCookies);
    }
    let version = sqlite::version(store, "version")?.unwrap_or_default();
    if version < OLDEST {
        return Err(CookieStoreError::TooOld(version));
    }
    // Whoever changes the schema so that others cannot read it raises this number.
    if sqlite::version(store, "last_compatible_version")?.unwrap_or(version) > VERSION {
        return Err(CookieStoreError::TooNew(version));
    }
    let (mut found, mut budget) = (Found::default(), Budget::default());
    let mut statement =
        store.prepare(&format!("select {COLUMNS} from cookies order by creation_utc"))?;
    let mut rows = statement.query([])?;
    while let Some(row) = rows.next()? {
        budget.take_row(size_of::<Cookie>()).map_err(SqliteError::from)?;
        match StoredCookie::of(row)? {
            Err(Strange { place, what }) => {
                let reason = format!("expected {what}, found something else");
                found.left_out.push(ReceiptItem::rejected(ItemKind::Cookie, place, reason));
            }
            Ok(StoredCookie { cookie, encrypted }) if encrypted.is_empty() => {
                found.cookies.push(cookie);
            }
            Ok(StoredCookie { cookie, encrypted }) => {
                match decrypt(&encrypted, &cookie.domain, version) {
                    Ok(value) => found.cookies.push(Cookie { value, ..cookie }),
                    Err(reason) => found.left_out.push(ReceiptItem::rejected(
                        ItemKind::Cookie,
                        cookie.place(),
                        reason,
                    )),
                }
            }
        }
    }
    Ok(Some(found))
}

/// How many cookies the store at `path` has, which nobody reads otherwise. Blocks on the disk.
pub(in crate::profile) fn count(path: &Path) -> Result<u64, SqliteError> {
    let Some(copy) = sqlite::open_copy(path)? else { return Ok(0) };
    let count: i64 =
        copy.connection.query_row("select count(*) from cookies", [], |row| row.get(0))?;
    Ok(u64::try_from(count).unwrap_or_default())
}
