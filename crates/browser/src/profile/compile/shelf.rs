//! Where compiled stores are kept: not more of them than a bound, the one that was used last for the longest.
//!
//! The one idea: what nobody asked for yet takes half of the room at most, so that what somebody asked for
//! has the other half for itself.

use super::archive::StoreArchive;
use super::key::{CacheKey, StoreKey};
use crate::profile::instant::Instant;
use baton_session::SessionId;
use std::collections::{BTreeSet, HashMap};

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
    /// Whether somebody asked for it.
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

    /// A store that somebody asks for.
    pub(super) fn take_out(
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

    /// Keeps a store that somebody asked for.
    pub(super) fn put(&mut self, key: StoreKey, session: Option<SessionId>, store: StoreArchive) {
        if store.size() <= self.limit {
            self.make_room(store.size(), self.limit, |_| true);
            self.insert(key, session, store, true);
        }
    }

    /// Keeps a store that nobody asked for yet, if there is room for it.
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

    /// Whether so many bytes have room that nobody asked for yet.
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
        let stays = |store: &StoreKey| key.is_some_and(|key| key.stores().contains(store));
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
