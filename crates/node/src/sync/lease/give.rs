//! Hands a session over to the node that asks for it.

use super::note::{holder_elsewhere, record, runs_here};
use crate::audit::{Action, Actor, Note};
use crate::auth::Caller;
use crate::sync::SyncError;
use crate::sync::shelf::Shelf;
use crate::sync::working::{keep_unsaved, row};
use crate::{Context, NodeError, sessions};
use baton_api::sync::{LeaseAnswer, LeaseOutcome};
use baton_session::{Lease, Lifecycle, Owner, SessionId};
use baton_store::Peer;
use std::time::Duration;

/// How long it waits for other operations on the session; shorter than the one who asks waits.
const TURN_LIMIT: Duration = Duration::from_secs(30);

/// Hands a session over to `peer`: what it holds is captured, saved and closed when this returns. One
/// that does not run here is free.
pub(crate) async fn give(
    context: &Context,
    caller: &Caller,
    peer: &Peer,
    session: SessionId,
    asked: Lease,
) -> Result<LeaseAnswer, NodeError> {
    if asked.node != peer.node || asked.released {
        let why = format!("expected a lease of node {}, found one of {}", peer.node, asked.node);
        return Err(SyncError::Untrusted { why }.into());
    }
    let owner = &caller.owner;
    let shelf = Shelf::take(context, owner, session).await?;
    if shelf.is_new() {
        return Ok(answer(LeaseOutcome::Free, &shelf));
    }
    if !asked.is_plausible(shelf.shared.lease) {
        let why = format!("expected the term after those before, found {}", asked.term);
        return Err(SyncError::Untrusted { why }.into());
    }
    if shelf.shared.lease.is_some_and(|known| known.supersedes(&asked)) {
        return Ok(answer(LeaseOutcome::Outdated, &shelf));
    }
    let note = Note::new(&caller.actor, owner, Action::HandOver, session.to_string());
    let note = note.with("peer", peer.node.to_string());
    let outcome = match end_for(context, owner, session, asked).await {
        Ok(outcome @ LeaseOutcome::HandedOver) => note.end(&context.store, Ok(outcome)).await?,
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
    context: &Context,
    owner: &Owner,
    session: SessionId,
    asked: Lease,
) -> Result<LeaseOutcome, NodeError> {
    let kept = |why: &str| Ok(LeaseOutcome::Kept(why.to_owned()));
    if context.asking.contains(session) && context.node < asked.node {
        return kept("it is being resumed there right now");
    }
    let Ok(_turn) = context.turn(session, TURN_LIMIT).await else {
        return kept("another operation on it goes on there");
    };
    let Some(found) = row(context, owner, session).await? else {
        record(context, owner, session, asked).await?;
        return Ok(LeaseOutcome::Free);
    };
    if context.hub.borrower(session).is_some() {
        return kept("a sandbox holds it there");
    }
    if found.lifecycle == Lifecycle::Active && found.node != context.node {
        return kept("it runs at another node of the same database");
    }
    let ended = end_here(context, owner, session).await?;
    record(context, owner, session, asked).await?;
    Ok(if ended { LeaseOutcome::HandedOver } else { LeaseOutcome::Free })
}

/// Closes a session that runs here, and saves what was captured. The caller has its turn. Returns
/// whether it ran.
async fn end_here(context: &Context, owner: &Owner, session: SessionId) -> Result<bool, NodeError> {
    context.hub.settle(&context.store.fetch_session(owner, session).await?).await?;
    let found = context.store.fetch_session(owner, session).await?;
    let runs = found.lifecycle == Lifecycle::Active;
    let found = if runs { sessions::end(context, &found).await? } else { found };
    keep_unsaved(context, &found).await?;
    Ok(runs)
}

/// Ends a session that runs here although another node has its lease by now.
pub(super) async fn give_up(
    context: &Context,
    owner: &Owner,
    session: SessionId,
) -> Result<(), NodeError> {
    let _turn = context.turn(session, TURN_LIMIT).await?;
    let shelf = Shelf::take(context, owner, session).await?;
    let Some(holder) = holder_elsewhere(context, shelf.shared.lease).await? else { return Ok(()) };
    if !runs_here(context, owner, session).await? {
        return Ok(());
    }
    tracing::warn!(%session, holder = %holder, "another node took this session: it is saved and closed");
    let note = Note::new(&Actor::node(), owner, Action::HandOver, session.to_string());
    let note = note.with("peer", holder.to_string());
    let ended = end_here(context, owner, session).await;
    note.end(&context.store, ended.map(drop)).await
}
