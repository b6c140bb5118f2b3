//! Tells which sessions changed, once that is on disk, to whoever listens in this process.
//!
//! Nobody waits for those who listen: one who is late by more than a bound is told how many it missed.

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
