//! What moved between two nodes, and what would have to.

use baton_session::{NodeId, RevisionId, SessionId, SessionName};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// What one pull or push of a session did.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Movement {
    /// Which session.
    pub session_id: SessionId,
    /// What it is called here.
    pub name: SessionName,
    /// The peer.
    pub node_id: NodeId,
    /// What came of it.
    pub outcome: MovementOutcome,
    /// The current revision at the receiver; none when parts are left to move.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rev: Option<RevisionId>,
    /// Revisions at the receiver that wait for someone to choose.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub conflicts: Vec<RevisionId>,
    /// Parts that moved.
    pub parts: u64,
    /// Bytes that went over the network for it, both ways, bodies only.
    pub bytes: u64,
    /// Parts that are left to move: call again, and it goes on where it stopped.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub left: u64,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
fn is_zero(count: &u64) -> bool {
    *count == 0
}

/// What came of a pull or a push.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum MovementOutcome {
    /// The receiver had it all.
    Unchanged,
    /// The receiver has what the sender has.
    Moved,
    /// The receiver has what the sender has, and something else: someone has to choose.
    Conflict,
    /// The session was deleted, and the receiver knows now.
    Deleted,
    /// Time ran out in the middle; what moved is kept.
    Unfinished,
}

/// How a session stands here and at a peer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum Difference {
    /// Both have the same.
    Same,
    /// This node has something newer; a push moves it.
    Ahead,
    /// The peer has something newer; a pull moves it.
    Behind,
    /// Each has something that the other has not.
    Diverged,
}

/// One session, here and at a peer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[expect(clippy::struct_excessive_bools, reason = "each answers one question")]
pub struct SessionDifference {
    /// Which session.
    pub session_id: SessionId,
    /// What it is called.
    pub name: SessionName,
    /// How it stands.
    pub difference: Difference,
    /// When its newest revision was written.
    pub last_modified: Timestamp,
    /// Bytes of the newest revision's parts together.
    pub size: u64,
    /// Whether it was deleted.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub deleted: bool,
    /// Whether this node has it.
    pub here: bool,
    /// Whether the peer has it.
    pub there: bool,
    /// Whether what it has is a part of the session.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub in_part: bool,
    /// Whether it ran here, and the peer told now that it took it over: what it has here is saved, and its
    /// browser here ends.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub taken: bool,
}

/// How all sessions stand here and at a peer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct DifferenceList {
    /// The peer.
    pub node_id: NodeId,
    /// What people call it.
    pub name: String,
    /// The sessions, those that differ first.
    pub items: Vec<SessionDifference>,
}
