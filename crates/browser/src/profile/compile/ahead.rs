//! Stores that are made before a caller asks for them, and those that none will ask for any more.

use super::cache::{CacheKey, ProfileCache, is_worth_it};
use super::store::{StateRows, Store, StoreArchive};
use super::{CompileError, Times};
use crate::profile::ProfileError;
use crate::profile::instant::Instant;
use baton_session::{PartKind, SessionId, State};
use std::collections::BTreeSet;
use std::path::Path;

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
