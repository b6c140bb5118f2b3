//! Snapshots: immutable lists of parts.
//!
//! A snapshot's row holds its list of parts sealed (`manifest`), because the names of parts are
//! the names of sites, or how it differs from a list that stands by itself (`lists`); beside it stand
//! the ids of the parts at rest (`spans`), so that parts which nobody names can be collected.

mod create;
mod draft;
mod fetch;
mod find;
mod list;
mod lists;
mod manifest;
mod prune;
mod spans;

pub(crate) use create::{insert, prune_with};
pub(crate) use draft::Draft;
pub(crate) use prune::Pruned;

use baton_session::{Owner, Part, PartRef, SessionId, SnapshotId, SnapshotReason, Term};
use jiff::Timestamp;

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
    /// Whether it stands beside the line of the others from its start.
    pub sibling: bool,
    /// Whether it is kept for good.
    pub saved: bool,
    /// The parts that may be new, with their bytes.
    pub parts: Vec<Part>,
    /// The parts that did not change: they are in the database already.
    pub carried: Vec<PartRef>,
    /// To how many the snapshots of the session are pruned with it, see
    /// [`Store::prune_snapshots`](crate::Store::prune_snapshots); none prunes nothing, and a sibling
    /// does not either. One transaction writes less than two.
    pub keep: Option<u32>,
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
    /// The term in which its writer held the session; none when nobody had to hold it.
    pub term: Option<Term>,
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
