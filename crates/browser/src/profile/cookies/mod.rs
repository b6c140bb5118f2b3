//! The cookie store of a profile (`net/extras/sqlite/sqlite_persistent_cookie_store.cc` in Chromium).
//!
//! The one idea: Chromium forgives nothing here. A store of another schema is emptied when it is
//! opened, and one bad row can cost every cookie of its site. So each row is checked before it is
//! written, and written as plain text, which is accepted on every machine.
//!
//! Chromium moved it. From Windows profiles come whose network state lies in a folder of its own, and a
//! file in there says so: with it Chromium reads there on every system, without it only beside the
//! other files (`content/browser/network_sandbox.cc`).

mod row;

pub(super) use row::usable;

use super::formats::Instant;
use super::memory::Budget;
use super::sqlite;
use super::sqlite::SqliteError;
use baton_session::receipt::{ItemKind, ReceiptItem};
use baton_session::{Cookie, Receipt};
use row::{COLUMNS, INSERT, StoredCookie, Strange, insert};
use rusqlite::{Transaction, params};
use std::collections::HashSet;
use std::io::ErrorKind;
use std::path::Path;
use std::{fs, io};

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

/// The two places, in the folder of a profile.
const PLAIN: &str = "Cookies";
const NETWORK: &str = "Network/Cookies";
/// Says that the store was moved for good.
pub(super) const MOVED: &str = "Network/NetworkDataMigrated";

/// All places in which a store can be, in the folder of a profile.
pub(super) const PLACES: [&str; 2] = [PLAIN, NETWORK];
/// What is beside a store and belongs to it.
const BESIDE: [&str; 3] = ["", "-journal", "-wal"];

/// Where the store of a profile is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct StorePlace {
    /// The one that counts, in the folder of the profile; nothing need be there.
    pub(in crate::profile) name: &'static str,
    /// Another one, of which no browser takes notice.
    pub(in crate::profile) other: Option<&'static str>,
}

impl StorePlace {
    /// Looks into the folder of a profile.
    pub(in crate::profile) fn find(folder: &Path) -> io::Result<Self> {
        let is_there = |name: &str| match fs::symlink_metadata(folder.join(name)) {
            Ok(_) => Ok(true),
            Err(error)
                if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) =>
            {
                Ok(false)
            }
            Err(error) => Err(error),
        };
        let (plain, network) = (is_there(PLAIN)?, is_there(NETWORK)?);
        // One that was copied without the file that says that it was moved is better than none.
        let (name, other, has_other) = if is_there(MOVED)? || (network && !plain) {
            (NETWORK, PLAIN, plain)
        } else {
            (PLAIN, NETWORK, network)
        };
        Ok(Self { name, other: has_other.then_some(other) })
    }

    /// The names of the store and of what belongs to it, below the folder of the profile.
    pub(in crate::profile) fn files(self) -> impl Iterator<Item = String> {
        BESIDE.into_iter().map(move |end| format!("{}{end}", self.name))
    }
}

/// What a store holds.
#[derive(Debug, Default)]
pub(in crate::profile) struct StoredCookies {
    /// Its cookies; without their values, those that could not be decrypted are not among them.
    pub(in crate::profile) cookies: Vec<Cookie>,
    /// Those that could not be read, with the reason.
    pub(in crate::profile) left_out: Receipt,
}

/// Reads the store at `path` from a copy; none when there is none. `decrypt` makes plain text of an
/// encrypted value of a host, in a store of that version; or says why it cannot. Blocks on the disk.
pub(super) fn read(
    path: &Path,
    mut decrypt: impl FnMut(&[u8], &str, i64) -> Result<String, String>,
) -> Result<Option<StoredCookies>, CookieStoreError> {
    let Some(copy) = sqlite::open_copy(path)? else { return Ok(None) };
    let store = &copy.connection;
    if !sqlite::has_table(store, "meta")? || !sqlite::has_table(store, "cookies")? {
        return Err(CookieStoreError::NoCookies);
    }
    let version = sqlite::version(store, "version")?.unwrap_or_default();
    if version < OLDEST {
        return Err(CookieStoreError::TooOld(version));
    }
    // Chromium raises this number when it changes the schema so that others cannot read it.
    if sqlite::version(store, "last_compatible_version")?.unwrap_or(version) > VERSION {
        return Err(CookieStoreError::TooNew(version));
    }
    let (mut found, mut budget) = (StoredCookies::default(), Budget::default());
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

/// How many cookies the store at `path` has, which is not read otherwise. Blocks on the disk.
pub(super) fn count(path: &Path) -> Result<u64, SqliteError> {
    let Some(copy) = sqlite::open_copy(path)? else { return Ok(0) };
    let count: i64 =
        copy.connection.query_row("select count(*) from cookies", [], |row| row.get(0))?;
    Ok(u64::try_from(count).unwrap_or_default())
}

/// The size of the pages of a new store, in bytes: that of Chromium's.
const PAGE: u32 = 4 << 10;

/// Writes a new store at `path`, where nothing is, as if the cookies had been set at `at`. They are
/// [usable](crate::profile::cookies::row()). Nothing is synced.
pub(super) fn create(path: &Path, cookies: &[Cookie], at: Instant) -> Result<(), CookieStoreError> {
    let mut store = sqlite::create(path, PAGE)?;
    let step = store.transaction()?;
    step.execute_batch(SCHEMA)?;
    add(&step, cookies, at)?;
    Ok(step.commit()?)
}

/// Puts cookies into the store at `path`, in the place of those that they are. Other rows stay as
/// they are, encrypted ones too. Nothing is synced.
pub(super) fn merge(path: &Path, cookies: &[Cookie], at: Instant) -> Result<(), CookieStoreError> {
    let mut store = sqlite::open(path)?;
    if !sqlite::has_table(&store, "cookies")? || !sqlite::has_table(&store, "meta")? {
        return Err(CookieStoreError::NoCookies);
    }
    match sqlite::version(&store, "version")?.unwrap_or_default() {
        VERSION => {}
        found if found > VERSION => return Err(CookieStoreError::TooNew(found)),
        found => return Err(CookieStoreError::NotCurrent(found)),
    }
    let step = store.transaction()?;
    {
        let mut forget = step.prepare(
            "delete from cookies where host_key = ?1 and top_frame_site_key = ?2
             and has_cross_site_ancestor = ?3 and name = ?4 and path = ?5",
        )?;
        for cookie in cookies {
            let (site, ancestor) = row::partition(cookie);
            forget.execute(params![cookie.domain, site, ancestor, cookie.name, cookie.path])?;
        }
    }
    add(&step, cookies, at)?;
    step.commit()?;
    drop(store);
    expect_there(path, cookies)
}

/// Reads the store as its later reader does, for one that is damaged may take what it does not give again.
fn expect_there(path: &Path, cookies: &[Cookie]) -> Result<(), CookieStoreError> {
    let key = |cookie: &Cookie| format!("{} {:?}", cookie.place(), cookie.partition_key);
    // What is written is never encrypted, and of what was there nothing is asked.
    let found = read(path, |_, _, _| Err(String::new()))?.unwrap_or_default();
    let there: HashSet<String> = found.cookies.iter().map(key).collect();
    match cookies.iter().filter(|cookie| !there.contains(&key(cookie))).count() {
        0 => Ok(()),
        missing => Err(CookieStoreError::NotReadBack(missing)),
    }
}

fn add(step: &Transaction<'_>, cookies: &[Cookie], at: Instant) -> rusqlite::Result<()> {
    let mut statement = step.prepare(INSERT)?;
    // Of two cookies with paths of one length the older one is sent first: each is a microsecond
    // younger than the one before.
    let first = at.0.saturating_sub(i64::try_from(cookies.len()).unwrap_or(i64::MAX));
    for (age, cookie) in (first..).zip(cookies) {
        insert(&mut statement, cookie, Instant(age))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_store_is_where_a_browser_looks_for_it() {
        for (there, name, other) in [
            (&[][..], PLAIN, None),
            (&[PLAIN], PLAIN, None),
            (&[NETWORK], NETWORK, None),
            (&[PLAIN, NETWORK], PLAIN, Some(NETWORK)),
            (&[PLAIN, NETWORK, MOVED], NETWORK, Some(PLAIN)),
            (&[NETWORK, MOVED], NETWORK, None),
            (&[PLAIN, MOVED], NETWORK, Some(PLAIN)),
        ] {
            let folder = tempfile::tempdir().unwrap();
            fs::create_dir(folder.path().join("Network")).unwrap();
            for name in there {
                fs::write(folder.path().join(name), "").unwrap();
            }
            assert_eq!(
                StorePlace::find(folder.path()).unwrap(),
                StorePlace { name, other },
                "{there:?}"
            );
        }
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("Network"), "a file").unwrap();
        assert_eq!(StorePlace::find(folder.path()).unwrap().name, PLAIN);
    }
}
