//! What peers hold of sessions, as far as this node knows.

use crate::context::Sync;
use crate::error::SyncError;
use baton_runtime::Caller;
use baton_session::{NodeId, Offer, RevisionId, SessionId, Signed};
use baton_store::Peer;
use baton_store::clock;
use std::collections::HashMap;

/// Notes that a peer may hold something of a session: it has asked for it, or was asked to take it.
pub async fn may_hold(context: &Sync, peer: &Peer, session: SessionId) -> Result<(), SyncError> {
    Ok(context.store.note_known(&peer.owner, peer.node, session, clock::now()).await?)
}

/// The revision of each session that a peer is known to hold: for one that cannot be asked.
pub async fn held(
    context: &Sync,
    caller: &Caller,
    node: NodeId,
) -> Result<HashMap<SessionId, RevisionId>, SyncError> {
    let held = context.store.list_held(&caller.owner, node).await?;
    Ok(held.into_iter().filter_map(|(session, rev)| Some((session, rev?))).collect())
}

/// Whether a peer who is given a part may have something of a session; of one who is given everything that
/// makes no difference.
pub async fn may_have(context: &Sync, peer: &Peer, session: SessionId) -> Result<bool, SyncError> {
    if peer.limits.give.is_whole() {
        return Ok(true);
    }
    let held = context.store.list_held(&peer.owner, peer.node).await?;
    Ok(held.iter().any(|(held, _)| *held == session))
}

/// Notes what a peer holds after an exchange: the current revision, when both have said that it is.
pub(crate) async fn holds(
    context: &Sync,
    peer: &Peer,
    offer: &Offer,
    current: Option<RevisionId>,
) -> Result<(), SyncError> {
    // Whoever was shown a part has all that there is of the whole for it.
    let seen_of = |told: &Signed| if told.is_view() { told.parents.first().copied() } else { None };
    let held = current.and_then(|rev| offer.find(rev));
    match held.map(|held| seen_of(held).unwrap_or_else(|| held.id())) {
        Some(rev) => {
            let (session, now) = (offer.session, clock::now());
            Ok(context.store.note_ack(&peer.owner, peer.node, session, rev, now).await?)
        }
        None => may_hold(context, peer, offer.session).await,
    }
}
