//! This node as its operations know it: the key is the same for good, and the epoch may be another one
//! while it runs, once a copy of the node turns up.

use super::Identity;
use baton_session::{Actor, Epoch, NodeId, NodeSecret};
use baton_store::{Store, StoreError};
use std::sync::{Arc, PoisonError, RwLock};

/// The identity of the running node. Cheap to clone; all clones are in the same epoch.
#[derive(Debug, Clone)]
pub struct OwnIdentity {
    identity: Arc<RwLock<Identity>>,
    place: Arc<str>,
}

impl OwnIdentity {
    /// The identity of a node that runs at `place`.
    pub fn new(identity: Identity, place: &str) -> Self {
        Self { identity: Arc::new(RwLock::new(identity)), place: place.into() }
    }

    /// It, as it is now.
    pub fn now(&self) -> Identity {
        self.identity.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Which node this is.
    pub fn node(&self) -> NodeId {
        self.now().node()
    }

    /// Whose counter its revisions advance.
    pub fn actor(&self) -> Actor {
        self.now().actor()
    }

    /// What signs for it.
    pub fn secret(&self) -> NodeSecret {
        self.now().secret().clone()
    }

    /// Begins another epoch, because a copy of this node counts on in this one. It is on disk when this
    /// returns.
    pub async fn begin_epoch(&self, store: &Store) -> Result<(), StoreError> {
        let epoch = Epoch::new(rand::random());
        store.move_identity(self.node(), &self.place, epoch).await?;
        self.identity.write().unwrap_or_else(PoisonError::into_inner).enter(epoch);
        tracing::warn!(%epoch, "a copy of this node is about: a new epoch");
        Ok(())
    }
}
