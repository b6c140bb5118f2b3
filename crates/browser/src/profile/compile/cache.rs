//! Stores that were compiled before, for whoever starts many browsers with one login.
//!
//! The one idea: a store follows from its parts, so the parts are its name. What is kept is packed,
//! in memory only, for it is a login in plain text; and not more of it than a bound, the store that
//! was used last for the longest. Cookies and localStorage are kept apart: mostly a site has changed
//! the former only.

use super::key::{CacheKey, StoreKey};
use super::shelf::{Packed, Shelf};
use super::store::{Rows, Store};
use super::{CompileError, Times};
use crate::profile::ProfileError;
use crate::profile::instant::Instant;
use baton_session::cookie::Expiry;
use baton_session::{Receipt, State};
use std::collections::HashMap;
use std::fmt;
use std::io::{self, Read, Write};
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use zeroize::Zeroizing;
use zstd::stream::read::Decoder;

/// How hard the packing tries: hardly, for it shall be done at once.
const LEVEL: i32 = 1;
/// The end of an archive: two empty blocks (POSIX, `pax`).
const END: usize = 1024;
/// Stores that are compiled sooner than they are unpacked, in bytes of their parts.
const WORTH_IT: u64 = 256 << 10;

/// Compiled stores, packed. Cheap to clone; clones share what they hold.
#[derive(Clone)]
pub struct ProfileCache(Arc<Mutex<Shelf>>);

/// The files of a store, packed: they stay for whoever has this, whatever the cache forgets.
#[derive(Clone)]
pub struct Kept(Packed);

impl fmt::Debug for Kept {
    /// Without what is in it.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Kept").field("bytes", &self.0.unpacked).finish_non_exhaustive()
    }
}

impl Kept {
    /// A line for each of what is in it, and of what could not be.
    pub(in crate::profile) fn receipt(&self) -> &Receipt {
        &self.0.receipt
    }

    /// Writes them as the entries of a tar archive, without its end.
    pub(in crate::profile) fn write_to(&self, to: &mut impl Write) -> io::Result<()> {
        let files = Decoder::with_buffer(self.0.bytes.as_slice())?;
        let whole = self.0.unpacked.saturating_sub(END) as u64;
        io::copy(&mut files.take(whole), to).map(drop)
    }

    fn unpack(&self, profile: &Path) -> io::Result<()> {
        tar::Archive::new(Decoder::with_buffer(self.0.bytes.as_slice())?).unpack(profile)
    }
}

impl ProfileCache {
    /// An empty one, which keeps at most `limit` bytes.
    pub fn new(limit: usize) -> Self {
        let stores = HashMap::new();
        Self(Arc::new(Mutex::new(Shelf { limit, used: 0, clock: 0, stores })))
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
            let key = key.of_store(store);
            if let Some(kept) = self.find(key, times.now) {
                let unpacked = kept.unpack(profile);
                return Ok(unpacked.map_err(ProfileError::new("unpack", profile))?);
            }
            rows.write(store, profile)?;
            Ok(self.keep(key, rows.until(store), rows.receipt_of(store), profile)?)
        })?;
        Ok(rows.receipt())
    }

    /// The localStorage under a key, if it is kept: of what is made with it, the state need not have any.
    pub fn local_storage(&self, key: CacheKey, now: Instant) -> Option<Kept> {
        self.find(key.of_store(Store::LocalStorage), now)
    }

    /// The files of a store, if they are kept.
    pub(in crate::profile) fn find(&self, key: StoreKey, now: Instant) -> Option<Kept> {
        self.shelf().take_out(key, now).map(Kept)
    }

    /// Keeps the files of a store of a profile, about which the receipt tells, until the first of its cookies ends. Blocks on the disk.
    pub(in crate::profile) fn keep(
        &self,
        key: StoreKey,
        until: Option<Expiry>,
        receipt: Receipt,
        profile: &Path,
    ) -> Result<(), ProfileError> {
        if key.size < WORTH_IT {
            return Ok(());
        }
        let files = key.store.archive(profile)?;
        // What cannot be kept is made again.
        if let Ok(bytes) = zstd::bulk::compress(&files, LEVEL) {
            let bytes = Arc::new(Zeroizing::new(bytes));
            let (unpacked, receipt) = (files.len(), Arc::new(receipt));
            self.shelf().put(key, Packed { bytes, unpacked, until, receipt, last_used: 0 });
        }
        Ok(())
    }

    /// How many bytes are kept.
    pub fn used(&self) -> usize {
        self.shelf().used
    }

    fn shelf(&self) -> MutexGuard<'_, Shelf> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
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
