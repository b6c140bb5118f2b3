//! A peer that is watched, and what it said last.

use baton_api::Problem;
use baton_api::sync::SyncIndex;
use baton_session::NodeId;
use std::sync::{Arc, Mutex, PoisonError};
use tokio_util::sync::DropGuard;

/// What a peer said last: its index, or why there is none.
pub(super) type Said = Result<Arc<SyncIndex>, Problem>;

/// A peer that is watched until this is dropped.
pub(super) struct Watched {
    pub(super) node: NodeId,
    said: Arc<Mutex<Option<Said>>>,
    _until: DropGuard,
}

impl Watched {
    /// A peer whose words are written there, by somebody who writes until `until` is dropped.
    pub(super) fn new(node: NodeId, said: Arc<Mutex<Option<Said>>>, until: DropGuard) -> Arc<Self> {
        Arc::new(Self { node, said, _until: until })
    }

    /// What it said last; none before its first answer.
    pub(super) fn said(&self) -> Option<Said> {
        self.said.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}
