//! A session as a row: identity, owner, and where in its lifecycle it is. What its browser held is
//! [`State`](crate::State).

use crate::id::{NodeId, Owner, SessionId};
use crate::text_form::words;
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;

/// The long-lived thing: it outlives its browser, its keeper and its node.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Session {
    /// For life.
    pub id: SessionId,
    /// Unique among the owner's sessions that are not closed.
    pub name: SessionName,
    /// Free text for people; empty when none was given.
    pub description: String,
    /// Whose it is.
    pub owner: Owner,
    /// The node whose data folder holds its profile.
    pub node: NodeId,
    /// Whether its browser shows a window.
    pub headed: bool,
    /// Whether what its tabs do, network and console, is recorded while its browser runs.
    pub debug: bool,
    /// Where it stands.
    pub lifecycle: Lifecycle,
    /// When it was opened first.
    pub created_at: Timestamp,
    /// When its row last changed.
    pub updated_at: Timestamp,
}

/// A session's name: 1 to 64 letters, digits, `-`, `_` or `.`, and not the look of an id.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[cfg_attr(feature = "schema", schema(value_type = String))]
pub struct SessionName(String);

impl SessionName {
    /// The name as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// A text that cannot name a session.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
#[error("expected a name of 1 to 64 letters, digits, '-', '_' or '.', not a UUID, found {0:?}")]
pub struct InvalidName(String);

impl TryFrom<String> for SessionName {
    type Error = InvalidName;

    fn try_from(text: String) -> Result<Self, InvalidName> {
        let letter = |c: char| c.is_alphanumeric() || matches!(c, '-' | '_' | '.');
        let fits = (1..=64).contains(&text.chars().count())
            && text.chars().all(letter)
            && text.parse::<SessionId>().is_err();
        if fits { Ok(Self(text)) } else { Err(InvalidName(text)) }
    }
}

impl FromStr for SessionName {
    type Err = InvalidName;

    fn from_str(text: &str) -> Result<Self, InvalidName> {
        Self::try_from(text.to_owned())
    }
}

impl From<SessionName> for String {
    fn from(name: SessionName) -> Self {
        name.0
    }
}

impl fmt::Display for SessionName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.0)
    }
}

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
///
/// This one table is the state machine, and the reference page shows the same table. What is in no line
/// cannot happen.
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

words! {
    /// Why a snapshot was taken.
    SnapshotReason, else UnknownReason ("reason for a snapshot"):
    /// The session was opened.
    Open "open",
    /// A navigation, or a change of tabs, settled.
    Navigation "navigation",
    /// Clicks or typing settled, and captures after those are wanted.
    Input "input",
    /// Something changed, and the interval had passed.
    Interval "interval",
    /// A client asked for it.
    Request "request",
    /// The session is being closed.
    Close "close",
    /// The node is stopping, or the browser is ended for a rollback.
    Shutdown "shutdown",
    /// The session went back to an older snapshot: the same once more, as the newest one.
    Rollback "rollback",
    /// The session was made of a file that was exported elsewhere.
    Import "import",
    /// It came from another node.
    Sync "sync",
    /// A sandbox that held it ended.
    Sandbox "sandbox",
}

impl SnapshotReason {
    /// Whether a client asked for it, and so accepts what it holds however little that is.
    pub fn is_asked_for(self) -> bool {
        use SnapshotReason::{Close, Import, Open, Request, Rollback, Sync};
        matches!(self, Open | Request | Close | Rollback | Import | Sync)
    }
}

words! {
    /// In which form a session leaves.
    ExportFormat, else UnknownFormat ("format"):
    /// Playwright's file: cookies, localStorage and IndexedDB of first parties.
    StorageState "storage-state",
    /// Baton's own: everything that a state holds.
    Session "session",
}
