//! Snapshots: immutable lists of parts.
//!
//! A snapshot's row holds its list of parts sealed (`manifest`), because the names of parts are
//! the names of sites; beside it stand the ids of the parts at rest, so that parts which nobody
//! names can be collected.

mod create;
mod draft;
mod fetch;
mod find;
mod list;
mod manifest;
mod prune;

use baton_session::{Owner, Part, PartRef, SessionId, SnapshotId, Term};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;

/// A snapshot to be stored.
#[derive(Debug, Clone)]
pub struct NewSnapshot {
    /// Its id.
    pub id: SnapshotId,
    /// Whose state it is.
    pub session: SessionId,
    /// The owner of that session.
    pub owner: Owner,
    /// When the browser was asked.
    pub taken_at: Timestamp,
    /// Why it was taken.
    pub reason: SnapshotReason,
    /// The term in which its writer holds the session; none when nobody has to hold it. When
    /// another term runs by now, the snapshot becomes a sibling.
    pub term: Option<Term>,
    /// Whether more than half of what the last good one held is gone, and nobody asked for it.
    pub shrunk: bool,
    /// The parts that may be new, with their bytes.
    pub parts: Vec<Part>,
    /// The parts that did not change: they are in the database already.
    pub carried: Vec<PartRef>,
}

/// A stored snapshot.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Snapshot {
    /// Its id.
    pub id: SnapshotId,
    /// Whose state it is.
    pub session: SessionId,
    /// When the browser was asked, to the millisecond.
    pub taken_at: Timestamp,
    /// Why it was taken.
    pub reason: SnapshotReason,
    /// Whether its writer did not hold the session any more: it stands beside the line of the
    /// others, and is never taken for the latest.
    pub sibling: bool,
    /// Whether more than half of what the last good one held was gone, and nobody asked for it.
    pub shrunk: bool,
    /// Whether it is kept for good.
    pub saved: bool,
    /// Its parts, sorted by kind and name.
    pub parts: Vec<PartRef>,
    /// The bytes of its parts together, before compression.
    pub bytes: u64,
}

/// Why a snapshot was taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SnapshotReason {
    /// The session was opened.
    Open,
    /// A navigation, or a change of tabs, settled.
    Navigation,
    /// Clicks or typing settled, and captures after those are wanted.
    Input,
    /// Something changed, and the interval had passed.
    Interval,
    /// Somebody asked for it.
    Request,
    /// The session is being closed.
    Close,
    /// The node is stopping, or the browser is ended for a rollback.
    Shutdown,
    /// The session went back to an older snapshot: the same once more, as the newest one.
    Rollback,
}

impl SnapshotReason {
    /// Every reason.
    pub const ALL: [Self; 8] = [
        Self::Open,
        Self::Navigation,
        Self::Input,
        Self::Interval,
        Self::Request,
        Self::Close,
        Self::Shutdown,
        Self::Rollback,
    ];

    /// Whether somebody asked for it, and so accepts what it holds however little that is.
    pub fn is_asked_for(self) -> bool {
        matches!(self, Self::Open | Self::Request | Self::Close | Self::Rollback)
    }

    /// The word on the wire and in the database.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Open => "open",
            Self::Navigation => "navigation",
            Self::Input => "input",
            Self::Interval => "interval",
            Self::Request => "request",
            Self::Close => "close",
            Self::Shutdown => "shutdown",
            Self::Rollback => "rollback",
        }
    }
}

impl fmt::Display for SnapshotReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

/// A word that names no reason for a snapshot.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
#[error(
    "expected open, navigation, input, interval, request, close, shutdown or rollback, found {0:?}"
)]
pub struct UnknownReason(String);

impl FromStr for SnapshotReason {
    type Err = UnknownReason;

    fn from_str(word: &str) -> Result<Self, UnknownReason> {
        Self::ALL
            .into_iter()
            .find(|reason| reason.as_str() == word)
            .ok_or_else(|| UnknownReason(word.to_owned()))
    }
}
