//! How far this node is with bringing what it runs to others.

use baton_api::{MovedSession, NodeDrain, StayedSession};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// How many sessions are told of, of each kind.
const TOLD: usize = 1000;

/// How far it is, for who asks. Cheap to clone.
#[derive(Clone, Default)]
pub(crate) struct DrainProgress(Arc<Mutex<Option<NodeDrain>>>);

impl DrainProgress {
    /// How far it is; none where nothing was begun.
    pub(crate) fn view(&self) -> Option<NodeDrain> {
        self.locked().clone()
    }

    /// It begins, unless it is under way. Returns whether it was begun.
    pub(crate) fn begin(&self, left: usize) -> bool {
        let mut now = self.locked();
        if now.as_ref().is_some_and(|drain| !drain.is_done) {
            return false;
        }
        *now = Some(NodeDrain { left: left as u64, ..NodeDrain::default() });
        true
    }

    /// How much is still to do.
    pub(crate) fn note_left(&self, sessions: usize, sandboxes: usize) {
        self.change(|drain| {
            drain.left = sessions as u64;
            drain.sandboxes = sandboxes as u64;
        });
    }

    /// A session runs elsewhere.
    pub(crate) fn note_moved(&self, moved: MovedSession) {
        self.change(|drain| {
            drain.left = drain.left.saturating_sub(1);
            if drain.moved.len() == TOLD {
                drain.moved.remove(0);
            }
            drain.moved.push(moved);
        });
    }

    /// A session does not move.
    pub(crate) fn note_stayed(&self, stayed: StayedSession) {
        self.change(|drain| {
            drain.left = drain.left.saturating_sub(1);
            if drain.stayed.len() < TOLD {
                drain.stayed.push(stayed);
            }
        });
    }

    /// Nothing more will move.
    pub(crate) fn end(&self) {
        self.change(|drain| drain.is_done = true);
    }

    fn change(&self, change: impl FnOnce(&mut NodeDrain)) {
        if let Some(drain) = self.locked().as_mut() {
            change(drain);
        }
    }

    fn locked(&self) -> MutexGuard<'_, Option<NodeDrain>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
