//! The movements of sessions to peers that are noted already.

use baton_session::{NodeId, Owner, SessionId};
use baton_store::Peer;
use std::collections::HashMap;
use std::sync::Arc;
use std::time::Instant;
use tokio::sync::{Mutex, MutexGuard};

/// Which session goes to whom.
pub(super) type Movement = (Owner, NodeId, SessionId);

/// The movements that are noted. Cheap to clone.
#[derive(Debug, Clone, Default)]
pub struct Given(Arc<Mutex<HashMap<Movement, Instant>>>);

impl Given {
    /// A movement of a session to a peer begins: what it is given from here on is noted anew.
    pub async fn begin(&self, peer: &Peer, session: SessionId) {
        self.0.lock().await.remove(&movement(peer, session));
    }

    /// When each was noted. Whoever holds this notes alone.
    pub(super) async fn noted(&self) -> MutexGuard<'_, HashMap<Movement, Instant>> {
        self.0.lock().await
    }
}

/// The movement of a session to a peer.
pub(super) fn movement(peer: &Peer, session: SessionId) -> Movement {
    (peer.owner.clone(), peer.node, session)
}
