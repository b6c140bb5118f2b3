//! Forgets deletions that every peer has heard of.
//!
//! The one idea: a deletion is remembered so that nobody brings the session back. Every confirmed peer may
//! have it, also one that got it from a third node; so each of them has to have heard: it holds the
//! deletion in the place of the session, its index shows nothing of the session, or, when it only asks this
//! node, it was told in the index and nothing here says that it has the session. Then none of them can bring
//! it back. It is remembered for a while all the same: for nodes that only those peers have met.
//!
//! A peer that is given a part is not told of what is outside of it, so it is waited for only where it is
//! known to have something of the session, which its own index says as well.
//!
//! A peer that was removed counts as having heard, because nobody can tell it any more. When it is
//! registered again and still has the session, it hears of the deletion if that is remembered still.
//! If it is not, the session comes like any other that nobody here has seen: nothing is lost by that,
//! and who deletes it once more tells that peer too.

use super::index;
use super::shelf::{Shelf, is_race};
use super::working::row;
use crate::context::Sync;
use crate::error::SyncError;
use crate::index_for;
use baton_api::sync::{IndexedSession, SyncIndex};
use baton_session::peer::PeerState;
use baton_session::{NodeId, Owner, Replica, RevisionId, SessionId, Signed};
use baton_store::Peer;
use baton_store::clock;
use jiff::{SignedDuration, Timestamp};
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::time::Duration;

/// How long it waits for whoever changes the session.
const HOLD_LIMIT: Duration = Duration::from_secs(10);

/// Forgets what nobody needs to be told any more, of every owner.
pub(super) async fn forget_deletions(context: &Sync) -> Result<(), SyncError> {
    let age =
        SignedDuration::try_from(context.own.settings.deletion_age).unwrap_or(SignedDuration::MAX);
    let since = clock::now().saturating_sub(age).unwrap_or_default();
    for (owner, session) in deleted(context, since, |_| true).await? {
        match forget(context, &owner, session).await {
            Err(error) if is_race(&error) => {}
            Err(error) => tracing::warn!(%session, %error, "still remembered"),
            Ok(()) => {}
        }
    }
    Ok(())
}

/// The sessions, of every owner, that are remembered as deleted and have not changed since an instant, as
/// far as they are `wanted`.
pub(super) async fn deleted(
    context: &Sync,
    since: Timestamp,
    wanted: impl Fn(SessionId) -> bool,
) -> Result<Vec<(Owner, SessionId)>, SyncError> {
    let mut quiet: BTreeMap<Owner, BTreeSet<SessionId>> = BTreeMap::new();
    for (owner, session) in context.store.list_quiet(since).await? {
        if wanted(session) {
            quiet.entry(owner).or_default().insert(session);
        }
    }
    let mut found = Vec::new();
    for (owner, quiet) in quiet {
        let index = index::of(context, &owner).await?;
        let deleted = index.sessions.iter().filter(|one| one.deleted && quiet.contains(&one.id));
        found.extend(deleted.map(|one| (owner.clone(), one.id)));
    }
    Ok(found)
}

/// Forgets the deletion of a session, if nobody needs to be told.
async fn forget(context: &Sync, owner: &Owner, session: SessionId) -> Result<(), SyncError> {
    let _hold = context.hold(session, "forgotten", HOLD_LIMIT).await?;
    let shelf = Shelf::take(context, owner, session).await?;
    let replica = &shelf.shared.replica;
    let Some(deletion) = replica.current().filter(|current| current.deleted) else { return Ok(()) };
    if !replica.siblings().is_empty() || row(context, owner, session).await?.is_some() {
        return Ok(());
    }
    let peers = context.store.list_peers(owner).await?;
    let knowers = context.store.list_knowers(owner, session).await?;
    let knowers: HashMap<NodeId, Option<RevisionId>> = knowers.into_iter().collect();
    let has_heard = |peer: &Peer| match knowers.get(&peer.node) {
        Some(held) => held.is_some_and(|rev| includes(replica, rev, deletion)),
        None => !peer.limits.give.is_whole(),
    };
    let mut confirmed = peers.iter().filter(|peer| peer.state == PeerState::Confirmed);
    if !confirmed.all(has_heard) {
        return Ok(());
    }
    shelf.forget(context).await?;
    tracing::info!(%session, "every peer has heard of a deletion, which is forgotten");
    Ok(())
}

/// Whether a revision is the deletion, or has come after it.
fn includes(replica: &Replica, rev: RevisionId, deletion: &Signed) -> bool {
    let covers = |held: &Signed| held.deleted && held.vector.covers(&deletion.vector);
    rev == deletion.id() || replica.find(rev).is_some_and(covers)
}

/// Notes what the index of a peer tells of deletions: that it holds one, that it has not heard of it, or
/// that it has nothing of the session, which is as good. Of one that is given a part it is noted as well
/// what else it has of what is here.
pub(super) async fn hear(
    context: &Sync,
    peer: &Peer,
    here: &SyncIndex,
    there: &SyncIndex,
) -> Result<(), SyncError> {
    let is_told = peer.limits.give.is_whole();
    let noted = |ours: &&IndexedSession| ours.deleted || !is_told;
    let sessions: Vec<_> = here.sessions.iter().filter(noted).collect();
    if sessions.is_empty() {
        return Ok(());
    }
    let held = context.store.list_held(&peer.owner, peer.node).await?;
    let held: HashMap<SessionId, Option<RevisionId>> = held.into_iter().collect();
    let theirs: HashMap<SessionId, &IndexedSession> =
        there.sessions.iter().map(|one| (one.id, one)).collect();
    let mut without = Vec::new();
    for ours in sessions {
        let (owner, node, now) = (&peer.owner, peer.node, clock::now());
        let has_it = match theirs.get(&ours.id) {
            Some(line) => line.rev == ours.rev || line.deleted && line.vector.covers(&ours.vector),
            None => held.contains_key(&ours.id),
        };
        if ours.deleted && has_it && held.get(&ours.id) != Some(&Some(ours.rev)) {
            context.store.note_ack(owner, node, ours.id, ours.rev, now).await?;
        } else if theirs.contains_key(&ours.id) && !held.contains_key(&ours.id) {
            context.store.note_known(owner, node, ours.id, now).await?;
        } else if is_told && !held.contains_key(&ours.id) {
            without.push((ours.id, ours.rev));
        }
    }
    Ok(context.store.note_heard(&peer.owner, peer.node, &without, clock::now()).await?)
}

/// Notes that a peer is told of the deletions in an index: of sessions of which it has nothing, as far as
/// this node knows. One that has something says so by what it does next.
pub async fn told(context: &Sync, peer: &Peer, index: &SyncIndex) -> Result<(), SyncError> {
    if !peer.limits.give.is_whole() || !index.sessions.iter().any(|one| one.deleted) {
        return Ok(());
    }
    let held = index_for::held_by(context, &peer.owner, peer.node).await?;
    let is_new = |one: &&IndexedSession| one.deleted && !held.contains(&one.id);
    let heard: Vec<_> = index.sessions.iter().filter(is_new).map(|one| (one.id, one.rev)).collect();
    Ok(context.store.note_heard(&peer.owner, peer.node, &heard, clock::now()).await?)
}
