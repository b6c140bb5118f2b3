//! Stores that were compiled before, for callers that start many browsers with one login.
//!
//! The one idea: a store follows from its parts, so the parts are its name. Not more of them are kept
//! than a bound, the one that was used last for the longest. Cookies and localStorage are kept apart:
//! mostly a site has changed the former only.
//!
//! What no caller asked for yet takes half of the room at most, so that what a caller asked for has the other
//! half for itself.

use super::store::{StateRows, Store, StoreArchive};
use super::{CompileError, Times};
use crate::profile::ProfileError;
use crate::profile::formats::Instant;
use baton_session::{PartHash, PartKind, PartRef, Receipt, SessionId, State};
use std::collections::{BTreeSet, HashMap};
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Stores that are compiled sooner than they are unpacked, in bytes of their parts.
pub(super) const WORTH_IT: u64 = 256 << 10;

/// Compiled stores. Cheap to clone; clones share what they hold.
#[derive(Clone)]
pub struct ProfileCache(Arc<Mutex<Shelf>>);

impl ProfileCache {
    /// An empty one, which keeps at most `limit` bytes.
    pub fn new(limit: u64) -> Self {
        Self(Arc::new(Mutex::new(Shelf::new(limit))))
    }

    /// As [`write_rows`](super::write_rows), of what is kept under this key if there is something, and
    /// keeps it. The state is that of the key. Blocks on the disk.
    pub fn write_rows(
        &self,
        key: CacheKey,
        state: &State,
        profile: &Path,
        times: Times,
    ) -> Result<Receipt, CompileError> {
        let rows = StateRows::of(state, times);
        Store::each(|store| {
            if let Some(kept) = self.find(key, store, times.now) {
                let unpacked = kept.unpack(profile);
                return Ok(unpacked.map_err(ProfileError::new("unpack", profile))?);
            }
            rows.write(store, profile)?;
            if is_worth_it(key.of_store(store)) {
                self.keep(key, store, StoreArchive::of(store, &rows, profile)?);
            }
            Ok(())
        })?;
        Ok(rows.receipt())
    }

    /// The localStorage under a key, if it is kept: of what is made with it, the state need not have any.
    pub fn local_storage(&self, key: CacheKey, now: Instant) -> Option<StoreArchive> {
        self.find(key, Store::LocalStorage, now)
    }

    /// What only pages make of a key, if it is kept: of what is made with it, the state need not have any.
    pub fn pages(&self, key: CacheKey, now: Instant) -> Option<StoreArchive> {
        self.shelf().take_out(key.pages, key.session(), now)
    }

    /// Keeps what only pages made.
    pub fn keep_pages(&self, key: CacheKey, made: StoreArchive) {
        self.shelf().remember(key.pages, key.session(), made);
    }

    /// The same before a caller asks for it. Returns whether there is room for it.
    pub fn keep_pages_ahead(&self, key: CacheKey, made: StoreArchive) -> bool {
        self.shelf().put_ahead(key.pages, key.session(), made)
    }

    /// Whether there is something that only pages make, has room, and is not kept.
    pub fn lacks_pages(&self, key: CacheKey, now: Instant) -> bool {
        let mut kept = self.shelf();
        key.has_pages() && !kept.has(key.pages, key.session(), now) && kept.has_room(key.pages.size)
    }

    /// A store, if it is kept.
    pub(in crate::profile) fn find(
        &self,
        key: CacheKey,
        store: Store,
        now: Instant,
    ) -> Option<StoreArchive> {
        self.shelf().take_out(key.of_store(store), key.session(), now)
    }

    /// Keeps a store, until the first of its cookies ends.
    pub(in crate::profile) fn keep(&self, key: CacheKey, store: Store, made: StoreArchive) {
        let name = key.of_store(store);
        if is_worth_it(name) {
            self.shelf().remember(name, key.session(), made);
        }
    }

    /// How many bytes are kept.
    pub fn used(&self) -> u64 {
        self.shelf().used
    }

    pub(super) fn shelf(&self) -> MutexGuard<'_, Shelf> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

pub(super) fn is_worth_it(key: StoreKey) -> bool {
    key.size >= WORTH_IT
}

/// What the stores of a profile are made of: the names of their parts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CacheKey {
    rows: [StoreKey; 2],
    pages: StoreKey,
    session: Option<SessionId>,
}

/// Of which kind are the parts of what only pages make.
pub const OF_PAGES: [PartKind; 5] =
    [PartKind::Database, PartKind::Cache, PartKind::Files, PartKind::ServiceWorkers, PartKind::Raw];

/// What one store is made of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(in crate::profile) struct StoreKey {
    /// None for what only pages make.
    pub(super) store: Option<Store>,
    parts: PartHash,
    /// How many bytes its parts have.
    pub(super) size: u64,
}

impl CacheKey {
    /// The key of the cookies, the localStorage and what only pages make among these parts.
    pub fn of(parts: &[PartRef]) -> Self {
        let rows = Store::ALL.map(|store| StoreKey::of(Some(store), &[store.kind()], parts));
        Self { rows, pages: StoreKey::of(None, &OF_PAGES, parts), session: None }
    }

    /// Whether there is anything that only pages make.
    pub fn has_pages(&self) -> bool {
        self.pages.size > 0
    }

    /// The same for a session that may be handed in: what is kept under it goes when the session does, or
    /// has become another one.
    #[must_use]
    pub fn of_session(self, session: SessionId) -> Self {
        Self { session: Some(session), ..self }
    }

    pub(super) fn session(&self) -> Option<SessionId> {
        self.session
    }

    fn has(&self, store: &StoreKey) -> bool {
        self.rows.contains(store) || self.pages == *store
    }

    pub(in crate::profile) fn of_store(&self, store: Store) -> StoreKey {
        let [cookies, local_storage] = self.rows;
        match store {
            Store::Cookies => cookies,
            Store::LocalStorage => local_storage,
        }
    }
}

impl StoreKey {
    fn of(store: Option<Store>, kinds: &[PartKind], parts: &[PartRef]) -> Self {
        let mut named: Vec<_> = parts.iter().filter(|part| kinds.contains(&part.kind)).collect();
        named.sort_by(|a, b| (a.kind, &a.name).cmp(&(b.kind, &b.name)));
        let hashes: Vec<u8> = named.iter().flat_map(|part| part.hash.0).collect();
        let size = named.iter().map(|part| part.size).sum();
        Self { store, parts: PartHash::of(&hashes), size }
    }
}

/// Stores in memory, within a bound.
pub(super) struct Shelf {
    /// The most bytes that are kept.
    pub(super) limit: u64,
    pub(super) used: u64,
    /// Counts up with each use.
    clock: u64,
    pub(super) stores: HashMap<StoreKey, Kept>,
}

/// A store that is kept, and when it was used.
pub(super) struct Kept {
    store: StoreArchive,
    last_used: u64,
    /// Whether a caller asked for it.
    was_asked: bool,
    /// For which sessions it is kept: when the last of them needs it no more, it goes.
    sessions: BTreeSet<SessionId>,
}

impl Kept {
    /// Whether it is another store by now.
    fn is_over(&self, now: Instant) -> bool {
        self.store.until().is_some_and(|until| until.0 <= now.0)
    }
}

impl Shelf {
    pub(super) fn new(limit: u64) -> Self {
        Self { limit, used: 0, clock: 0, stores: HashMap::new() }
    }

    /// A store that a caller asks for.
    fn take_out(
        &mut self,
        key: StoreKey,
        session: Option<SessionId>,
        now: Instant,
    ) -> Option<StoreArchive> {
        self.clock += 1;
        let kept = self.stores.get_mut(&key)?;
        if kept.is_over(now) {
            self.drop_one(key);
            return None;
        }
        kept.last_used = self.clock;
        kept.was_asked = true;
        kept.sessions.extend(session);
        Some(kept.store.clone())
    }

    /// Keeps a store that a caller asked for.
    pub(super) fn remember(
        &mut self,
        key: StoreKey,
        session: Option<SessionId>,
        store: StoreArchive,
    ) {
        if store.size() <= self.limit {
            self.make_room(store.size(), self.limit, |_| true);
            self.insert(key, session, store, true);
        }
    }

    /// Keeps a store that no caller asked for yet, if there is room for it.
    pub(super) fn put_ahead(
        &mut self,
        key: StoreKey,
        session: Option<SessionId>,
        store: StoreArchive,
    ) -> bool {
        let has_room = self.has_room(store.size());
        if has_room {
            self.make_room(store.size(), self.limit / 2, |kept| !kept.was_asked);
            self.make_room(store.size(), self.limit, |_| true);
            self.insert(key, session, store, false);
        }
        has_room
    }

    /// Whether so many bytes have room that no caller asked for yet.
    pub(super) fn has_room(&self, size: u64) -> bool {
        size <= self.limit / 2
    }

    /// Whether a store is kept, which is then kept for this session, too.
    pub(super) fn has(&mut self, key: StoreKey, session: Option<SessionId>, now: Instant) -> bool {
        let kept = self.stores.get_mut(&key).filter(|kept| !kept.is_over(now));
        kept.map(|kept| kept.sessions.extend(session)).is_some()
    }

    /// What was kept for a session goes, but for what is kept under `key`.
    pub(super) fn forget(&mut self, session: SessionId, key: Option<&CacheKey>) {
        let stays = |store: &StoreKey| key.is_some_and(|key| key.has(store));
        self.drop_those(|store, kept| {
            !stays(store) && kept.sessions.remove(&session) && kept.sessions.is_empty()
        });
    }

    /// What is over goes; for which sessions it was kept.
    pub(super) fn drop_over(&mut self, now: Instant) -> BTreeSet<SessionId> {
        let mut left = BTreeSet::new();
        self.drop_those(|_, kept| {
            let is_over = kept.is_over(now);
            if is_over {
                left.append(&mut kept.sessions);
            }
            is_over
        });
        left
    }

    /// For which sessions something is kept.
    pub(super) fn sessions(&self) -> BTreeSet<SessionId> {
        self.stores.values().flat_map(|kept| kept.sessions.iter().copied()).collect()
    }

    fn insert(
        &mut self,
        key: StoreKey,
        session: Option<SessionId>,
        store: StoreArchive,
        was_asked: bool,
    ) {
        let mut sessions = self.drop_one(key).map(|kept| kept.sessions).unwrap_or_default();
        sessions.extend(session);
        self.used += store.size();
        self.clock += 1;
        self.stores.insert(key, Kept { store, last_used: self.clock, was_asked, sessions });
    }

    /// Lets those of these stores go that were used longest ago, until they leave room within `limit`.
    fn make_room(&mut self, size: u64, limit: u64, is_one: impl Fn(&Kept) -> bool) {
        loop {
            let those = || self.stores.iter().filter(|(_, kept)| is_one(kept));
            let used: u64 = those().map(|(_, kept)| kept.store.size()).sum();
            let oldest = those().min_by_key(|(_, kept)| kept.last_used).map(|(key, _)| *key);
            let Some(oldest) = oldest.filter(|_| used + size > limit) else { return };
            self.drop_one(oldest);
        }
    }

    fn drop_those(&mut self, mut goes: impl FnMut(&StoreKey, &mut Kept) -> bool) {
        let mut freed = 0;
        self.stores.retain(|key, kept| {
            let stays = !goes(key, kept);
            freed += if stays { 0 } else { kept.store.size() };
            stays
        });
        self.used -= freed;
    }

    fn drop_one(&mut self, key: StoreKey) -> Option<Kept> {
        let kept = self.stores.remove(&key)?;
        self.used -= kept.store.size();
        Some(kept)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use baton_session::{PartHash, PartKind, PartRef};

    const HOUR: i64 = 3_600_000_000;

    fn part(name: &str, size: u64) -> PartRef {
        let hash = PartHash::of(name.as_bytes());
        PartRef { kind: PartKind::Cookies, name: name.to_owned(), hash, size }
    }

    fn state(expires: Option<i64>) -> State {
        let cookie = serde_json::json!({
            "name": "sid", "value": "1", "domain": "app.test", "path": "/", "expires": expires,
        });
        State { cookies: vec![serde_json::from_value(cookie).unwrap()], ..State::default() }
    }

    /// Whether the cookies come from the cache: then they are those of `first`.
    fn is_kept(cache: &ProfileCache, key: CacheKey, first: &State, now: Instant) -> bool {
        let folder = tempfile::tempdir().unwrap();
        let other = State::default();
        cache.write_rows(key, &other, folder.path(), Times::at(now)).unwrap();
        let mut no_key = || Err(crate::profile::keyring::KeyringError::Locked);
        let found = crate::profile::read::ProfileFolder::find(folder.path()).unwrap();
        let read = crate::profile::read::read(&found, &mut no_key, Instant(0));
        read.state.cookies.len() == first.cookies.len()
    }

    fn kept(cache: &ProfileCache, key: CacheKey, state: &State) {
        let folder = tempfile::tempdir().unwrap();
        cache.write_rows(key, state, folder.path(), Times::at(Instant(HOUR))).unwrap();
    }

    #[test]
    fn a_profile_is_kept_until_its_first_cookie_ends() {
        let cache = ProfileCache::new(1 << 20);
        let (key, state) = (CacheKey::of(&[part("a", WORTH_IT)]), state(Some(3 * HOUR)));
        kept(&cache, key, &state);
        assert!(cache.used() > 0);
        assert!(is_kept(&cache, key, &state, Instant(2 * HOUR)));
        assert!(!is_kept(&cache, key, &state, Instant(3 * HOUR)));
        let small = CacheKey::of(&[part("b", 10)]);
        kept(&cache, small, &state);
        assert!(!is_kept(&cache, small, &state, Instant(2 * HOUR)), "not worth it");
    }

    #[test]
    fn what_was_used_last_stays_within_the_bound() {
        let keys = ["a", "b", "c"].map(|name| CacheKey::of(&[part(name, WORTH_IT)]));
        let state = state(None);
        let one = ProfileCache::new(1 << 20);
        kept(&one, keys[0], &state);
        let cache = ProfileCache::new(2 * one.used() + one.used() / 2);
        kept(&cache, keys[0], &state);
        kept(&cache, keys[1], &state);
        assert!(is_kept(&cache, keys[0], &state, Instant(HOUR)));
        kept(&cache, keys[2], &state);
        let known =
            |key: &CacheKey| cache.shelf().stores.contains_key(&key.of_store(Store::Cookies));
        assert_eq!(keys.each_ref().map(known), [true, false, true]);
        assert!(cache.used() <= cache.shelf().limit);
    }

    #[test]
    fn cookies_that_changed_leave_the_rest_where_it_is() {
        let storage = PartRef { kind: PartKind::LocalStorage, ..part("s", WORTH_IT) };
        let [one, other] =
            ["a", "b"].map(|name| CacheKey::of(&[part(name, WORTH_IT), storage.clone()]));
        assert_ne!(one.of_store(Store::Cookies), other.of_store(Store::Cookies));
        assert_eq!(one.of_store(Store::LocalStorage), other.of_store(Store::LocalStorage));
    }
}
