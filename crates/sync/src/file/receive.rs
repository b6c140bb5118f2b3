//! Takes what a sync file offers, once a pinned key has proven who wrote it.

use super::SyncFile;
use super::pack::unpack;
use crate::at_hand::AtHand;
use crate::context::Sync;
use crate::error::SyncError;
use crate::receive::take;
use crate::{parcels, peers};
use baton_api::sync::Taken;
use baton_session::peer::PeerState;
use baton_session::{NodeKey, Owner};
use baton_store::{Peer, StoreError};

/// Who wrote a file: the key that proves it, and the peer, unless it was this node.
pub(crate) type Writer = (NodeKey, Option<Peer>);

/// The key of the node that says that it wrote the file; none when nobody has pinned it.
pub(crate) async fn writer(
    context: &Sync,
    owner: &Owner,
    file: &SyncFile,
) -> Result<Option<Writer>, SyncError> {
    if file.sender == context.node {
        return Ok(Some((context.own.identity.now().key(), None)));
    }
    match context.store.find_peer(owner, &file.sender.to_string()).await {
        Ok(peer) if peer.node == file.sender && peer.state == PeerState::Confirmed => {
            Ok(Some((peer.key, Some(peer))))
        }
        Ok(_) | Err(StoreError::PeerNotFound { .. }) => Ok(None),
        Err(error) => Err(error.into()),
    }
}

/// Takes what a file offers. All or nothing.
pub(crate) async fn receive(
    context: &Sync,
    owner: &Owner,
    file: SyncFile,
    (key, peer): Writer,
) -> Result<Taken, SyncError> {
    let (sender, session) = (file.sender, file.session);
    file.verify(&key).map_err(|_| SyncError::ForgedFile { node: sender })?;
    let (exchange, parcels) = unpack(context, file).await?;
    if exchange.offer.session != session {
        return Err(SyncError::ForgedFile { node: sender });
    }
    let mut taken = take(context, owner, sender, &exchange, &mut AtHand::of(context), None).await?;
    if !taken.missing.is_empty() {
        parcels::stage(context, owner, session, parcels, |_| ()).await?;
        taken = take(context, owner, sender, &exchange, &mut AtHand::of(context), None).await?;
    }
    if let Some(view) = taken.takes {
        return Err(SyncError::TooMuch { session, view });
    }
    if !taken.missing.is_empty() {
        let why = "its file lacks parts that it names".to_owned();
        return Err(SyncError::BadContent { why });
    }
    if let Some(peer) = peer {
        peers::holds(context, &peer, &exchange.offer, taken.rev).await?;
    }
    Ok(taken)
}
