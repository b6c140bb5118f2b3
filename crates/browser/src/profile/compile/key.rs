//! The names of compiled stores: those of the parts that they are made of.

use super::store::Store;
use baton_session::{PartHash, PartRef};

/// What the stores of a profile are made of: the names of their parts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CacheKey([StoreKey; 2]);

/// What one store is made of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(in crate::profile) struct StoreKey {
    pub(super) store: Store,
    parts: PartHash,
    /// How many bytes its parts have.
    pub(super) size: u64,
}

impl CacheKey {
    /// The key of the cookies and the localStorage among these parts.
    pub fn of(parts: &[PartRef]) -> Self {
        Self(Store::ALL.map(|store| StoreKey::of(store, parts)))
    }

    pub(in crate::profile) fn of_store(&self, store: Store) -> StoreKey {
        let [cookies, local_storage] = self.0;
        match store {
            Store::Cookies => cookies,
            Store::LocalStorage => local_storage,
        }
    }
}

impl StoreKey {
    fn of(store: Store, parts: &[PartRef]) -> Self {
        let mut named: Vec<_> = parts.iter().filter(|part| part.kind == store.kind()).collect();
        named.sort_by(|a, b| a.name.cmp(&b.name));
        let hashes: Vec<u8> = named.iter().flat_map(|part| part.hash.0).collect();
        let size = named.iter().map(|part| part.size).sum();
        Self { store, parts: PartHash::of(&hashes), size }
    }
}
