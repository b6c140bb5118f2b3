//! Tells which sessions changed, once that is on disk, to whoever listens in this process.
//!
//! Nobody waits for those who listen: one who is late by more than a bound is told how many it missed.

use crate::Store;
use baton_session::SessionId;
use tokio::sync::broadcast;

/// How many changes wait for one who listens.
const WAITING: usize = 256;

/// Where changes are told.
pub(crate) type Changes = broadcast::Sender<SessionId>;

/// Where nobody listens yet.
pub(crate) fn changes() -> Changes {
    broadcast::Sender::new(WAITING)
}

impl Store {
    /// Listens: from now on, every session that is made or deleted, gets a snapshot or another name, or
    /// moves to another state or node, by this process. What other nodes do to a database that is shared is not told.
    pub fn listen(&self) -> broadcast::Receiver<SessionId> {
        self.inner.changes.subscribe()
    }
}
