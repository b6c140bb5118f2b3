//! Snapshots that somebody needs for a while, and that no prune takes meanwhile.
//!
//! The one idea: what is needed is needed by something that runs, so it is noted in memory and ends with that: no
//! snapshot stays for good because a node was killed. Who prunes a session is the node that has it, and so is who
//! needs its snapshots.

use baton_session::{SessionId, SnapshotId};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// The snapshots that are needed, one entry for each who needs one; bounded as those are.
#[derive(Debug, Clone, Default)]
pub(crate) struct Pins(Arc<Mutex<Vec<(SessionId, SnapshotId)>>>);

impl Pins {
    /// Keeps a snapshot for as long as what this returns lives.
    pub(crate) fn pin(&self, session: SessionId, id: SnapshotId) -> PinnedSnapshot {
        self.lock().push((session, id));
        PinnedSnapshot { pins: self.clone(), session, id }
    }

    /// Those of a session.
    pub(crate) fn of(&self, session: SessionId) -> Vec<SnapshotId> {
        let pins = self.lock();
        pins.iter().filter(|(of, _)| *of == session).map(|(_, snapshot)| *snapshot).collect()
    }

    fn lock(&self) -> MutexGuard<'_, Vec<(SessionId, SnapshotId)>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A snapshot that no prune takes for as long as this lives.
#[derive(Debug)]
#[must_use = "the snapshot may go again when this is dropped"]
pub struct PinnedSnapshot {
    pins: Pins,
    session: SessionId,
    id: SnapshotId,
}

impl PinnedSnapshot {
    /// Which it is.
    pub fn id(&self) -> SnapshotId {
        self.id
    }
}

impl Drop for PinnedSnapshot {
    fn drop(&mut self) {
        let mut pins = self.pins.lock();
        if let Some(at) = pins.iter().position(|pin| *pin == (self.session, self.id)) {
            pins.swap_remove(at);
        }
    }
}
