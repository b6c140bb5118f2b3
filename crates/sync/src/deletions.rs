//! Deletions: a session is deleted at every node, and that is remembered until every peer has heard of it.
//!
//! The one idea: what is deleted is remembered, so that no other node brings it back. A node that went on
//! with it meanwhile, without having heard, keeps what it has: that is a conflict.
//!
//! Every confirmed peer may have the session, also one that got it from a third node; so each of them has to
//! have heard: it holds the deletion in the place of the session, its index shows nothing of the session, or,
//! when it only asks this node, it read that in the index and nothing here says that it has the session. Then
//! none of them can bring it back. It is remembered for a while all the same: for nodes that only those peers
//! have met. A peer that is given a part does not hear of what is outside of it, so it is waited for only
//! where it is known to have something of the session, which its own index says as well.
//!
//! A peer that was removed counts as having heard, because this node cannot tell it any more. When it is
//! registered again and still has the session, it hears of the deletion if that is remembered still. If it is
//! not, the session comes like any other that this node has not seen: nothing is lost by that, and who
//! deletes it once more tells that peer too.
//!
//! What a session left on the disk is removed only when this database remembers that it was deleted. A
//! session of which it knows nothing may be another database's that was used with this folder. So may a
//! browser that runs: what has a socket is left alone.

use crate::context::Sync;
use crate::error::SyncError;
use crate::save::tell_by_itself;
use crate::shelf::{ATTEMPTS, Along, Shelf, author, is_race, row};
use crate::{given, index};
use baton_api::sync::{IndexedSession, SyncIndex};
use baton_runtime::audit::{Action, Note};
use baton_runtime::table::Hold;
use baton_runtime::{Caller, RuntimeError};
use baton_session::peer::PeerState;
use baton_session::revision::Content;
use baton_session::{Lifecycle, NodeId, Owner, Replica, RevisionId, SessionId, Signed};
use baton_store::blocking::blocking;
use baton_store::data::DataFolder;
use baton_store::{Peer, clock};
use jiff::{SignedDuration, Timestamp};
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::Path;
use std::time::Duration;

const DELETE_LIMIT: Duration = Duration::from_mins(1);

/// Deletes a session here, and at its peers as soon as they hear of it.
pub async fn delete(context: &Sync, caller: &Caller, session: SessionId) -> Result<(), SyncError> {
    let note = Note::new(&caller.actor, &caller.owner, Action::Delete, session.to_string());
    let deleted = async {
        let hold = context.hold(session, "deleted", DELETE_LIMIT).await?;
        Shelf::expect(context, &caller.owner, session).await?;
        publish_tombstone(context, &caller.owner, &hold).await
    };
    note.end(&context.store, deleted.await).await
}

/// Writes down that a session is deleted, if it is shared, and removes it here.
pub(crate) async fn publish_tombstone(
    context: &Sync,
    owner: &Owner,
    hold: &Hold,
) -> Result<(), SyncError> {
    let session = hold.id();
    if let Some(row) = row(context, owner, session).await?
        && row.lifecycle == Lifecycle::Active
    {
        let (name, found) = (row.name, row.lifecycle);
        return Err(RuntimeError::WrongState {
            name,
            expected: "closed or abandoned first",
            found,
        }
        .into());
    }
    for _ in 0..ATTEMPTS {
        let mut shelf = Shelf::load(context, owner, session).await?;
        let Some(current) = shelf.shared.replica.current() else { return Ok(()) };
        if current.deleted && shelf.shared.replica.siblings().is_empty() {
            return Ok(());
        }
        let says = Content::deleted(current.name.clone(), current.origin.clone());
        let before = shelf.whole();
        shelf.shared.replica.delete(says, &author(context));
        shelf.shared.base = None;
        let released = shelf.released(&before);
        // The files first: when the node dies in between, the session is still there to be deleted.
        let forget = Some(context.supervisor.delete_files(hold).await?);
        let along = Along { released, forget, ..Along::default() };
        match shelf.put_back(context, along).await {
            Err(error) if is_race(&error) => {}
            put => {
                put?;
                tracing::info!(%session, "deleted a shared session");
                tell_by_itself(context, owner, session);
                return Ok(());
            }
        }
    }
    Err(SyncError::Contended { session })
}

/// How long it waits for the holder of the session.
const FORGET_LIMIT: Duration = Duration::from_secs(10);

/// Forgets what no peer needs to hear any more, of every owner.
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

/// Forgets the deletion of a session, if no peer needs to hear of it.
async fn forget(context: &Sync, owner: &Owner, session: SessionId) -> Result<(), SyncError> {
    let _hold = context.hold(session, "forgotten", FORGET_LIMIT).await?;
    let shelf = Shelf::load(context, owner, session).await?;
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

/// Notes that this node tells a peer of the deletions in an index: of sessions of which the peer has nothing,
/// as far as this node knows. One that has something says so by what it does next.
pub async fn note_told(context: &Sync, peer: &Peer, index: &SyncIndex) -> Result<(), SyncError> {
    if !peer.limits.give.is_whole() || !index.sessions.iter().any(|one| one.deleted) {
        return Ok(());
    }
    let held = given::held_by(context, &peer.owner, peer.node).await?;
    let is_new = |one: &&IndexedSession| one.deleted && !held.contains(&one.id);
    let heard: Vec<_> = index.sessions.iter().filter(is_new).map(|one| (one.id, one.rev)).collect();
    Ok(context.store.note_heard(&peer.owner, peer.node, &heard, clock::now()).await?)
}

/// How long it waits for the holder of the session.
const TIDY_LIMIT: Duration = Duration::from_secs(10);

/// Removes the profiles and files of sessions that were deleted, of every owner.
pub(super) async fn remove_remains(context: &Sync) -> Result<(), SyncError> {
    let data = context.supervisor.data().clone();
    let there = blocking(move || folders(&data)).await?;
    if there.is_empty() {
        return Ok(());
    }
    for (owner, session) in
        deleted(context, clock::now(), |session| there.contains(&session)).await?
    {
        match remove(context, &owner, session).await {
            Ok(true) => tracing::warn!(%session, "removed what a deleted session had left"),
            Ok(false) => {}
            Err(error) => tracing::warn!(%session, %error, "a deleted session's files stay"),
        }
    }
    Ok(())
}

/// Returns whether there was something to remove.
async fn remove(context: &Sync, owner: &Owner, session: SessionId) -> Result<bool, SyncError> {
    let hold = context.hold(session, "tidied up", TIDY_LIMIT).await?;
    let runs = context.supervisor.data().socket(session).exists();
    if runs || row(context, owner, session).await?.is_some() {
        return Ok(false);
    }
    context.supervisor.delete_files(&hold).await?;
    Ok(true)
}

/// The sessions that have a folder. Waits for the disk.
fn folders(data: &DataFolder) -> BTreeSet<SessionId> {
    let ids = |folder: &Path| {
        let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
        let names = entries.filter_map(|entry| entry.file_name().into_string().ok());
        names.filter_map(|name| name.parse().ok()).collect::<Vec<SessionId>>()
    };
    [data.sessions(), data.files()].iter().flat_map(|folder| ids(folder)).collect()
}
