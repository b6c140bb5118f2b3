//! The index: every session that is shared, and how far each has come.
//!
//! The one idea: a line is made when something is stored, not when somebody asks. All lines together
//! are remembered until the database says that there are newer ones.

use crate::auth::Caller;
use crate::{Context, NodeError};
use baton_api::sync::{IndexedSession, SyncIndex};
use baton_session::{Owner, Vector};
use baton_store::{Generation, Shared};
use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

/// Of how many owners the index is remembered.
const OWNERS_MAX: usize = 16;

/// The indexes that were made last.
#[derive(Default)]
pub(crate) struct IndexCache(Mutex<HashMap<Owner, (Generation, Arc<SyncIndex>)>>);

/// The caller's sessions that are shared.
pub async fn index(context: &Context, caller: &Caller) -> Result<Arc<SyncIndex>, NodeError> {
    of(context, &caller.owner).await
}

/// The sessions of an owner that are shared.
pub(super) async fn of(context: &Context, owner: &Owner) -> Result<Arc<SyncIndex>, NodeError> {
    let newest = context.store.owner_generation(owner).await?;
    if let Some(index) = context.indexes.get(owner, newest) {
        return Ok(index);
    }
    let (generation, entries) = context.store.list_entries(owner).await?;
    let mut sessions = Vec::with_capacity(entries.len());
    for (session, entry) in entries {
        match serde_json::from_slice::<IndexedSession>(&entry) {
            Ok(entry) => sessions.push(entry),
            // It costs itself only; the next change of the session writes it anew.
            Err(error) => tracing::error!(%session, %error, "a line of the index is damaged"),
        }
    }
    let last_updated = sessions.iter().map(|session| session.last_modified).max();
    let index = Arc::new(SyncIndex { node_id: context.node, last_updated, sessions });
    context.indexes.put(owner, generation, &index);
    Ok(index)
}

/// The line of a session, for the database.
pub(super) fn entry(shared: &Shared) -> Vec<u8> {
    // Texts, numbers and lists, so this cannot fail.
    line(shared).map(|line| serde_json::to_vec(&line).unwrap_or_default()).unwrap_or_default()
}

fn line(shared: &Shared) -> Option<IndexedSession> {
    let replica = &shared.replica;
    let current = replica.current()?;
    let mut conflicts: Vec<_> = replica.siblings().iter().map(|sibling| sibling.id()).collect();
    conflicts.sort_unstable();
    let all = replica.heads().map(|head| &head.vector);
    Some(IndexedSession {
        id: replica.session(),
        name: current.name.clone(),
        version: current.version,
        checksum: current.checksum,
        last_modified: current.modified_at,
        origin_node_id: current.origin.node,
        size: current.size,
        rev: current.id(),
        conflicts,
        vector: all.fold(Vector::default(), Vector::join),
        lease: shared.lease,
        deleted: current.deleted,
    })
}

impl IndexCache {
    fn get(&self, owner: &Owner, newest: Generation) -> Option<Arc<SyncIndex>> {
        let known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let (generation, index) = known.get(owner)?;
        (*generation == newest).then(|| Arc::clone(index))
    }

    fn put(&self, owner: &Owner, generation: Generation, index: &Arc<SyncIndex>) {
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if known.len() >= OWNERS_MAX && !known.contains_key(owner) {
            known.clear();
        }
        known.insert(owner.clone(), (generation, Arc::clone(index)));
    }
}
