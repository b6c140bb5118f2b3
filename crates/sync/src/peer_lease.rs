//! Peer leases: a session that several nodes have runs at one of them.
//!
//! The one idea: a node that wants to run a session asks every peer for it, with a peer lease of a higher
//! term than any that it knows. The node that runs it captures, saves and closes it, and answers with how far
//! it came. A node that cannot be reached cannot be asked: the session is taken over, and when that node is
//! heard again, it finds that its peer lease counts no more, saves what it has and closes it. Whatever was
//! done meanwhile on both sides is kept, as revisions that are compared. A node that takes the connection and
//! says nothing is there: what it holds stays its own, until a person removes that peer.
//!
//! Here one is handed over and renewed, and what peers have is heard. It is written down on the `shelf`, and
//! `acquire` takes it.

use crate::context::Sync;
use crate::error::SyncError;
use crate::remote::Remote;
use crate::shelf::{Shelf, holder_elsewhere, is_run_here, record_peer_lease, row, runs_here};
use crate::working::keep_unsaved;
use crate::{index, peers};
use baton_api::sync::{PeerLeaseAnswer, PeerLeaseOutcome};
use baton_runtime::audit::{Action, Note};
use baton_runtime::table::Hold;
use baton_runtime::{Actor, Caller, life};
use baton_session::{Lifecycle, NodeId, Owner, PeerLease, Session, SessionId};
use baton_store::{Peer, clock};
use futures_util::{StreamExt as _, stream};
use std::future::ready;
use std::time::Duration;

/// How many peers are asked at once.
const ASKED_AT_ONCE: usize = 8;

/// A peer, and what it said.
pub(crate) type PeerAnswer = (Peer, Result<PeerLeaseAnswer, SyncError>);

/// What each of them says to a peer lease of the session.
pub(crate) async fn ask_all(
    context: &Sync,
    peers: &[Peer],
    session: SessionId,
    peer_lease: PeerLease,
) -> Vec<PeerAnswer> {
    let asked = stream::iter(peers.to_vec()).map(|peer| async move {
        let answer =
            async { Remote::of(context, &peer).await?.peer_lease(session, peer_lease).await };
        let answer = answer.await;
        (peer, answer)
    });
    asked.buffer_unordered(ASKED_AT_ONCE).collect().await
}

/// Those of them that take no connections, or take them and say nothing.
pub(crate) async fn not_there(context: &Sync, peers: &[Peer]) -> Vec<PeerAnswer> {
    let asked = stream::iter(peers.to_vec()).map(|peer| async move {
        let looked = async { Remote::of(context, &peer).await?.health().await };
        match looked.await {
            Err(error @ (SyncError::Unreachable { .. } | SyncError::Silent { .. })) => {
                Some((peer, Err(error)))
            }
            // It is asked, and says for itself what is the matter.
            Ok(()) | Err(_) => None,
        }
    });
    asked.buffer_unordered(ASKED_AT_ONCE).filter_map(ready).collect().await
}

/// How long it waits for other operations on the session; shorter than the one who asks waits.
const HOLD_LIMIT: Duration = Duration::from_secs(30);

/// Hands a session over to `peer`: what it holds is captured, saved and closed when this returns. One
/// that does not run here is free.
pub async fn give(
    context: &Sync,
    caller: &Caller,
    peer: &Peer,
    session: SessionId,
    asked: PeerLease,
) -> Result<PeerLeaseAnswer, SyncError> {
    if asked.node != peer.node || asked.released {
        let why = format!("expected a lease of node {}, found one of {}", peer.node, asked.node);
        return Err(SyncError::Untrusted { why });
    }
    let owner = &caller.owner;
    let shelf = Shelf::load(context, owner, session).await?;
    if shelf.is_new() {
        return Ok(answer(PeerLeaseOutcome::Free, &shelf));
    }
    if !asked.is_plausible(shelf.shared.peer_lease) {
        let why = format!("expected the term after those before, found {}", asked.term);
        return Err(SyncError::Untrusted { why });
    }
    if shelf.shared.peer_lease.is_some_and(|known| known.supersedes(&asked)) {
        return Ok(answer(PeerLeaseOutcome::Outdated, &shelf));
    }
    let note = Note::new(&caller.actor, owner, Action::HandOver, session.to_string());
    let note = note.with("peer", peer.node.to_string());
    let outcome = match end_for(context, owner, session, asked).await {
        Ok(outcome @ PeerLeaseOutcome::HandedOver) => {
            note.end(&context.store, Ok::<_, SyncError>(outcome)).await?
        }
        Ok(outcome) => outcome,
        Err(error) => return Err(note.failed(&context.store, error).await),
    };
    Ok(answer(outcome, &Shelf::load(context, owner, session).await?))
}

fn answer(outcome: PeerLeaseOutcome, shelf: &Shelf) -> PeerLeaseAnswer {
    PeerLeaseAnswer { outcome, peer_lease: shelf.shared.peer_lease, vector: shelf.vector() }
}

/// Ends the session here, and writes down who has it now.
async fn end_for(
    context: &Sync,
    owner: &Owner,
    session: SessionId,
    asked: PeerLease,
) -> Result<PeerLeaseOutcome, SyncError> {
    let kept = |why: &str| Ok(PeerLeaseOutcome::Kept(why.to_owned()));
    let table = context.supervisor.table();
    // Two nodes that ask each other hold the session both: the one with the smaller id goes first, and does
    // not let the other one wait for it, also if it began to ask only now.
    let goes_first = context.node < asked.node;
    let hold = tokio::select! {
        biased;
        () = table.asked(session), if goes_first => {
            return kept("it is being resumed there right now");
        }
        hold = table.hold(session, "handed over", HOLD_LIMIT) => hold,
    };
    let Ok(hold) = hold else { return kept("another operation on it goes on there") };
    // The holder before may have taken it back, or given it to another node.
    let known = Shelf::load(context, owner, session).await?.shared.peer_lease;
    if known.is_some_and(|known| known.supersedes(&asked)) {
        return Ok(PeerLeaseOutcome::Outdated);
    }
    let Some(found) = row(context, owner, session).await? else {
        record_peer_lease(context, owner, session, asked).await?;
        return Ok(PeerLeaseOutcome::Free);
    };
    if hold.checked_out_to().is_some() {
        return kept("a sandbox holds it there");
    }
    if found.lifecycle == Lifecycle::Active && found.node != context.node {
        return kept("it runs at another node of the same database");
    }
    let ended = end_here(context, &hold, found).await?;
    record_peer_lease(context, owner, session, asked).await?;
    Ok(if ended { PeerLeaseOutcome::HandedOver } else { PeerLeaseOutcome::Free })
}

/// Closes a session that runs here, and saves what was captured. Returns whether it ran.
async fn end_here(context: &Sync, hold: &Hold, found: Session) -> Result<bool, SyncError> {
    let found = life::settled(context, hold, found).await?;
    let runs = found.lifecycle == Lifecycle::Active;
    let found = if runs { life::end(context, hold, &found).await? } else { found };
    keep_unsaved(context, &found).await?;
    Ok(runs)
}

/// Ends a session that runs here although another node has its peer lease by now.
async fn give_up(context: &Sync, owner: &Owner, session: SessionId) -> Result<(), SyncError> {
    let hold = context.hold(session, "handed over", HOLD_LIMIT).await?;
    let shelf = Shelf::load(context, owner, session).await?;
    let Some(holder) = holder_elsewhere(context, shelf.shared.peer_lease).await? else {
        return Ok(());
    };
    let Some(found) = row(context, owner, session).await?.filter(|row| runs_here(context, row))
    else {
        return Ok(());
    };
    tracing::warn!(%session, holder = %holder, "another node took this session: it is saved and closed");
    let note = Note::new(&Actor::node(), owner, Action::HandOver, session.to_string());
    let note = note.with("peer", holder.to_string());
    let ended = end_here(context, &hold, found).await;
    note.end(&context.store, ended.map(drop)).await
}

/// Takes note of a peer lease that the peer `of` says it has. When it counts more than ours, our browser
/// ends by and by, with a last revision. Returns whether that is so.
pub(super) async fn learn(
    context: &Sync,
    owner: &Owner,
    session: SessionId,
    of: NodeId,
    told: Option<PeerLease>,
) -> Result<bool, SyncError> {
    let Some(told) = told.filter(|told| told.node == of && of != context.node) else {
        return Ok(false);
    };
    record_peer_lease(context, owner, session, told).await?;
    let shelf = Shelf::load(context, owner, session).await?;
    let is_theirs = holder_elsewhere(context, shelf.shared.peer_lease).await? == Some(of);
    let is_taken = is_theirs && is_run_here(context, owner, session).await?;
    if is_taken {
        let (context, owner) = (context.clone(), owner.clone());
        context.clone().tasks.spawn(async move {
            if let Err(error) = give_up(&context, &owner, session).await {
                tracing::warn!(%session, %error, "a session that another node took runs on");
            }
        });
    }
    Ok(is_taken)
}

/// Tells peers which sessions run here, and hears which of them were taken over meanwhile.
pub(crate) async fn renew_all(context: &Sync) -> Result<(), SyncError> {
    for owner in context.store.list_peer_owners().await? {
        let index = index::of(context, &owner).await?;
        let held = index.sessions.iter().filter(|one| one.peer_lease.is_some() && !one.deleted);
        for session in held.map(|one| one.id) {
            if is_run_here(context, &owner, session).await?
                && let Err(error) = renew(context, &Caller::node(owner.clone()), session).await
            {
                tracing::info!(%session, %error, "peers were not told who holds a session");
            }
        }
    }
    Ok(())
}

/// Tells peers that a session still runs here, and hears whether one of them took it over meanwhile.
async fn renew(context: &Sync, caller: &Caller, session: SessionId) -> Result<(), SyncError> {
    let shelf = Shelf::load(context, &caller.owner, session).await?;
    let Some(mut peer_lease) = shelf.shared.peer_lease else { return Ok(()) };
    if holder_elsewhere(context, Some(peer_lease)).await?.is_some() {
        return give_up(context, &caller.owner, session).await;
    }
    if peer_lease.node != context.node || peer_lease.released {
        peer_lease = PeerLease::after(Some(peer_lease), context.node, clock::now());
        record_peer_lease(context, &caller.owner, session, peer_lease).await?;
    }
    let peers = peers::confirmed(context, &caller.owner).await?;
    for (peer, answer) in ask_all(context, &peers, session, peer_lease).await {
        let told = answer.ok().and_then(|answer| answer.peer_lease);
        learn(context, &caller.owner, session, peer.node, told).await?;
    }
    Ok(())
}

/// Asks peers whether one of them took over a session that runs here: one that cannot reach this node
/// cannot say so by itself. If so, it is saved and closed when this returns.
pub(crate) async fn hear(
    context: &Sync,
    owner: &Owner,
    session: SessionId,
) -> Result<(), SyncError> {
    renew(context, &Caller::node(owner.clone()), session).await?;
    let peer_lease = Shelf::load(context, owner, session).await?.shared.peer_lease;
    if holder_elsewhere(context, peer_lease).await?.is_some() {
        give_up(context, owner, session).await?;
    }
    Ok(())
}
