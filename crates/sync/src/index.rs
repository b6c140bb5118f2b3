//! The index: every session that is shared, and how far each has come.
//!
//! The one idea: a line is made when something is stored, not when a caller asks. All lines together are
//! remembered until the database says that there are newer ones.

use crate::context::Sync;
use crate::error::SyncError;
use baton_api::sync::{IndexedSession, SyncIndex};
use baton_runtime::Caller;
use baton_session::{Owner, SessionId, SessionName, json};
use baton_store::Shared;
use baton_store::blocking::blocking;
use std::collections::HashMap;
use std::sync::Arc;

/// The caller's sessions that are shared, by the names that they have here. Another node hears what their
/// revisions call them.
pub async fn index(context: &Sync, caller: &Caller) -> Result<Arc<SyncIndex>, SyncError> {
    let index = of(context, &caller.owner).await?;
    let names = names(context, &caller.owner).await?;
    let is_other = |one: &IndexedSession| names.get(&one.id).is_some_and(|name| *name != one.name);
    if !index.sessions.iter().any(is_other) {
        return Ok(index);
    }
    let mut shown = SyncIndex::clone(&index);
    for one in &mut shown.sessions {
        if let Some(name) = names.get(&one.id) {
            one.name = name.clone();
        }
    }
    Ok(Arc::new(shown))
}

/// What the sessions that are shared are called here. Of two that were called the same one has another name,
/// by which alone it is found.
pub(super) async fn names(
    context: &Sync,
    owner: &Owner,
) -> Result<HashMap<SessionId, SessionName>, SyncError> {
    Ok(context.store.list_shared_names(owner).await?.into_iter().collect())
}

/// The sessions of an owner that are shared.
pub(super) async fn of(context: &Sync, owner: &Owner) -> Result<Arc<SyncIndex>, SyncError> {
    let newest = context.store.owner_generation(owner).await?;
    if let Some(index) = context.own.indexes.get(owner, newest) {
        return Ok(index);
    }
    let (generation, entries) = context.store.list_entries(owner).await?;
    // There may be some hundred thousand.
    let sessions = blocking(move || read(entries)).await?;
    let last_updated = sessions.iter().map(|session| session.last_modified).max();
    let index = Arc::new(SyncIndex { node_id: context.node, last_updated, sessions });
    context.own.indexes.insert(owner, generation, &index);
    Ok(index)
}

/// The lines as they lie in the database.
fn read(entries: Vec<(SessionId, Vec<u8>)>) -> Vec<IndexedSession> {
    let mut sessions = Vec::with_capacity(entries.len());
    for (session, entry) in entries {
        match serde_json::from_slice(&entry) {
            Ok(entry) => sessions.push(entry),
            // It costs itself only; the next change of the session writes it anew.
            Err(error) => tracing::error!(%session, %error, "a line of the index is damaged"),
        }
    }
    sessions
}

/// The line of a session, for the database.
pub(super) fn entry(shared: &Shared) -> Vec<u8> {
    line(shared).map(|line| json::bytes(&line)).unwrap_or_default()
}

fn line(shared: &Shared) -> Option<IndexedSession> {
    let replica = &shared.replica;
    let current = replica.current()?;
    let mut conflicts: Vec<_> = replica.siblings().iter().map(|sibling| sibling.id()).collect();
    conflicts.sort_unstable();
    let known = replica.heads().map(|head| head.knowledge()).reduce(|all, one| all.join(&one))?;
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
        vector: known.joined(),
        within: known.into_within(),
        peer_lease: shared.peer_lease,
        deleted: current.deleted,
    })
}
