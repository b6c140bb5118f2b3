//! The lifecycle of a session: five states, and who may move it from one to another.
//!
//! The one idea: one table, [`TRANSITIONS`], is the state machine, and the reference page shows the
//! same table. What stands in no line cannot happen.

use crate::words::words;

words! {
    /// Where a session stands.
    Lifecycle, else UnknownLifecycle ("lifecycle state"):
    /// A browser runs for it, held by a keeper.
    Active "active",
    /// Its browser is gone; a snapshot can bring it back.
    Recoverable "recoverable",
    /// Its last snapshot is older than `max_session_age`; a person can still resume it.
    Stale "stale",
    /// Two resumes in a row failed; its snapshots are kept, and a person can try again.
    Failed "failed",
    /// Ended by its user, or it died before its first snapshot. Its name is free again.
    Closed "closed",
}

impl Lifecycle {
    /// Whether a session may go from this state to `next`.
    pub fn may_become(self, next: Self) -> bool {
        TRANSITIONS.iter().any(|step| (step.from, step.to) == (self, next))
    }

    /// Whether its name is taken for others of the same owner.
    pub fn holds_name(self) -> bool {
        self != Self::Closed
    }
}

/// Who moves a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mover {
    /// Its owner, by a command or a request.
    Owner,
    /// The node, by itself.
    Node,
}

/// One way from a state to another.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Transition {
    /// From where.
    pub from: Lifecycle,
    /// To where.
    pub to: Lifecycle,
    /// Who moves it.
    pub by: Mover,
    /// On which occasion.
    pub when: &'static str,
    /// What is there afterwards.
    pub keeps: &'static str,
}

const fn step(
    from: Lifecycle,
    to: Lifecycle,
    by: Mover,
    when: &'static str,
    keeps: &'static str,
) -> Transition {
    Transition { from, to, by, when, keeps }
}

const ALL_KEPT: &str = "snapshots, receipts, profile";
const NO_PROFILE: &str = "snapshots, receipts; the profile is removed";
const RUNNING: &str = "snapshots, profile; a browser with the state, a receipt";

/// Every way that a session can go. Opening it, by `open` or `attach`, makes it active; deleting it,
/// which its owner can do in every state but active, removes it with all that is kept.
pub const TRANSITIONS: [Transition; 18] = {
    use Lifecycle::{Active, Closed, Failed, Recoverable, Stale};
    use Mover::{Node, Owner};
    [
        step(Active, Recoverable, Node, "its browser is gone, or its node fell silent", ALL_KEPT),
        step(Active, Stale, Node, "its browser is gone, and its last snapshot is old", ALL_KEPT),
        step(Active, Closed, Node, "its browser is gone, and there is no snapshot", "the profile"),
        step(Active, Closed, Owner, "close: a last snapshot is taken", ALL_KEPT),
        step(Active, Closed, Owner, "abandon: its browser ends as it is", NO_PROFILE),
        step(Recoverable, Active, Owner, "resume", RUNNING),
        step(Recoverable, Active, Node, "start-up, with auto_rehydrate", RUNNING),
        step(Recoverable, Failed, Node, "a second resume in a row failed", ALL_KEPT),
        step(Recoverable, Closed, Owner, "close", ALL_KEPT),
        step(Recoverable, Closed, Owner, "abandon", NO_PROFILE),
        step(Stale, Active, Owner, "resume", RUNNING),
        step(Stale, Failed, Node, "a second resume in a row failed", ALL_KEPT),
        step(Stale, Closed, Owner, "close", ALL_KEPT),
        step(Stale, Closed, Owner, "abandon", NO_PROFILE),
        step(Failed, Active, Owner, "resume", RUNNING),
        step(Failed, Closed, Owner, "close", ALL_KEPT),
        step(Failed, Closed, Owner, "abandon", NO_PROFILE),
        step(Closed, Active, Owner, "resume, if its name is still free", RUNNING),
    ]
};
