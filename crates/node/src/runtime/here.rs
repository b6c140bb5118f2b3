//! What every operation on a session is given.

use super::activity::Activity;
use super::caller::Caller;
use super::error::RuntimeError;
use super::feed::Feed;
use super::peers::Peers;
use super::tickets::Tickets;
use crate::live::{Hub, LiveError};
use crate::table::Hold;
use baton_federation::Federation;
use baton_session::{NodeId, Owner, Session, SessionId};
use baton_store::Store;
use std::sync::Arc;
use std::time::Duration;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

/// The surroundings of an operation on a session. Cheap to clone.
#[derive(Clone)]
pub struct Runtime {
    /// The database.
    pub store: Store,
    /// The running browsers.
    pub hub: Hub,
    /// Which node this is.
    pub node: NodeId,
    /// The nodes elsewhere.
    pub peers: Arc<dyn Peers>,
    /// What was begun and must be finished before the node ends.
    pub tasks: TaskTracker,
    /// Ends what would go on for as long as its client likes, once the node ends.
    pub ending: CancellationToken,
    /// When somebody last asked for something.
    pub activity: Activity,
    /// The board that agents share, if there is one.
    pub board: Option<Federation>,
    /// Tells those who follow the board that it changed.
    pub(crate) feed: Feed,
    /// What opens a browser for tools that send no headers.
    pub tickets: Tickets,
}

impl Runtime {
    /// Finds an owner's session by id, prefix or name.
    pub async fn find(&self, owner: &Owner, reference: &str) -> Result<Session, RuntimeError> {
        Ok(self.store.find_session(owner, reference).await?)
    }

    /// Holds a session, which need not be here, once nobody else does.
    pub(crate) async fn hold(
        &self,
        id: SessionId,
        doing: &'static str,
        limit: Duration,
    ) -> Result<Hold, RuntimeError> {
        Ok(self.hub.table().hold(id, doing, limit).await.map_err(LiveError::from)?)
    }

    /// Whether the caller's key opens nothing any more: it was revoked since, or belongs to a peer that is
    /// limited by now.
    pub(crate) async fn is_shut_out(&self, caller: &Caller) -> Result<bool, RuntimeError> {
        Ok(!self.store.is_key_good(&caller.owner, &caller.key).await?)
    }
}
