//! The index: every session that is shared, and how far each has come.
//!
//! The one idea: a line is made when something is stored, not when somebody asks. All lines together
//! are remembered until the database says that there are newer ones.

use super::seen::is_seen;
use crate::blocking::blocking;
use crate::runtime::Caller;
use crate::sync::context::Sync;
use crate::sync::error::SyncError;
use baton_api::sync::{IndexedSession, SyncIndex};
use baton_session::{NodeId, Owner, SessionId, SessionName, View, json};
use baton_store::{Generation, Peer, Shared};
use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex, PoisonError};

/// Of how many owners the index is remembered.
const OWNERS_MAX: usize = 16;

/// The indexes that were made last.
#[derive(Default)]
pub(crate) struct IndexCache(Mutex<HashMap<Owner, (Generation, Arc<SyncIndex>)>>);

/// The caller's sessions that are shared, by the names that they have here. Another node is told what their
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
    context.own.indexes.put(owner, generation, &index);
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

/// What a peer is told of the sessions: all, or of each the part that it is given.
pub(crate) async fn index_for(context: &Sync, peer: &Peer) -> Result<Arc<SyncIndex>, SyncError> {
    let index = of(context, &peer.owner).await?;
    let view = &peer.limits.give;
    if view.is_whole() {
        return Ok(index);
    }
    let mut told = SyncIndex::clone(&*shown_to(context, peer, index).await?);
    told.sessions.iter_mut().for_each(|line| *line = through(line, view));
    Ok(Arc::new(told))
}

/// The sessions of which there is anything for a peer, or of which it may have something already.
pub(super) async fn shown_to(
    context: &Sync,
    peer: &Peer,
    index: Arc<SyncIndex>,
) -> Result<Arc<SyncIndex>, SyncError> {
    let view = &peer.limits.give;
    if view.is_whole() {
        return Ok(index);
    }
    let held = held_by(context, &peer.owner, peer.node).await?;
    let mut shown = SyncIndex { sessions: Vec::new(), ..SyncIndex::clone(&index) };
    for line in &index.sessions {
        if held.contains(&line.id) || is_seen(context, &peer.owner, line.id, view).await? {
            shown.sessions.push(line.clone());
        }
    }
    Ok(Arc::new(shown))
}

/// The sessions of which a peer may have something, as far as this node knows.
pub(super) async fn held_by(
    context: &Sync,
    owner: &Owner,
    node: NodeId,
) -> Result<HashSet<SessionId>, SyncError> {
    let held = context.store.list_held(owner, node).await?;
    Ok(held.into_iter().map(|(session, _)| session).collect())
}

/// A line as somebody sees it who sees a part.
fn through(line: &IndexedSession, view: &View) -> IndexedSession {
    let known = line.knowledge().through(view);
    IndexedSession { vector: known.joined(), within: known.into_within(), ..line.clone() }
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
