//! Takes what a peer pushes, and notes it.

use super::at_hand::AtHand;
use super::error::SyncError;
use super::receive::take;
use super::{lease, peers};
use crate::context::Sync;
use baton_api::sync::{Exchange, Taken};
use baton_runtime::Caller;
use baton_runtime::audit::{Action, Note};
use baton_session::SessionId;
use baton_session::revision::Refused;
use baton_store::Peer;

/// Takes what `peer` offers of a session; what is refused is noted, with the reason.
pub async fn take_from(
    context: &Sync,
    caller: &Caller,
    peer: &Peer,
    session: SessionId,
    exchange: &Exchange,
) -> Result<Taken, SyncError> {
    let note = Note::new(&caller.actor, &caller.owner, Action::Receive, session.to_string());
    let note = note.with("peer", peer.node.to_string());
    let taken = match expect(session, exchange) {
        Ok(()) => {
            take(context, &caller.owner, peer.node, exchange, &mut AtHand::nothing(), None).await
        }
        Err(error) => Err(error),
    };
    let taken = match taken {
        Ok(taken) => taken,
        Err(error) => return Err(note.failed(&context.store, error).await),
    };
    if !taken.missing.is_empty() || taken.takes.is_some() {
        return Ok(taken);
    }
    peers::seen(context, peer, true).await?;
    lease::learn(context, &caller.owner, session, peer.node, exchange.lease).await?;
    peers::holds(context, peer, &exchange.offer, taken.rev).await?;
    if !taken.changed {
        return Ok(taken);
    }
    note.end(&context.store, Ok(taken)).await
}

fn expect(session: SessionId, exchange: &Exchange) -> Result<(), SyncError> {
    let found = exchange.offer.session;
    if found == session {
        return Ok(());
    }
    Err(SyncError::from(Refused::OtherSession { expected: session, found }))
}
