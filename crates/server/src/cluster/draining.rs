//! How far this node is with bringing what it runs to others.

use baton_api::{MovedSession, NodeDrain, StayedSession};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// How many sessions are told of, of each kind.
const TOLD: usize = 1000;

/// How far it is, for who asks. Cheap to clone.
#[derive(Clone, Default)]
pub(crate) struct DrainProgress(Arc<Mutex<DrainState>>);

#[derive(Default)]
struct DrainState {
    told: Option<NodeDrain>,
    turn: Turn,
}

/// What was wanted since it began.
#[derive(Default, Clone, Copy, PartialEq, Eq)]
enum Turn {
    /// Nothing else.
    #[default]
    On,
    /// That it ends.
    Undone,
    /// That it ends, and then that it begins: whoever is at it does it once more.
    Again,
}

impl DrainProgress {
    /// How far it is; none where nothing was begun.
    pub(crate) fn view(&self) -> Option<NodeDrain> {
        self.locked().told.clone()
    }

    /// It begins, unless it is under way: who is at it then does it once more, if it was undone meanwhile. Returns
    /// whether it was begun.
    pub(crate) fn begin(&self, left: usize) -> bool {
        let mut now = self.locked();
        if now.told.as_ref().is_some_and(|drain| !drain.is_done) {
            if now.turn == Turn::Undone {
                now.turn = Turn::Again;
            }
            return false;
        }
        let told = Some(NodeDrain { left: left as u64, ..NodeDrain::default() });
        *now = DrainState { told, turn: Turn::On };
        true
    }

    /// It is to end.
    pub(crate) fn undo(&self) {
        self.locked().turn = Turn::Undone;
    }

    /// Whether it is still wanted.
    pub(crate) fn goes_on(&self) -> bool {
        self.locked().turn != Turn::Undone
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

    /// Nothing more will move, unless it was begun anew meanwhile. Returns whether it is at its end.
    pub(crate) fn end(&self) -> bool {
        let mut now = self.locked();
        if std::mem::take(&mut now.turn) == Turn::Again {
            now.told = Some(NodeDrain::default());
            return false;
        }
        if let Some(drain) = now.told.as_mut() {
            drain.is_done = true;
        }
        true
    }

    fn change(&self, change: impl FnOnce(&mut NodeDrain)) {
        if let Some(drain) = self.locked().told.as_mut() {
            change(drain);
        }
    }

    fn locked(&self) -> MutexGuard<'_, DrainState> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::DrainProgress;

    #[test]
    fn a_drain_that_begins_as_another_one_ends_is_done() {
        let drain = DrainProgress::default();
        assert!(drain.begin(2));
        assert!(!drain.begin(2), "it is under way");
        assert!(drain.end(), "that it was wanted twice is no reason to do it twice");
        assert!(drain.view().unwrap().is_done);

        assert!(drain.begin(1) && drain.goes_on());
        drain.undo();
        assert!(!drain.goes_on());
        // Whoever is at it has not noticed.
        assert!(!drain.begin(3) && drain.goes_on());
        assert!(!drain.end(), "it is done once more");
        assert!(!drain.view().unwrap().is_done);
        assert!(drain.end());

        assert!(drain.begin(1));
        drain.undo();
        assert!(!drain.begin(1));
        drain.undo();
        assert!(drain.end(), "the last word counts");
    }
}
