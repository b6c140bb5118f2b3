//! Pushes a session to a peer.

use super::error::SyncError;
use super::movement::{Way, begin, end, part_refs};
use super::offer::exchange_for;
use super::parcels::{batches, fetch};
use crate::context::Sync;
use baton_api::sync::{Exchange, Movement, Parcel, Taken, Wanted};
use baton_runtime::Caller;
use baton_runtime::audit::Action;
use baton_session::{Owner, View};
use std::time::Duration;

/// Pushes a session to a peer: what it has here is there when this returns. After `limit`, and at
/// least one body of parts, it answers that there is more, and goes on where it stopped when called again.
pub async fn push(
    context: &Sync,
    caller: &Caller,
    peer: &str,
    session: &str,
    limit: Duration,
) -> Result<Movement, SyncError> {
    let mut way = begin(context, caller, Action::Push, (peer, session), limit).await?;
    let pushed = run(context, caller, &mut way).await;
    end(context, caller, way, Action::Push, pushed).await
}

async fn run(
    context: &Sync,
    caller: &Caller,
    way: &mut Way,
) -> Result<(Exchange, Taken), SyncError> {
    let owner = &caller.owner;
    let mut view = way.limits().give.clone();
    let (session, may_have) = (way.session, way.may_have);
    let mut exchange = exchange_for(context, owner, session, &view, may_have).await?;
    way.sets_out(context).await?;
    way.begins_to_give(context).await;
    loop {
        let taken = way.remote.offer(&exchange).await?;
        way.begins_to_move();
        if let Some(takes) = &taken.takes {
            // It takes less than this; and what is in both is within what it takes.
            if view.meet(takes) == view {
                return Err(SyncError::TooMuch { session: way.session, view: takes.clone() });
            }
            view = view.meet(takes);
            exchange = exchange_for(context, owner, session, &view, may_have).await?;
            continue;
        }
        if taken.missing.is_empty() || way.is_late() {
            return Ok((exchange, taken));
        }
        way.gives(context, &caller.actor).await?;
        give(context, owner, way, (&view, &exchange), taken.missing).await?;
    }
}

/// Gives parts, while those behind them are read from the disk.
async fn give(
    context: &Sync,
    owner: &Owner,
    way: &mut Way,
    (view, exchange): (&View, &Exchange),
    missing: Vec<Wanted>,
) -> Result<(), SyncError> {
    let session = way.session;
    let mut before: Vec<Parcel> = Vec::new();
    for batch in batches(missing, &part_refs(exchange)) {
        if way.is_late() {
            break;
        }
        let given = async {
            let before = std::mem::take(&mut before);
            if before.is_empty() { Ok(()) } else { way.remote.give(session, before).await }
        };
        let (given, read) = tokio::join!(given, fetch(context, owner, session, view, &batch));
        given?;
        before = read?;
        way.parts += batch.len() as u64;
    }
    if before.is_empty() { Ok(()) } else { way.remote.give(session, before).await }
}
