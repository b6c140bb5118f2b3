//! Stores that were compiled before, for whoever starts many browsers with one login.
//!
//! The one idea: a store follows from its parts, so the parts are its name. Not more of them are kept than
//! a bound, the one that was used last for the longest. Cookies and localStorage are kept apart: mostly a
//! site has changed the former only.

use super::archive::StoreArchive;
use super::key::{CacheKey, StoreKey};
use super::shelf::Shelf;
use super::store::{Rows, Store};
use super::{CompileError, Times};
use crate::profile::ProfileError;
use crate::profile::instant::Instant;
use baton_session::{Receipt, State};
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
        let rows = Rows::of(state, times);
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
            self.shelf().put(name, key.session(), made);
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
