//! Pulls a session from a peer.

use crate::contents::AtHand;
use crate::context::Sync;
use crate::error::SyncError;
use crate::given;
use crate::movement::{OpenMovement, end, open, part_refs};
use crate::parcels::{batches, stage};
use crate::receive::receive;
use baton_api::sync::{Exchange, Movement, Parcel, Taken, Wanted};
use baton_runtime::Caller;
use baton_runtime::audit::Action;
use baton_runtime::table::Hold;
use baton_session::{Owner, PartHash, PartRef, SessionId};
use futures_util::stream::{self, StreamExt, TryStreamExt};
use std::collections::HashMap;
use std::future::ready;
use std::time::Duration;
use tokio::sync::mpsc;

/// How many bodies are asked for at once.
const AHEAD: usize = 2;
/// How many are checked and written at once: one is written while the next is checked.
const STAGED: usize = 2;

/// Pulls a session from a peer: what it has there is here when this returns. After `limit`, and at
/// least one body of parts, it answers that there is more, and goes on where it stopped when called again.
pub async fn pull(
    context: &Sync,
    caller: &Caller,
    peer: &str,
    session: &str,
    limit: Duration,
) -> Result<Movement, SyncError> {
    let mut way = open(context, caller, Action::Pull, (peer, session), limit).await?;
    let pulled = run(context, &caller.owner, &mut way, None).await;
    end(context, caller, way, Action::Pull, pulled).await
}

/// The same for a session that is held.
pub(super) async fn pull_held(
    context: &Sync,
    caller: &Caller,
    peer: &str,
    hold: &Hold,
    limit: Duration,
) -> Result<Movement, SyncError> {
    let session = hold.id().to_string();
    let mut way = open(context, caller, Action::Pull, (peer, &session), limit).await?;
    let pulled = run(context, &caller.owner, &mut way, Some(hold)).await;
    end(context, caller, way, Action::Pull, pulled).await
}

async fn run(
    context: &Sync,
    owner: &Owner,
    way: &mut OpenMovement,
    hold: Option<&Hold>,
) -> Result<(Exchange, Taken), SyncError> {
    way.sets_out(context).await?;
    let view = way.limits().take.clone();
    let exchange = way.remote.exchange(way.session, &view).await?;
    way.expect_session(&exchange)?;
    way.begins_to_move();
    let mut at_hand = AtHand::of(context);
    loop {
        let taken = receive(context, owner, way.node(), &exchange, &mut at_hand, hold).await?;
        if let Some(view) = taken.takes {
            return Err(SyncError::TooMuch { session: way.session, view });
        }
        if taken.missing.is_empty() || way.is_late() {
            let is_news = taken.changed || says_deleted(&exchange);
            if taken.missing.is_empty() && taken.rev.is_some() && is_news {
                confirm(context, owner, way).await;
            }
            return Ok((exchange, taken));
        }
        bring(context, owner, way, &exchange, taken.missing, &mut at_hand).await?;
    }
}

/// Tells the peer what this node has by now, as one that pushes would have: so it knows who has the
/// session, and that it need not remember a deletion for us. When that fails it learns so later.
async fn confirm(context: &Sync, owner: &Owner, way: &OpenMovement) {
    let told = async {
        let give = &way.limits().give;
        let ours = given::exchange(context, owner, way.session, give).await?;
        way.remote.offer(&ours).await.map(drop)
    };
    if let Err(error) = told.await {
        tracing::debug!(session = %way.session, %error, "the peer does not know that we have heard");
    }
}

fn says_deleted(exchange: &Exchange) -> bool {
    exchange.offer.whole().all(|revision| revision.deleted)
}

/// Brings parts. Three things go on side by side: the peer reads the next bodies, those that come are
/// opened, and what is in the ones before is checked and written.
async fn bring(
    context: &Sync,
    owner: &Owner,
    way: &mut OpenMovement,
    exchange: &Exchange,
    missing: Vec<Wanted>,
    at_hand: &mut AtHand,
) -> Result<(), SyncError> {
    let (hand_on, arriving) = mpsc::channel(1);
    let fetched = fetch_all(way, exchange, missing, hand_on);
    let staged = stage_all(context, owner, way, arriving, at_hand);
    // What has come is written, also when what follows does not come.
    let (fetched, staged) = tokio::join!(fetched, staged);
    staged?;
    way.parts += fetched?;
    Ok(())
}

/// Asks for parts until time runs out, hands on what comes, and returns how many came.
async fn fetch_all(
    way: &OpenMovement,
    exchange: &Exchange,
    missing: Vec<Wanted>,
    hand_on: mpsc::Sender<Vec<Parcel>>,
) -> Result<u64, SyncError> {
    let (session, announced) = (way.session, part_refs(exchange));
    let (view, mut asked) = (&way.limits().take, way.parts);
    let is_in_time = |batch: &Vec<Wanted>| {
        let is_in_time = !way.is_late_after(asked);
        asked += batch.len() as u64;
        ready(is_in_time)
    };
    let mut arriving = stream::iter(batches(missing, &announced))
        .take_while(is_in_time)
        .map(|batch| way.remote.fetch(session, view, batch))
        .buffered(AHEAD);
    let mut parts = 0;
    while let Some(parcels) = arriving.try_next().await? {
        let parcels = expected(parcels, &announced, session)?;
        parts += parcels.len() as u64;
        if hand_on.send(parcels).await.is_err() {
            // They could not be written: the writer says why.
            break;
        }
    }
    Ok(parts)
}

/// Checks and writes what arrives, and keeps at hand what it holds.
async fn stage_all(
    context: &Sync,
    owner: &Owner,
    way: &OpenMovement,
    mut arriving: mpsc::Receiver<Vec<Parcel>>,
    at_hand: &mut AtHand,
) -> Result<(), SyncError> {
    let reader = at_hand.reader();
    let stage_one = |parcels: Vec<Parcel>| async {
        let parts: Vec<PartRef> = parcels.iter().map(|parcel| parcel.part.clone()).collect();
        let staged = stage(context, owner, way.session, parcels, reader.clone()).await;
        let pieces = staged.map_err(|error| way.blame(error))?;
        Ok::<_, SyncError>(parts.into_iter().zip(pieces))
    };
    let arrived = stream::poll_fn(|task| arriving.poll_recv(task));
    let mut staged = arrived.map(stage_one).buffered(STAGED);
    while let Some(pieces) = staged.try_next().await? {
        for (part, piece) in pieces {
            if let Some(piece) = piece {
                at_hand.insert(&part, piece);
            }
        }
    }
    Ok(())
}

/// The parcels, if each is of a part that was announced.
fn expected(
    parcels: Vec<Parcel>,
    announced: &HashMap<PartHash, PartRef>,
    session: SessionId,
) -> Result<Vec<Parcel>, SyncError> {
    if parcels.is_empty() {
        let why = format!("expected parts of session {session}, found none");
        return Err(SyncError::Untrusted { why });
    }
    let is_other = |parcel: &&Parcel| announced.get(&parcel.part.hash) != Some(&parcel.part);
    match parcels.iter().find(is_other) {
        None => Ok(parcels),
        Some(other) => Err(SyncError::NotOfSession { part: other.part.hash, session }),
    }
}
