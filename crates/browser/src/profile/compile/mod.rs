//! Makes a profile of a state, with no browser running.
//!
//! The one idea: what a browser keeps as rows is written as rows. Cookies, localStorage and what sites
//! may do are there before the browser starts, so no page has to be visited for them. What only a page
//! can make, and what no profile has, is listed; a resume brings it back.
//!
//! Some stores are made ahead, before a caller asks for them, and some none will ask for any more.

mod cache;
mod merge;
mod store;

pub use cache::{CacheKey, OF_PAGES, ProfileCache};
pub use merge::merge;
pub use store::StoreArchive;
pub(super) use store::{DEFAULT, PAGES, StateRows, Store};

use super::cookies::CookieStoreError;
use super::formats::Instant;
use super::leveldb::LevelDbError;
use super::local_storage::{Areas, Unwritable};
use super::{
    ProfileError, certificates, create_folder, languages, permissions, raw, rename, sync_all,
};
use baton_redaction::ShownAddress;
use baton_session::receipt::{ItemKind, ReceiptItem, Verified};
use baton_session::state::OriginState;
use baton_session::{
    Cookie, Environment, Identity, PartKind, Receipt, SessionId, State, StorageKey, Tab,
};
use cache::is_worth_it;
use std::collections::BTreeSet;
use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

/// When a profile is compiled, and of which instant it shall be.
#[derive(Debug, Clone, Copy)]
pub struct Times {
    /// Cookies that ended before it are left out.
    pub now: Instant,
    /// When everything is said to have been written.
    pub written: Instant,
}

impl Times {
    /// Everything was written just now.
    pub fn at(now: Instant) -> Self {
        Self { now, written: now }
    }
}

/// Makes a new profile at `profile`, where nothing is or an empty folder: a whole one, synced, or none.
/// The receipt has a line for each item of the state. Blocks on the disk.
pub fn compile(state: &State, profile: &Path, times: Times) -> Result<Receipt, CompileError> {
    match fs::read_dir(profile).map(|mut entries| entries.next().is_none()) {
        Ok(false) => return Err(CompileError::NotEmpty(profile.to_owned())),
        Ok(true) => {}
        Err(_) if !profile.exists() => {}
        Err(error) => return Err(ProfileError::new("read", profile)(error).into()),
    }
    let parent =
        profile.parent().filter(|parent| *parent != Path::new("")).unwrap_or(Path::new("."));
    create_folder(parent)?;
    let next = merge::StagedFolder::beside(profile)?;
    let mut receipt = write_rows(state, next.path(), times)?;
    receipt.extend(write_rest(state, next.path(), times)?);
    sync_all(&merge::paths(next.path())?)?;
    rename(next.path(), profile)?;
    next.took_its_place();
    receipt.sort();
    Ok(receipt)
}

/// Writes what of a state is neither a cookie nor localStorage into `profile`, and lists what no profile
/// has. Blocks on the disk.
pub(super) fn write_rest(
    state: &State,
    profile: &Path,
    times: Times,
) -> Result<Receipt, CompileError> {
    let mut receipt = write_others(state, profile);
    let environment = &state.environment;
    for certificate in &environment.certificates {
        receipt.push(written(ItemKind::Environment, certificate.place()));
    }
    let everywhere = environment.geolocation.is_some();
    permissions::write(profile, &environment.permissions, everywhere, times.now)?;
    let identity = environment.identity.as_ref();
    let left = identity.map(|identity| write_languages(identity, profile, &mut receipt));
    leave_environment(environment, left.transpose()?.flatten().as_ref(), &mut receipt);
    certificates::write(profile, &environment.certificates)?;
    Ok(receipt)
}

/// Writes the cookies and the localStorage of a state into a profile that has none, and on which no
/// browser runs. Nothing is synced. The receipt has a line for each of both. Blocks on the disk.
pub fn write_rows(state: &State, profile: &Path, times: Times) -> Result<Receipt, CompileError> {
    let rows = StateRows::of(state, times);
    Store::each(|store| rows.write(store, profile))?;
    Ok(rows.receipt())
}

/// A line for each cookie that was written.
fn cookie_lines(cookies: &[Cookie]) -> Receipt {
    cookies.iter().map(|cookie| written(ItemKind::Cookie, cookie.place())).collect()
}

/// A line for each area that was written.
fn area_lines(areas: &Areas) -> Receipt {
    areas.keys().map(|key| written(ItemKind::LocalStorage, key.as_str().to_owned())).collect()
}

/// What no browser has confirmed yet.
fn written(kind: ItemKind, place: String) -> ReceiptItem {
    ReceiptItem { verified: Verified::None, ..ReceiptItem::restored(kind, place) }
}

fn in_store(path: &Path) -> impl FnOnce(CookieStoreError) -> CompileError + use<> {
    let path = path.to_owned();
    move |source| match source {
        CookieStoreError::Sqlite(error) if error.is_full() => is_full(&path),
        source => CompileError::Cookies { path, source },
    }
}

/// Why no profile was made. What was there is as it was.
#[derive(Debug, thiserror::Error)]
pub enum CompileError {
    /// A new profile would be mixed with something else.
    #[error("expected {} to be an empty folder, or none, found files in it", .0.display())]
    NotEmpty(PathBuf),
    /// It is not what it should be merged into.
    #[error("expected a Chrome profile at {} (a folder with a folder Default), found none", .0.display())]
    NoProfile(PathBuf),
    /// A process has it open.
    #[error("expected nobody to use the profile at {}, found it open in process {pid}: close that browser first", profile.display())]
    InUse {
        /// Which profile.
        profile: PathBuf,
        /// Whose it is.
        pid: u32,
    },
    /// A process elsewhere may have it open.
    #[error("expected nobody to use the profile at {}, found it locked by process {pid} on host {host:?}: close that browser, or remove SingletonLock if it is gone", profile.display())]
    Elsewhere {
        /// Which profile.
        profile: PathBuf,
        /// The host named in the lock.
        host: String,
        /// The process named in the lock.
        pid: u32,
    },
    /// Its lock could not be read.
    #[error(transparent)]
    Lock(#[from] crate::launch::LaunchError),
    /// Its cookies could not be read or written.
    #[error("could not use {}: {source}", path.display())]
    Cookies {
        /// The store.
        path: PathBuf,
        /// Why.
        source: CookieStoreError,
    },
    /// Its localStorage could not be read.
    #[error("could not read the localStorage of {}: {reason}", profile.display())]
    LocalStorage {
        /// Which profile.
        profile: PathBuf,
        /// Why.
        reason: String,
    },
    /// Its localStorage could not be written.
    #[error("could not write localStorage: {0}")]
    Unwritten(String),
    /// A file could not be read or written.
    #[error(transparent)]
    Profile(#[from] ProfileError),
    /// The process is ending.
    #[error("the work was stopped before its end")]
    Stopped,
}

impl From<Unwritable> for CompileError {
    fn from(error: Unwritable) -> Self {
        match error {
            Unwritable::Profile(error) => error.into(),
            Unwritable::LevelDb(LevelDbError::File { path, source }) => {
                ProfileError::new("write", path)(source).into()
            }
            Unwritable::Sqlite { path, source } if source.is_full() => is_full(&path),
            other => Self::Unwritten(other.to_string()),
        }
    }
}

/// A disk that is full is reported as such, whatever notices it.
fn is_full(path: &Path) -> CompileError {
    ProfileError::new("write", path)(ErrorKind::StorageFull.into()).into()
}

const NEEDS_A_PAGE: &str = "only a page can make it: baton import and baton sessions resume do";
const NEEDS_A_TAB: &str =
    "a profile has no tabs: baton import and baton sessions resume bring them";

/// Writes the browser's own folders of databases, if the state has some, and lists everything else
/// that is neither a cookie nor localStorage, nor of the environment; but for what sites may do.
fn write_others(state: &State, profile: &Path) -> Receipt {
    let mut receipt = Receipt::default();
    for (key, origin) in &state.origins {
        databases(profile, key, origin, &mut receipt);
        let mut leave = |kind, place: String| {
            receipt.push(ReceiptItem::not_portable(kind, place, NEEDS_A_PAGE));
        };
        for cache in &origin.caches {
            leave(ItemKind::Cache, key.place_of(&cache.name));
        }
        if !origin.files.is_empty() {
            leave(ItemKind::Files, key.to_string());
        }
        for registration in &origin.service_workers {
            leave(ItemKind::ServiceWorker, registration.place(key));
        }
    }
    state.tabs.iter().for_each(|tab| leave_tab(tab, &mut receipt));
    for permission in &state.environment.permissions {
        receipt.push(match permission.validate() {
            Ok(()) => written(ItemKind::Permission, permission.place()),
            Err(reason) => ReceiptItem::rejected(ItemKind::Permission, permission.place(), reason),
        });
    }
    receipt
}

fn databases(profile: &Path, key: &StorageKey, origin: &OriginState, receipt: &mut Receipt) {
    let written = if origin.raw.is_empty() {
        Err(NEEDS_A_PAGE.to_owned())
    } else {
        raw::write(profile, key, &origin.raw).map_err(|error| error.to_string())
    };
    for database in &origin.databases {
        let place = key.place_of(&database.name);
        receipt.push(match &written {
            Ok(_) => ReceiptItem {
                verified: Verified::None,
                ..ReceiptItem::restored(ItemKind::IndexedDb, place)
            },
            Err(reason) => ReceiptItem::not_portable(ItemKind::IndexedDb, place, reason),
        });
    }
}

fn leave_tab(tab: &Tab, receipt: &mut Receipt) {
    if tab.url == "about:blank" && tab.session_storage.is_empty() {
        return;
    }
    let place = ShownAddress::of(&tab.url);
    receipt.push(ReceiptItem::not_portable(ItemKind::Tab, place, NEEDS_A_TAB));
    for key in tab.session_storage.keys() {
        let kind = ItemKind::SessionStorage;
        receipt.push(ReceiptItem::not_portable(kind, key.as_str(), NEEDS_A_TAB));
    }
}

/// Writes the languages of an identity into a profile. Returns what of it a profile has no place for.
fn write_languages(
    identity: &Identity,
    profile: &Path,
    receipt: &mut Receipt,
) -> Result<Option<Identity>, ProfileError> {
    // Whoever made the file may have written anything there.
    let said = Identity::of_languages(identity.languages.iter().map(String::as_str));
    let Some(said) = said else { return Ok(Some(identity.clone())) };
    languages::write(profile, &said.languages)?;
    receipt.push(written(ItemKind::Environment, "languages".to_owned()));
    Ok(identity.beside_languages())
}

/// Settings that the browser is started with, and of its identity what no profile has.
fn leave_environment(
    environment: &Environment,
    identity: Option<&Identity>,
    receipt: &mut Receipt,
) {
    let settings = [
        ("viewport", environment.viewport.is_some()),
        ("user agent", environment.user_agent.is_some()),
        ("identity", identity.is_some()),
        ("time zone", environment.timezone.is_some()),
        ("locale", environment.locale.is_some()),
        ("geolocation", environment.geolocation.is_some()),
        ("egress", environment.egress.is_some()),
    ];
    for (name, _) in settings.into_iter().filter(|(_, is_set)| *is_set) {
        let reason = "a profile has no such setting: give it to the browser that you start";
        receipt.push(ReceiptItem::not_portable(ItemKind::Environment, name, reason));
    }
}

impl ProfileCache {
    /// What of a key is worth keeping, has room, and is not kept.
    pub fn lacks(&self, key: CacheKey, now: Instant) -> Vec<PartKind> {
        let mut kept = self.shelf();
        let mut is_lacking = |store: &Store| {
            let name = key.of_store(*store);
            is_worth_it(name) && !kept.has(name, key.session(), now) && kept.has_room(name.size)
        };
        Store::ALL.iter().filter(|store| is_lacking(store)).map(|store| store.kind()).collect()
    }

    /// Makes the stores of these kinds before a caller asks for them, one after the other, in a new folder of
    /// `scratch`, in which nothing stays. Returns whether all of it is kept: what takes more than half of the
    /// room is not. The state is that of the key. Blocks on the disk.
    pub fn make_ahead(
        &self,
        key: CacheKey,
        kinds: &[PartKind],
        state: &State,
        scratch: &Path,
        times: Times,
    ) -> Result<bool, CompileError> {
        let folder = tempfile::tempdir_in(scratch);
        let folder = folder.map_err(ProfileError::new("make a folder in", scratch))?;
        let (rows, mut is_kept) = (StateRows::of(state, times), true);
        for store in Store::ALL.into_iter().filter(|store| kinds.contains(&store.kind())) {
            let profile = folder.path().join(store.kind().as_str());
            rows.write(store, &profile)?;
            let made = StoreArchive::of(store, &rows, &profile)?;
            is_kept &= self.shelf().put_ahead(key.of_store(store), key.session(), made);
        }
        let place = folder.path().to_owned();
        folder.close().map_err(ProfileError::new("remove", place))?;
        Ok(is_kept)
    }

    /// What was kept for a session goes, but for what is kept under `key`.
    pub fn forget(&self, session: SessionId, key: Option<CacheKey>) {
        self.shelf().forget(session, key.as_ref());
    }

    /// What has other cookies by now goes; for which sessions it was kept.
    pub fn drop_over(&self, now: Instant) -> BTreeSet<SessionId> {
        self.shelf().drop_over(now)
    }

    /// For which sessions something is kept.
    pub fn sessions(&self) -> BTreeSet<SessionId> {
        self.shelf().sessions()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::profile::compile::cache::WORTH_IT;
    use baton_session::{Part, PartRef, StorageKey, parts};

    const HOUR: i64 = 3_600_000_000;
    const NOW: Instant = Instant(HOUR);

    /// A state with localStorage that is worth keeping, and a cookie; the names of its parts.
    fn state(text: &str, expires: Option<i64>) -> (State, Vec<PartRef>) {
        let cookie = serde_json::json!({
            "name": "sid", "value": "1", "domain": "app.test", "path": "/", "expires": expires,
        });
        let cookies = vec![serde_json::from_value(cookie).unwrap()];
        let mut state = State { cookies, ..State::default() };
        let key = StorageKey::new("https://app.test/");
        state.origins.entry(key).or_default().local_storage =
            [("token".to_owned(), text.repeat(300 << 10))].into_iter().collect();
        let parts = parts::split(&state).iter().map(Part::reference).collect();
        (state, parts)
    }

    fn session(number: u8) -> SessionId {
        SessionId::new(jiff::Timestamp::UNIX_EPOCH, [number; 10])
    }

    fn key(text: &str, of: u8) -> (CacheKey, State) {
        let (state, parts) = state(text, None);
        (CacheKey::of(&parts).of_session(session(of)), state)
    }

    /// Makes what is lacking, as work that is not urgent.
    fn ahead(cache: &ProfileCache, key: CacheKey, state: &State, now: Instant) {
        let scratch = tempfile::tempdir().unwrap();
        let kinds = cache.lacks(key, now);
        cache.make_ahead(key, &kinds, state, scratch.path(), Times::at(now)).unwrap();
        assert_eq!(std::fs::read_dir(&scratch).unwrap().count(), 0);
    }

    fn is_kept(cache: &ProfileCache, key: CacheKey) -> bool {
        cache.shelf().stores.contains_key(&key.of_store(Store::LocalStorage))
    }

    #[test]
    fn what_is_made_ahead_is_there_for_whoever_asks() {
        let cache = ProfileCache::new(8 << 20);
        let (key, state) = key("a", 1);
        assert_eq!(cache.lacks(key, NOW), [PartKind::LocalStorage], "its cookie is not worth it");
        ahead(&cache, key, &state, NOW);
        assert_eq!(cache.lacks(key, NOW), []);
        assert!(cache.local_storage(key, NOW).is_some());
    }

    #[test]
    fn what_nobody_asked_for_takes_half_of_the_room_at_most() {
        let all = ["a", "b", "c", "d", "e"].map(|text| key(text, 1));
        let keys = all.each_ref().map(|(key, _)| *key);
        let kept = |cache: &ProfileCache| keys.map(|key| is_kept(cache, key));
        let one = ProfileCache::new(8 << 20);
        ahead(&one, keys[0], &all[0].1, NOW);
        let cache = ProfileCache::new(4 * one.used() + one.used() / 2);
        for (key, state) in &all[..2] {
            ahead(&cache, *key, state, NOW);
            assert!(cache.local_storage(*key, NOW).is_some());
        }
        all[2..].iter().for_each(|(key, state)| ahead(&cache, *key, state, NOW));
        // Of three that no caller asked for the first one gave way, and none that a caller asked for.
        assert_eq!(kept(&cache), [true, true, false, true, true]);
        assert!(cache.local_storage(keys[3], NOW).is_some());
        ahead(&cache, keys[2], &all[2].1, NOW);
        // There is room for four: the one that was asked for longest ago gave way.
        assert_eq!(kept(&cache), [false, true, true, true, true]);
        assert!(cache.used() <= cache.shelf().limit);
        let small = ProfileCache::new(one.used());
        ahead(&small, keys[0], &all[0].1, NOW);
        assert_eq!(small.used(), 0, "it would take all of the room");
    }

    #[test]
    fn what_a_session_needs_no_more_goes_unless_another_needs_it() {
        let cache = ProfileCache::new(8 << 20);
        let ((before, state), (after, other)) = (key("a", 1), key("b", 1));
        ahead(&cache, before, &state, NOW);
        ahead(&cache, after, &other, NOW);
        cache.forget(session(1), Some(after));
        assert_eq!([before, after].map(|key| is_kept(&cache, key)), [false, true]);
        let (same, _) = key("b", 2);
        assert_eq!(cache.lacks(same, NOW), []);
        cache.forget(session(1), None);
        assert!(is_kept(&cache, after));
        assert_eq!(cache.sessions(), BTreeSet::from([session(2)]));
        cache.forget(session(2), None);
        assert_eq!((is_kept(&cache, after), cache.used()), (false, 0));
    }

    #[test]
    fn cookies_that_are_over_go_and_it_is_said_for_whom_they_were() {
        let cache = ProfileCache::new(8 << 20);
        let (state, _) = state("a", Some(2 * HOUR));
        let hash = baton_session::PartHash::of(b"cookies");
        let (kind, name) = (PartKind::Cookies, "app.test".to_owned());
        let cookies = PartRef { kind, name, hash, size: WORTH_IT };
        let key = CacheKey::of(&[cookies]).of_session(session(1));
        ahead(&cache, key, &state, NOW);
        assert_eq!(cache.drop_over(NOW), BTreeSet::new());
        assert_eq!(cache.drop_over(Instant(2 * HOUR)), BTreeSet::from([session(1)]));
        assert_eq!(cache.used(), 0);
    }
}
