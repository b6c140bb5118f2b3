//! What a node holds of the revisions of sessions: `fetch list commit delete`, and which snapshots hold
//! what revisions say (`contents`).
//!
//! The one idea: a session's revisions are one value, read and written whole. Whoever writes says which
//! generation was read, and of two who have read the same one wins. What hangs on it, such as the
//! snapshots, the row of the session and the parts that were staged, changes in the same transaction.

mod commit;
mod contents;
mod delete;
mod fetch;
mod list;
mod sealed;

use crate::snapshots::NewSnapshot;
use baton_session::revision::Replica;
use baton_session::{Lease, Owner, RevisionId, Session, SessionId, Signed, SnapshotId};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use std::fmt;

/// How often what an owner shares has changed. Two changes of one owner never have the same.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Generation(i64);

impl fmt::Display for Generation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// What a node holds of a session's revisions.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Shared {
    /// The revisions.
    pub replica: Replica,
    /// Where the local state comes from; none before it was published or received.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub base: Option<Base>,
    /// Who holds the session among nodes, as far as is known; none before anybody did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lease: Option<Lease>,
}

/// Where the local state of a session comes from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Base {
    /// The revision that it was.
    pub revision: Signed,
    /// The snapshot that holds that revision.
    pub snapshot: SnapshotId,
}

/// A change of what is held of a session's revisions: all of it or nothing.
#[derive(Debug)]
pub struct CommitShared<'a> {
    /// Whose session.
    pub owner: &'a Owner,
    /// Which session.
    pub session: SessionId,
    /// The generation that was read; none when nothing was there.
    pub expected: Option<Generation>,
    /// What is held from now on.
    pub shared: &'a Shared,
    /// What lists show of it, in the caller's own form.
    pub entry: Vec<u8>,
    /// The session to make with it, when it is not here yet.
    pub create: Option<&'a Session>,
    /// What revisions say, from now on kept for as long as they are not released.
    pub snapshots: Vec<(RevisionId, RevisionContent)>,
    /// Revisions that are not needed any more. The newest few stay, as bases of merges.
    pub released: Vec<RevisionId>,
    /// Whether the session's own row goes, with its snapshots. What is held of its revisions stays.
    pub forget: bool,
    /// The instant.
    pub now: Timestamp,
}

/// Where a revision's content is.
#[derive(Debug)]
pub enum RevisionContent {
    /// In a snapshot of the session that is stored.
    Existing(SnapshotId),
    /// In one that is stored with the change.
    New(NewSnapshot),
}
