//! What a peer is given: the index, what is shared of a session and its parts, or of each what it sees; and the
//! note of it.
//!
//! The one idea: an entry for each movement of a session that logs in, written before the first part leaves. A
//! movement begins when a peer asks for the revisions, or when this node pushes; one that asks for parts and for
//! nothing before them is noted as well, and again after a while.

use crate::contents::shared_parts;
use crate::context::Sync;
use crate::context::given::movement;
use crate::error::SyncError;
use crate::index::of;
use crate::parcels::{BATCH_PARTS, fetch_among, known};
use crate::partial::{SeenRevisions, fetch_seen, is_seen};
use crate::shelf::Shelf;
use baton_api::sync::{Exchange, IndexedSession, Parcel, SyncIndex, Wanted};
use baton_runtime::Actor;
use baton_runtime::audit::{Action, Note};
use baton_session::revision::PartList;
use baton_session::{NodeId, Owner, SessionId, View};
use baton_store::{Peer, clock};
use std::collections::{BTreeMap, HashSet};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// How long a movement goes on that no other one has followed.
const LONGEST: Duration = Duration::from_mins(10);
/// How many movements are remembered. One that is forgotten is noted once more.
const MOST: usize = 10_000;

/// Notes that `peer` is given something of a session that logs in, unless that is noted for this movement.
/// What cannot be noted is not given.
pub async fn given(
    context: &Sync,
    actor: &Actor,
    peer: &Peer,
    session: SessionId,
) -> Result<(), SyncError> {
    // Held until the entry is on disk, so that of two that ask at once the second one waits for it.
    let mut noted = context.own.given.noted().await;
    let movement = movement(peer, session);
    if noted.get(&movement).is_some_and(|at| at.elapsed() < LONGEST) {
        return Ok(());
    }
    let note = Note::new(actor, &peer.owner, Action::Give, session.to_string());
    let note = note.with("peer", peer.node.to_string()).with("name", peer.name.as_str());
    note.end(&context.store, Ok::<_, SyncError>(())).await?;
    if noted.len() >= MOST {
        noted.clear();
    }
    noted.insert(movement, Instant::now());
    drop(noted);
    let now = clock::now();
    Ok(context.store.touch_peer(&peer.owner, peer.node, now, Some(now)).await?)
}

/// The revisions of a session as a peer is given them, of which `view` is what goes to it, and of which parts
/// they are made. Of a session of which there is nothing for it, it hears only if it may have something of it
/// already: that it is gone.
pub async fn exchange_for(
    context: &Sync,
    owner: &Owner,
    session: SessionId,
    view: &View,
    may_have: bool,
) -> Result<Exchange, SyncError> {
    if !view.is_whole() && !may_have {
        let shelf = Shelf::expect(context, owner, session).await?;
        if SeenRevisions::of(context, &shelf, view).await?.is_nothing(&shelf) {
            return Err(SyncError::NothingSeen { session, view: view.clone() });
        }
    }
    exchange(context, owner, session, view).await
}

/// The revisions of a session as a peer sees them, and of which parts they are made.
pub(super) async fn exchange(
    context: &Sync,
    owner: &Owner,
    session: SessionId,
    view: &View,
) -> Result<Exchange, SyncError> {
    let shelf = Shelf::expect(context, owner, session).await?;
    let seen = SeenRevisions::of(context, &shelf, view).await?;
    let offer = shelf.shared.replica.offer_seen(&seen.revisions());
    if offer.heads.is_empty() {
        return Err(SyncError::NothingSeen { session, view: view.clone() });
    }
    let mut lists = BTreeMap::new();
    for revision in offer.whole().filter(|revision| !revision.deleted) {
        if let Some(list) = seen.list(revision.id()) {
            lists.insert(revision.parts, list.clone());
            continue;
        }
        let held = context.store.fetch_content(owner, session, revision.id()).await?;
        let held = held.ok_or(SyncError::NoContent { rev: revision.id() })?;
        lists.insert(revision.parts, PartList::new(&shared_parts(&held)));
    }
    Ok(Exchange {
        offer,
        lists: lists.into_values().collect(),
        peer_lease: shelf.shared.peer_lease,
    })
}

/// The parts that are asked for, if they belong to what the peer sees of the session.
pub async fn fetch(
    context: &Sync,
    owner: &Owner,
    session: SessionId,
    view: &View,
    wanted: &[Wanted],
) -> Result<Vec<Parcel>, SyncError> {
    if wanted.len() > BATCH_PARTS {
        return Err(SyncError::TooManyParts { limit: BATCH_PARTS, found: wanted.len() });
    }
    if !view.is_whole() {
        return fetch_seen(context, owner, session, view, wanted).await;
    }
    let known = known(context, owner, session).await?;
    fetch_among(context, owner, session, &known, wanted).await
}

/// What a peer hears of the sessions: all, or of each the part that it is given.
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

/// A line as a peer sees it that sees a part.
fn through(line: &IndexedSession, view: &View) -> IndexedSession {
    let known = line.knowledge().through(view);
    IndexedSession { vector: known.joined(), within: known.into_within(), ..line.clone() }
}
