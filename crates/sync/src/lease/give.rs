//! Hands a session over to the node that asks for it.

use super::note::{holder_elsewhere, record, runs_here};
use crate::context::Sync;
use crate::error::SyncError;
use crate::shelf::Shelf;
use crate::working::{keep_unsaved, row};
use baton_api::sync::{LeaseAnswer, LeaseOutcome};
use baton_runtime::Actor;
use baton_runtime::Caller;
use baton_runtime::audit::{Action, Note};
use baton_runtime::life;
use baton_runtime::table::Hold;
use baton_session::{Lease, Lifecycle, Owner, Session, SessionId};
use baton_store::Peer;
use std::time::Duration;

/// How long it waits for other operations on the session; shorter than the one who asks waits.
const HOLD_LIMIT: Duration = Duration::from_secs(30);

/// Hands a session over to `peer`: what it holds is captured, saved and closed when this returns. One
/// that does not run here is free.
pub async fn give(
    context: &Sync,
    caller: &Caller,
    peer: &Peer,
    session: SessionId,
    asked: Lease,
) -> Result<LeaseAnswer, SyncError> {
    if asked.node != peer.node || asked.released {
        let why = format!("expected a lease of node {}, found one of {}", peer.node, asked.node);
        return Err(SyncError::Untrusted { why });
    }
    let owner = &caller.owner;
    let shelf = Shelf::take(context, owner, session).await?;
    if shelf.is_new() {
        return Ok(answer(LeaseOutcome::Free, &shelf));
    }
    if !asked.is_plausible(shelf.shared.lease) {
        let why = format!("expected the term after those before, found {}", asked.term);
        return Err(SyncError::Untrusted { why });
    }
    if shelf.shared.lease.is_some_and(|known| known.supersedes(&asked)) {
        return Ok(answer(LeaseOutcome::Outdated, &shelf));
    }
    let note = Note::new(&caller.actor, owner, Action::HandOver, session.to_string());
    let note = note.with("peer", peer.node.to_string());
    let outcome = match end_for(context, owner, session, asked).await {
        Ok(outcome @ LeaseOutcome::HandedOver) => {
            note.end(&context.store, Ok::<_, SyncError>(outcome)).await?
        }
        Ok(outcome) => outcome,
        Err(error) => return Err(note.failed(&context.store, error).await),
    };
    Ok(answer(outcome, &Shelf::take(context, owner, session).await?))
}

fn answer(outcome: LeaseOutcome, shelf: &Shelf) -> LeaseAnswer {
    LeaseAnswer { outcome, lease: shelf.shared.lease, vector: shelf.vector() }
}

/// Ends the session here, and writes down who has it now.
async fn end_for(
    context: &Sync,
    owner: &Owner,
    session: SessionId,
    asked: Lease,
) -> Result<LeaseOutcome, SyncError> {
    let kept = |why: &str| Ok(LeaseOutcome::Kept(why.to_owned()));
    let table = context.hub.table();
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
    // Whoever held it before may have taken it back, or given it to another node.
    let known = Shelf::take(context, owner, session).await?.shared.lease;
    if known.is_some_and(|known| known.supersedes(&asked)) {
        return Ok(LeaseOutcome::Outdated);
    }
    let Some(found) = row(context, owner, session).await? else {
        record(context, owner, session, asked).await?;
        return Ok(LeaseOutcome::Free);
    };
    if hold.borrower().is_some() {
        return kept("a sandbox holds it there");
    }
    if found.lifecycle == Lifecycle::Active && found.node != context.node {
        return kept("it runs at another node of the same database");
    }
    let ended = end_here(context, &hold, found).await?;
    record(context, owner, session, asked).await?;
    Ok(if ended { LeaseOutcome::HandedOver } else { LeaseOutcome::Free })
}

/// Closes a session that runs here, and saves what was captured. Returns whether it ran.
async fn end_here(context: &Sync, hold: &Hold, found: Session) -> Result<bool, SyncError> {
    let found = life::settled(context, hold, found).await?;
    let runs = found.lifecycle == Lifecycle::Active;
    let found = if runs { life::end(context, hold, &found).await? } else { found };
    keep_unsaved(context, &found).await?;
    Ok(runs)
}

/// Ends a session that runs here although another node has its lease by now.
pub(super) async fn give_up(
    context: &Sync,
    owner: &Owner,
    session: SessionId,
) -> Result<(), SyncError> {
    let hold = context.hold(session, "handed over", HOLD_LIMIT).await?;
    let shelf = Shelf::take(context, owner, session).await?;
    let Some(holder) = holder_elsewhere(context, shelf.shared.lease).await? else { return Ok(()) };
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
