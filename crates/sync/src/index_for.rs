//! The index as a peer is told of it: all of it, or of each session the part that it is given.

use super::index::of;
use super::seen::is_seen;
use crate::context::Sync;
use crate::error::SyncError;
use baton_api::sync::{IndexedSession, SyncIndex};
use baton_session::{NodeId, Owner, SessionId, View};
use baton_store::Peer;
use std::collections::HashSet;
use std::sync::Arc;

/// What a peer is told of the sessions: all, or of each the part that it is given.
pub async fn index_for(context: &Sync, peer: &Peer) -> Result<Arc<SyncIndex>, SyncError> {
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
