//! Why a snapshot was taken.

use crate::words::words;

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
    /// Somebody asked for it.
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
    /// Whether somebody asked for it, and so accepts what it holds however little that is.
    pub fn is_asked_for(self) -> bool {
        use SnapshotReason::{Close, Import, Open, Request, Rollback, Sync};
        matches!(self, Open | Request | Close | Rollback | Import | Sync)
    }
}
