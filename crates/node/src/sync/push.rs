//! Pushes a session to a peer.

use super::movement::{Way, begin, end, part_refs};
use super::offer::exchange;
use super::parcels::{batches, fetch};
use crate::audit::Action;
use crate::auth::Caller;
use crate::{Context, NodeError};
use baton_api::sync::{Exchange, Movement, Parcel, Taken, Wanted};
use baton_session::Owner;

/// Pushes a session to a peer: what it has here is there when this returns. When time runs out it
/// answers so, and goes on where it stopped when called again.
pub async fn push(
    context: &Context,
    caller: &Caller,
    peer: &str,
    session: &str,
) -> Result<Movement, NodeError> {
    let mut way = begin(context, caller, Action::Push, peer, session).await?;
    let pushed = run(context, &caller.owner, &mut way).await;
    end(context, caller, way, Action::Push, pushed).await
}

async fn run(
    context: &Context,
    owner: &Owner,
    way: &mut Way,
) -> Result<(Exchange, Taken), NodeError> {
    let exchange = exchange(context, owner, way.session).await?;
    loop {
        let taken = way.remote.offer(&exchange).await?;
        if taken.missing.is_empty() || way.is_late() {
            return Ok((exchange, taken));
        }
        give(context, owner, way, &exchange, taken.missing).await?;
    }
}

/// Gives parts, while those behind them are read from the disk.
async fn give(
    context: &Context,
    owner: &Owner,
    way: &mut Way,
    exchange: &Exchange,
    missing: Vec<Wanted>,
) -> Result<(), NodeError> {
    let session = way.session;
    let mut before: Vec<Parcel> = Vec::new();
    for batch in batches(missing, &part_refs(exchange)) {
        if way.is_late() {
            break;
        }
        let given = async {
            if before.is_empty() { Ok(()) } else { way.remote.give(session, &before).await }
        };
        let (given, read) = tokio::join!(given, fetch(context, owner, session, &batch));
        given?;
        before = read?;
        way.parts += batch.len() as u64;
    }
    if before.is_empty() { Ok(()) } else { way.remote.give(session, &before).await }
}
