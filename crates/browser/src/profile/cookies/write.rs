//! Writes cookies to a store of their own, or into one that is there.

use super::row::{self, INSERT, insert};
use super::{CookieStoreError, SCHEMA, VERSION, read};
use crate::profile::instant::Instant;
use crate::profile::sqlite;
use baton_session::Cookie;
use rusqlite::{Transaction, params};
use std::collections::HashSet;
use std::path::Path;

/// The size of the pages of a new store, in bytes: that of Chromium's.
const PAGE: u32 = 4 << 10;

/// Writes a new store at `path`, where nothing is, as if the cookies had been set at `at`. They are
/// [usable](super::usable()). Nothing is synced.
pub(in crate::profile) fn create(
    path: &Path,
    cookies: &[Cookie],
    at: Instant,
) -> Result<(), CookieStoreError> {
    let mut store = sqlite::create(path, PAGE)?;
    let step = store.transaction()?;
    step.execute_batch(SCHEMA)?;
    add(&step, cookies, at)?;
    Ok(step.commit()?)
}

/// Puts cookies into the store at `path`, in the place of those that they are. Other rows stay as
/// they are, encrypted ones too. Nothing is synced.
pub(in crate::profile) fn merge(
    path: &Path,
    cookies: &[Cookie],
    at: Instant,
) -> Result<(), CookieStoreError> {
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

/// Reads the store as whoever asks for it later does, for one that is damaged may take what it does not
/// give again.
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
