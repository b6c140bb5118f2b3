//! Peers: nodes that are registered here, one file a verb: `register confirm limit list ping remove`, and
//! `admit` for those that ask us; `held` notes what they have, and `shown` is what lets them in here.
//!
//! The one idea: a peer is a key. Who it is was shown to a person once, and whoever answers at its
//! address, or asks with its API key, must be that one.

mod admit;
mod confirm;
mod held;
mod limit;
mod list;
mod ping;
mod register;
mod remove;
pub(super) mod seen;
mod shown;
mod status;

pub use admit::admit;
pub(crate) use admit::free_name;
pub use confirm::confirm;
pub(crate) use held::holds;
pub use held::{held, may_have, may_hold};
pub use limit::limit;
pub use list::{known, list};
pub use ping::ping;
pub use register::register;
pub use remove::remove;
pub use seen::Statuses;
pub use shown::CLIENT;
pub(crate) use status::confirms_there;
pub(crate) use status::unasked;

use super::error::SyncError;
use crate::context::Sync;
use baton_session::peer::{PeerLimits, PeerState};
use baton_session::{NodeId, Owner};
use baton_store::clock;
use baton_store::{Peer, StoreError};

/// Finds a peer of an owner by id, the beginning of one, or name.
pub(super) async fn find(
    context: &Sync,
    owner: &Owner,
    reference: &str,
) -> Result<Peer, SyncError> {
    match context.store.find_peer(owner, reference).await {
        Err(StoreError::PeerNotFound { reference }) => Err(SyncError::NoPeer { reference }),
        found => Ok(found?),
    }
}

/// The same for one that may be given secrets.
pub(super) async fn find_confirmed(
    context: &Sync,
    owner: &Owner,
    reference: &str,
) -> Result<Peer, SyncError> {
    let peer = find(context, owner, reference).await?;
    match peer.state {
        PeerState::Confirmed => Ok(peer),
        PeerState::Pending => Err(SyncError::Pending { name: peer.name }),
    }
}

/// How much of sessions goes to a node and is taken from it; everything where it is no peer, as this
/// node itself is none.
pub(crate) async fn limits_of(
    context: &Sync,
    owner: &Owner,
    node: NodeId,
) -> Result<PeerLimits, SyncError> {
    match context.store.find_peer(owner, &node.to_string()).await {
        Err(StoreError::PeerNotFound { .. }) => Ok(PeerLimits::default()),
        found => Ok(found?.limits),
    }
}

/// The confirmed peers of an owner that have an address.
pub(super) async fn confirmed(context: &Sync, owner: &Owner) -> Result<Vec<Peer>, SyncError> {
    let peers = context.store.list_peers(owner).await?;
    let is_asked = |peer: &Peer| peer.state == PeerState::Confirmed && peer.url.is_some();
    Ok(peers.into_iter().filter(is_asked).collect())
}

/// Notes that a peer was heard; of what is told by the way, not every time on disk.
pub fn heard(context: &Sync, peer: &Peer) {
    context.own.statuses.heard(peer.node);
}

/// Notes that a peer was heard, and whether a session moved or needed not to.
pub(crate) async fn seen(context: &Sync, peer: &Peer, synced: bool) -> Result<(), SyncError> {
    let now = clock::now();
    context.own.statuses.heard(peer.node);
    Ok(context.store.touch_peer(&peer.owner, peer.node, now, synced.then_some(now)).await?)
}
