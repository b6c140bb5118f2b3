//! Where compiled stores are kept: not more of them than a bound, the one that was used last for the longest.

use super::key::StoreKey;
use crate::profile::instant::Instant;
use baton_session::Receipt;
use baton_session::cookie::Expiry;
use std::collections::HashMap;
use std::sync::Arc;
use zeroize::Zeroizing;

/// Stores in memory, within a bound.
pub(super) struct Shelf {
    /// The most bytes that are kept.
    pub(super) limit: usize,
    pub(super) used: usize,
    /// Counts up with each use.
    pub(super) clock: u64,
    pub(super) stores: HashMap<StoreKey, Packed>,
}

/// A store that is kept.
#[derive(Clone)]
pub(super) struct Packed {
    pub(super) bytes: Arc<Zeroizing<Vec<u8>>>,
    /// How many bytes they are when they are not packed.
    pub(super) unpacked: usize,
    /// When the first of its cookies ends: from then on it is another store.
    pub(super) until: Option<Expiry>,
    /// A line for each of what is in it, and of what could not be.
    pub(super) receipt: Arc<Receipt>,
    pub(super) last_used: u64,
}

impl Shelf {
    pub(super) fn take_out(&mut self, key: StoreKey, now: Instant) -> Option<Packed> {
        if self.stores.get(&key)?.until.is_some_and(|until| until.0 <= now.0) {
            self.drop_one(key);
            return None;
        }
        self.clock += 1;
        let packed = self.stores.get_mut(&key)?;
        packed.last_used = self.clock;
        Some(packed.clone())
    }

    pub(super) fn put(&mut self, key: StoreKey, packed: Packed) {
        let size = packed.bytes.len();
        if size > self.limit {
            return;
        }
        self.drop_one(key);
        while self.used + size > self.limit {
            let oldest = self.stores.iter().min_by_key(|(_, packed)| packed.last_used);
            let Some(oldest) = oldest.map(|(key, _)| *key) else { break };
            self.drop_one(oldest);
        }
        self.used += size;
        self.clock += 1;
        self.stores.insert(key, Packed { last_used: self.clock, ..packed });
    }

    fn drop_one(&mut self, key: StoreKey) {
        if let Some(packed) = self.stores.remove(&key) {
            self.used -= packed.bytes.len();
        }
    }
}
