//! How the sessions stand here and at a peer: two indexes compared.

use crate::context::Sync;
use crate::error::SyncError;
use crate::remote::Remote;
use crate::{deletions, given, index, peer_lease, peers};
use baton_api::sync::{Difference, DifferenceList, IndexedSession, SessionDifference, SyncIndex};
use baton_runtime::Caller;
use baton_session::revision::Order;
use baton_session::{PeerLimits, SessionId};
use baton_store::Peer;
use std::collections::{BTreeSet, HashMap};

/// Compares the caller's sessions with those of a peer.
pub async fn differences(
    context: &Sync,
    caller: &Caller,
    peer: &str,
) -> Result<DifferenceList, SyncError> {
    let peer = peers::find_confirmed(context, &caller.owner, peer).await?;
    let there = Remote::of(context, &peer).await?.index().await?;
    peers::seen(context, &peer, true).await?;
    let taken = learn(context, &peer, &there).await?;
    let mut items = compared(context, &peer, &there).await?;
    for item in &mut items {
        item.taken = taken.contains(&item.session_id);
    }
    Ok(DifferenceList { node_id: peer.node, name: peer.name, items })
}

/// Notes what the index of a peer tells besides: which sessions it runs, and of which deletions it heard.
/// Returns those that ran here until now, and are the peer's.
pub(super) async fn learn(
    context: &Sync,
    peer: &Peer,
    there: &SyncIndex,
) -> Result<BTreeSet<SessionId>, SyncError> {
    let mut taken = BTreeSet::new();
    for held in there.sessions.iter().filter(|session| session.peer_lease.is_some()) {
        if peer_lease::learn(context, &peer.owner, held.id, peer.node, held.peer_lease).await? {
            taken.insert(held.id);
        }
    }
    let here = index::of(context, &peer.owner).await?;
    deletions::hear(context, peer, &here, there).await?;
    Ok(taken)
}

/// Compares the sessions here with the index of a peer. One that is here bears the name that it has here.
pub(super) async fn compared(
    context: &Sync,
    peer: &Peer,
    there: &SyncIndex,
) -> Result<Vec<SessionDifference>, SyncError> {
    let here = index::of(context, &peer.owner).await?;
    let here = given::shown_to(context, peer, here).await?;
    let names = index::names(context, &peer.owner).await?;
    let mut items = compare_within(&here, there, &peer.limits);
    for item in &mut items {
        if let Some(name) = names.get(&item.session_id) {
            item.name = name.clone();
        }
    }
    Ok(items)
}

/// The sessions of a peer.
pub async fn remote_index(
    context: &Sync,
    caller: &Caller,
    peer: &str,
) -> Result<SyncIndex, SyncError> {
    let peer = peers::find_confirmed(context, &caller.owner, peer).await?;
    let there = Remote::of(context, &peer).await?.index().await?;
    peers::seen(context, &peer, false).await?;
    Ok(there)
}

/// Compares two indexes of nodes that give each other everything; sessions that differ come first, then by
/// name. One that was deleted at one of them and never was at the other is left out.
pub fn compare(here: &SyncIndex, there: &SyncIndex) -> Vec<SessionDifference> {
    compare_within(here, there, &PeerLimits::default())
}

/// The same, as far as sessions go to and fro.
pub fn compare_within(
    here: &SyncIndex,
    there: &SyncIndex,
    limits: &PeerLimits,
) -> Vec<SessionDifference> {
    let mut theirs: HashMap<SessionId, &IndexedSession> =
        there.sessions.iter().map(|session| (session.id, session)).collect();
    let mut items = Vec::with_capacity(here.sessions.len());
    for ours in &here.sessions {
        items.extend(line(Some(ours), theirs.remove(&ours.id), limits));
    }
    items.extend(theirs.into_values().filter_map(|theirs| line(None, Some(theirs), limits)));
    items.sort_by(|a, b| {
        let key = |item: &SessionDifference| item.difference == Difference::Same;
        key(a).cmp(&key(b)).then_with(|| a.name.cmp(&b.name)).then(a.session_id.cmp(&b.session_id))
    });
    items
}

fn line(
    ours: Option<&IndexedSession>,
    theirs: Option<&IndexedSession>,
    limits: &PeerLimits,
) -> Option<SessionDifference> {
    let difference = match (ours, theirs) {
        (Some(ours), Some(theirs)) => difference(ours, theirs, limits),
        (Some(ours), None) if !ours.deleted => Difference::Ahead,
        (None, Some(theirs)) if !theirs.deleted && !limits.take.is_empty() => Difference::Behind,
        _ => return None,
    };
    let newest = match (ours, theirs) {
        (Some(ours), Some(theirs)) if theirs.last_modified > ours.last_modified => theirs,
        (Some(ours), _) => ours,
        (None, theirs) => theirs?,
    };
    Some(SessionDifference {
        session_id: newest.id,
        name: newest.name.clone(),
        difference,
        last_modified: newest.last_modified,
        size: newest.size,
        deleted: newest.deleted,
        here: ours.is_some_and(|ours| !ours.deleted),
        there: theirs.is_some_and(|theirs| !theirs.deleted),
        in_part: theirs.is_some_and(|theirs| !theirs.deleted && theirs.is_partial()),
        taken: false,
    })
}

fn difference(ours: &IndexedSession, theirs: &IndexedSession, limits: &PeerLimits) -> Difference {
    if !(limits.is_none() && ours.within.is_empty() && theirs.within.is_empty()) {
        return difference_within(ours, theirs, limits);
    }
    if (ours.rev, &ours.conflicts) == (theirs.rev, &theirs.conflicts) {
        return Difference::Same;
    }
    match ours.vector.compare(&theirs.vector) {
        Order::After => Difference::Ahead,
        Order::Before => Difference::Behind,
        Order::Equal | Order::Concurrent => Difference::Diverged,
    }
}

/// The same where the peer sees a part only: what goes to and fro is compared, and one name means nothing.
fn difference_within(
    ours: &IndexedSession,
    theirs: &IndexedSession,
    limits: &PeerLimits,
) -> Difference {
    let (here, there) = (ours.knowledge(), theirs.knowledge());
    let is_behind = !here.covers(&there.through(&limits.take));
    let is_ahead = !there.covers(&here.through(&limits.give));
    match (is_ahead, is_behind) {
        (false, false) => Difference::Same,
        (true, false) => Difference::Ahead,
        (false, true) => Difference::Behind,
        (true, true) => Difference::Diverged,
    }
}
