//! What peers hold of sessions, as far as this node knows.

use crate::{Context, NodeError, clock};
use baton_session::{Offer, RevisionId, SessionId};
use baton_store::Peer;

/// Notes that a peer may hold something of a session: it has asked for it, or was asked to take it.
pub(crate) async fn may_hold(
    context: &Context,
    peer: &Peer,
    session: SessionId,
) -> Result<(), NodeError> {
    Ok(context.store.note_known(&peer.owner, peer.node, session, clock::now()).await?)
}

/// Notes what a peer holds after an exchange: the current revision, when both have said that it is.
pub(in crate::sync) async fn holds(
    context: &Context,
    peer: &Peer,
    offer: &Offer,
    current: Option<RevisionId>,
) -> Result<(), NodeError> {
    match current.filter(|rev| offer.find(*rev).is_some()) {
        Some(rev) => {
            let (session, now) = (offer.session, clock::now());
            Ok(context.store.note_ack(&peer.owner, peer.node, session, rev, now).await?)
        }
        None => may_hold(context, peer, offer.session).await,
    }
}
