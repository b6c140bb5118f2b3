//! Profiles that were compiled before, for whoever starts many browsers with one login.
//!
//! The one idea: a profile follows from its parts, so the parts are its name. What is kept is packed,
//! in memory only, for it is a login in plain text; and not more of it than a bound, the profile that
//! was used last for the longest.

use super::{CompileError, Times, write_rows};
use crate::profile::ProfileError;
use crate::profile::instant::Instant;
use baton_session::cookie::Expiry;
use baton_session::{PartHash, PartKind, PartRef, State};
use std::collections::HashMap;
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use zeroize::Zeroizing;

/// How hard the packing tries: hardly, for it shall be done at once.
const LEVEL: i32 = 1;
/// Profiles that are compiled sooner than they are unpacked, in bytes of their parts.
const WORTH_IT: u64 = 256 << 10;

/// What a compiled profile is made of: the names of its parts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct CacheKey {
    parts: PartHash,
    size: u64,
}

impl CacheKey {
    /// The key of the cookies and the localStorage among these parts.
    pub fn of(parts: &[PartRef]) -> Self {
        let is_row =
            |part: &&PartRef| matches!(part.kind, PartKind::Cookies | PartKind::LocalStorage);
        let mut named: Vec<_> = parts.iter().filter(is_row).collect();
        named.sort_by(|a, b| (a.kind, &a.name).cmp(&(b.kind, &b.name)));
        let hashes: Vec<u8> = named.iter().flat_map(|part| part.hash.0).collect();
        let size = named.iter().map(|part| part.size).sum();
        Self { parts: PartHash::of(&hashes), size }
    }
}

/// Compiled profiles, packed. Cheap to clone; clones share what they hold.
#[derive(Clone)]
pub struct ProfileCache(Arc<Mutex<Shelf>>);

struct Shelf {
    /// The most bytes that are kept.
    limit: usize,
    used: usize,
    /// Counts up with each use.
    clock: u64,
    profiles: HashMap<CacheKey, Packed>,
}

#[derive(Clone)]
struct Packed {
    bytes: Arc<Zeroizing<Vec<u8>>>,
    /// How many bytes they are when they are not packed.
    unpacked: usize,
    /// When the first of its cookies ends: from then on it is another profile.
    until: Option<Expiry>,
    last_used: u64,
}

impl ProfileCache {
    /// An empty one, which keeps at most `limit` bytes.
    pub fn new(limit: usize) -> Self {
        let profiles = HashMap::new();
        Self(Arc::new(Mutex::new(Shelf { limit, used: 0, clock: 0, profiles })))
    }

    /// As [`write_rows`], of what is kept under this key if there is something, and keeps it. The state
    /// is that of the key. Blocks on the disk.
    pub fn write_rows(
        &self,
        key: CacheKey,
        state: &State,
        profile: &Path,
        times: Times,
    ) -> Result<(), CompileError> {
        if let Some(packed) = self.shelf().take_out(key, times.now) {
            return unpack(&packed, profile).map_err(CompileError::from);
        }
        write_rows(state, profile, times)?;
        if key.size >= WORTH_IT {
            self.keep(key, state, &archive(profile)?, times);
        }
        Ok(())
    }

    /// The same as a tar archive. Where nothing is kept, the files are written into `profile` first.
    pub(in crate::profile) fn archive_rows(
        &self,
        key: CacheKey,
        state: &State,
        profile: &Path,
        times: Times,
    ) -> Result<Zeroizing<Vec<u8>>, CompileError> {
        if let Some(packed) = self.shelf().take_out(key, times.now) {
            let failed = ProfileError::new("unpack", profile);
            let files = zstd::bulk::decompress(&packed.bytes, packed.unpacked);
            return Ok(Zeroizing::new(files.map_err(failed)?));
        }
        write_rows(state, profile, times)?;
        let files = archive(profile)?;
        if key.size >= WORTH_IT {
            self.keep(key, state, &files, times);
        }
        Ok(files)
    }

    fn keep(&self, key: CacheKey, state: &State, files: &[u8], times: Times) {
        let until = state.cookies.iter().filter_map(|cookie| cookie.expires);
        // Those that ended before are not in it.
        let until = until.filter(|expires| *expires > Expiry(times.now.0)).min();
        // What cannot be kept is made again.
        if let Ok(bytes) = zstd::bulk::compress(files, LEVEL) {
            let bytes = Arc::new(Zeroizing::new(bytes));
            self.shelf().put(key, Packed { bytes, unpacked: files.len(), until, last_used: 0 });
        }
    }

    /// How many bytes are kept.
    pub fn used(&self) -> usize {
        self.shelf().used
    }

    fn shelf(&self) -> MutexGuard<'_, Shelf> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Shelf {
    fn take_out(&mut self, key: CacheKey, now: Instant) -> Option<Packed> {
        if self.profiles.get(&key)?.until.is_some_and(|until| until.0 <= now.0) {
            self.drop_one(key);
            return None;
        }
        self.clock += 1;
        let packed = self.profiles.get_mut(&key)?;
        packed.last_used = self.clock;
        Some(packed.clone())
    }

    fn put(&mut self, key: CacheKey, packed: Packed) {
        let size = packed.bytes.len();
        if size > self.limit {
            return;
        }
        self.drop_one(key);
        while self.used + size > self.limit {
            let oldest = self.profiles.iter().min_by_key(|(_, packed)| packed.last_used);
            let Some(oldest) = oldest.map(|(key, _)| *key) else { break };
            self.drop_one(oldest);
        }
        self.used += size;
        self.clock += 1;
        self.profiles.insert(key, Packed { last_used: self.clock, ..packed });
    }

    fn drop_one(&mut self, key: CacheKey) {
        if let Some(packed) = self.profiles.remove(&key) {
            self.used -= packed.bytes.len();
        }
    }
}

/// The files of a profile, as a tar archive.
pub(in crate::profile) fn archive(profile: &Path) -> Result<Zeroizing<Vec<u8>>, ProfileError> {
    let mut files = tar::Builder::new(Vec::new());
    let packed =
        files.append_dir_all("Default", profile.join("Default")).and_then(|()| files.into_inner());
    packed.map(Zeroizing::new).map_err(ProfileError::new("pack", profile))
}

fn unpack(packed: &Packed, profile: &Path) -> Result<(), ProfileError> {
    let unpacked = (|| {
        let files = zstd::stream::read::Decoder::with_buffer(packed.bytes.as_slice())?;
        tar::Archive::new(files).unpack(profile)
    })();
    unpacked.map_err(ProfileError::new("unpack", profile))
}

#[cfg(test)]
mod tests {
    use super::*;

    const HOUR: i64 = 3_600_000_000;

    fn part(name: &str, size: u64) -> PartRef {
        let hash = PartHash::of(name.as_bytes());
        PartRef { kind: PartKind::LocalStorage, name: name.to_owned(), hash, size }
    }

    fn state(expires: Option<i64>) -> State {
        let cookie = serde_json::json!({
            "name": "sid", "value": "1", "domain": "app.test", "path": "/", "expires": expires,
        });
        State { cookies: vec![serde_json::from_value(cookie).unwrap()], ..State::default() }
    }

    /// Whether the profile comes from the cache: then it has the cookies of `first`.
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
        let known = |key| cache.shelf().profiles.contains_key(key);
        assert_eq!(keys.each_ref().map(known), [true, false, true]);
        assert!(cache.used() <= cache.shelf().limit);
    }
}
