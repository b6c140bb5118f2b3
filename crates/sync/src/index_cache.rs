//! The indexes that were made last, by owner.

use baton_api::sync::SyncIndex;
use baton_session::Owner;
use baton_store::Generation;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

/// Of how many owners the index is remembered.
const OWNERS_MAX: usize = 16;

/// The indexes that were made last.
#[derive(Default)]
pub struct IndexCache(Mutex<HashMap<Owner, (Generation, Arc<SyncIndex>)>>);

impl IndexCache {
    /// That of an owner, if it is the newest.
    pub(super) fn get(&self, owner: &Owner, newest: Generation) -> Option<Arc<SyncIndex>> {
        let known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let (generation, index) = known.get(owner)?;
        (*generation == newest).then(|| Arc::clone(index))
    }

    /// Remembers it.
    pub(super) fn put(&self, owner: &Owner, generation: Generation, index: &Arc<SyncIndex>) {
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if known.len() >= OWNERS_MAX && !known.contains_key(owner) {
            known.clear();
        }
        known.insert(owner.clone(), (generation, Arc::clone(index)));
    }
}
