//! The names of compiled stores: those of the parts that they are made of.

use super::store::Store;
use baton_session::{PartHash, PartRef, SessionId};

/// What the stores of a profile are made of: the names of their parts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CacheKey {
    stores: [StoreKey; 2],
    session: Option<SessionId>,
}

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
        Self { stores: Store::ALL.map(|store| StoreKey::of(store, parts)), session: None }
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

    pub(super) fn stores(&self) -> [StoreKey; 2] {
        self.stores
    }

    pub(in crate::profile) fn of_store(&self, store: Store) -> StoreKey {
        let [cookies, local_storage] = self.stores;
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
