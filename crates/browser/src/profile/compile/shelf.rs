//! Where compiled stores are kept: not more of them than a bound, the one that was used last for the longest.

use super::archive::StoreArchive;
use super::key::StoreKey;
use crate::profile::instant::Instant;
use std::collections::HashMap;

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
}

impl Shelf {
    pub(super) fn new(limit: u64) -> Self {
        Self { limit, used: 0, clock: 0, stores: HashMap::new() }
    }

    pub(super) fn take_out(&mut self, key: StoreKey, now: Instant) -> Option<StoreArchive> {
        self.clock += 1;
        let kept = self.stores.get_mut(&key)?;
        if kept.store.until().is_some_and(|until| until.0 <= now.0) {
            self.drop_one(key);
            return None;
        }
        kept.last_used = self.clock;
        Some(kept.store.clone())
    }

    pub(super) fn put(&mut self, key: StoreKey, store: StoreArchive) {
        let size = store.size();
        if size > self.limit {
            return;
        }
        self.drop_one(key);
        while self.used + size > self.limit {
            let oldest = self.stores.iter().min_by_key(|(_, kept)| kept.last_used);
            let Some(oldest) = oldest.map(|(key, _)| *key) else { break };
            self.drop_one(oldest);
        }
        self.used += size;
        self.clock += 1;
        self.stores.insert(key, Kept { store, last_used: self.clock });
    }

    fn drop_one(&mut self, key: StoreKey) {
        if let Some(kept) = self.stores.remove(&key) {
            self.used -= kept.store.size();
        }
    }
}
