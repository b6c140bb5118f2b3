//! Sessions move between nodes: what is asked for and answered.
//!
//! Names are those that were asked for (`nodeId`, `lastModified`, …). Rooms: [`peer`] says how other nodes
//! are registered, how all that stands, as it changes, and what someone has to decide; [`invitation`] how two become
//! peers by one text; [`exchange`] what two
//! nodes tell each other, also of who holds a session. What moved, over the net or as files, is here. Who a node is, its card says ([`NodeCard`]).

pub mod exchange;
pub mod invitation;
pub mod peer;

pub use crate::node::{NodeCard, NodeIdentity};
pub use exchange::{
    AskSeen, Exchange, FetchParts, HandedView, Handing, HolderView, IndexedSession, InvalidParcels,
    Parcel, PeerLeaseAnswer, PeerLeaseOutcome, SharedView, SyncIndex, TakePeerLease, Taken, Wanted,
};
pub use invitation::{
    CancelInvitation, CreateInvitation, CreatedInvitation, InvitationList, InvitationView,
    JoinPeer, Joined, RedeemInvitation,
};
pub use peer::{
    AskIndex, ClientCredential, ConfirmPeer, ConflictDetails, ConflictList, ConflictView,
    IndexMark, ListPeers, NextIndex, PeerList, PeerStanding, PeerStatus, PeerView, RegisterPeer,
    ResolveConflict, RevisionDifference, RevisionView, SyncStanding, pending_there,
};

use crate::document::FileText;
use baton_session::{NodeId, PartHash, Receipt, RevisionId, SessionId, SessionName, SnapshotId};
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

/// Saves a session as it is now.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", default, deny_unknown_fields)]
pub struct SaveSession {
    /// What it is called from now on; as before when left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<SessionName>,
    /// Free text for people, at most 1000 characters; as before when left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// Whether it goes to every confirmed peer at once.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub sync_to_peers: bool,
}

/// A session that was saved.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct SavedView {
    /// Which session.
    pub id: SessionId,
    /// What it is called.
    pub name: SessionName,
    /// The revision that holds it.
    pub rev: RevisionId,
    /// The number in it.
    pub version: u64,
    /// The checksum of its state.
    pub checksum: PartHash,
    /// The snapshot that holds it.
    pub snapshot: SnapshotId,
    /// Whether nothing had changed since the revision was made.
    pub unchanged: bool,
    /// Revisions that wait for someone to choose.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub conflicts: Vec<RevisionId>,
    /// What went to peers.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub pushed: Vec<Movement>,
    /// Peers to which it did not go, and why.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub failed: Vec<NotPushed>,
    /// What is not in it, and why: what of an uploaded file was not taken, or which newer snapshot was left
    /// aside because parts of it are damaged.
    #[serde(default, skip_serializing_if = "is_empty")]
    pub left_out: Receipt,
}

/// A peer that a session did not reach.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct NotPushed {
    /// What people call it.
    pub peer: String,
    /// Why.
    pub reason: String,
}

fn is_empty(receipt: &Receipt) -> bool {
    receipt.items.is_empty()
}

/// A session that was sealed for a peer.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct SealedFile {
    /// Which session.
    pub id: SessionId,
    /// What it is called.
    pub name: SessionName,
    /// The revision that counts in it.
    pub rev: RevisionId,
    /// For which node.
    pub node_id: NodeId,
    /// What people call that.
    pub peer: String,
    /// Which newer snapshot was left aside, and why.
    #[serde(default, skip_serializing_if = "is_empty")]
    pub left_out: Receipt,
    /// The file. Nobody else can open it.
    #[schema(value_type = Object)]
    pub file: FileText,
}

/// What became of a sync file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct TakenFile {
    /// Which session.
    pub id: SessionId,
    /// What it is called here; none when it was deleted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<SessionName>,
    /// The revision that counts now.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rev: Option<RevisionId>,
    /// Those that wait for someone to choose.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub conflicts: Vec<RevisionId>,
    /// Whether anything in it was new here.
    pub changed: bool,
    /// The node that wrote the file.
    pub node_id: NodeId,
    /// What people call that; none when it is this one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub peer: Option<String>,
}

/// The sync directory of a node, as it was found last.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(default, rename_all = "camelCase")]
pub struct DirectoryView {
    /// Where it is; none when the node keeps none, or not for the caller.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
    /// How many files of sessions are in step with the database.
    pub sessions: usize,
    /// Files that are left aside, at most 256 of them.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub refused: Vec<RefusedFile>,
    /// What kept the node from reading or writing it when it tried last.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub failed: Option<String>,
}

/// A file that was not taken.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct RefusedFile {
    /// Its name among the sessions.
    pub file: String,
    /// Why.
    pub reason: String,
    /// When it was looked at.
    pub since: Timestamp,
}
