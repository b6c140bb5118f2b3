//! Pulls a session from a peer.

use super::movement::{Way, begin, end, part_refs};
use super::parcels::{batches, stage};
use super::receive::take;
use super::{SyncError, offer};
use crate::audit::Action;
use crate::auth::Caller;
use crate::{Context, NodeError};
use baton_api::sync::{Exchange, Movement, Parcel, Taken, Wanted};
use baton_session::{Owner, PartHash, PartRef, SessionId};
use futures_util::stream::{self, StreamExt};
use std::collections::HashMap;
use std::future::ready;
use std::time::Instant;

/// How many bodies are asked for at once.
const AHEAD: usize = 2;

/// Pulls a session from a peer: what it has there is here when this returns. When time runs out it
/// answers so, and goes on where it stopped when called again.
pub async fn pull(
    context: &Context,
    caller: &Caller,
    peer: &str,
    session: &str,
) -> Result<Movement, NodeError> {
    let mut way = begin(context, caller, Action::Pull, peer, session).await?;
    let pulled = run(context, &caller.owner, &mut way).await;
    end(context, caller, way, Action::Pull, pulled).await
}

async fn run(
    context: &Context,
    owner: &Owner,
    way: &mut Way,
) -> Result<(Exchange, Taken), NodeError> {
    let exchange = way.remote.exchange(way.session).await?;
    way.expect_session(&exchange)?;
    loop {
        let taken = take(context, owner, &exchange).await?;
        if taken.missing.is_empty() || way.is_late() {
            if taken.rev.is_some() && says_deleted(&exchange) {
                confirm_deletion(context, owner, way).await;
            }
            return Ok((exchange, taken));
        }
        bring(context, owner, way, &exchange, taken.missing).await?;
    }
}

/// Tells the peer that this node has heard of a deletion, so that it need not remember it for us. When
/// that fails it remembers it for longer.
async fn confirm_deletion(context: &Context, owner: &Owner, way: &Way) {
    let told = async {
        let ours = offer::exchange(context, owner, way.session).await?;
        if says_deleted(&ours) {
            way.remote.offer(&ours).await?;
        }
        Ok::<_, NodeError>(())
    };
    if let Err(error) = told.await {
        tracing::debug!(session = %way.session, %error, "the peer does not know that we have heard");
    }
}

fn says_deleted(exchange: &Exchange) -> bool {
    exchange.offer.whole().all(|revision| revision.deleted)
}

/// Brings parts: the peer reads the next ones, while these are written to the disk.
async fn bring(
    context: &Context,
    owner: &Owner,
    way: &mut Way,
    exchange: &Exchange,
    missing: Vec<Wanted>,
) -> Result<(), NodeError> {
    let (session, until, announced) = (way.session, way.until, part_refs(exchange));
    let remote = &way.remote;
    let mut arriving = stream::iter(batches(missing, &announced))
        .take_while(|_| ready(Instant::now() < until))
        .map(|batch| remote.fetch(session, batch))
        .buffered(AHEAD);
    let mut before = Vec::new();
    loop {
        let staged = stage(context, owner, session, std::mem::take(&mut before));
        let (arrived, staged) = tokio::join!(arriving.next(), staged);
        staged?;
        let Some(parcels) = arrived.transpose()? else { return Ok(()) };
        way.parts += parcels.len() as u64;
        before = expected(parcels, &announced, session)?;
    }
}

/// The parcels, if each is of a part that was announced.
fn expected(
    parcels: Vec<Parcel>,
    announced: &HashMap<PartHash, PartRef>,
    session: SessionId,
) -> Result<Vec<Parcel>, NodeError> {
    let is_other = |parcel: &&Parcel| announced.get(&parcel.part.hash) != Some(&parcel.part);
    match parcels.iter().find(is_other) {
        None => Ok(parcels),
        Some(other) => Err(SyncError::NotOfSession { part: other.part.hash, session }.into()),
    }
}
