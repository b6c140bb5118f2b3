//! How sync stands: what is in conflict here, and how far each peer has come. Told as it changes.
//!
//! A conflict is between revisions of one session of which none had seen the other.

use super::exchange::SyncIndex;
use super::movement::SessionDifference;
use super::peer::PeerView;
use crate::problem::Problem;
use baton_session::diff::SiteDiff;
use baton_session::{NodeId, PartHash, RevisionId, SessionId, SessionName};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// How sync stands for an owner: an event `sync` of `GET /sync/events`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct SyncStanding {
    /// The sessions in which someone has to choose, by name.
    pub conflicts: Vec<ConflictView>,
    /// The peers, by name.
    pub peers: Vec<PeerStanding>,
}

/// How it stands with one peer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct PeerStanding {
    /// The peer.
    pub peer: PeerView,
    /// The sessions that differ, by name; none when nobody knows: it was not asked, or did not answer yet.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub items: Option<Vec<SessionDifference>>,
    /// Why it does not answer; what it said last is left out then.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub problem: Option<Problem>,
}

/// Which index a node has seen: the SHA-256 of its JSON in hexadecimal digits, made by the node whose it is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct IndexMark(pub String);

/// Asks a node for its index as soon as that is another one than the asker has seen. Travels sealed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AskIndex {
    /// The one that the asker has seen; none when it has seen none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub known: Option<IndexMark>,
}

/// The index that came, or that there was no other one as long as the node waited. Travels sealed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NextIndex {
    /// Which one the node has now.
    pub mark: IndexMark,
    /// The index; none when it is the one that the asker has seen.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub index: Option<SyncIndex>,
}

/// The owner's sessions in which someone has to choose.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct ConflictList {
    /// By name.
    pub items: Vec<ConflictView>,
}

/// A session in which someone has to choose.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ConflictView {
    /// Which session.
    pub session_id: SessionId,
    /// What it is called here.
    pub name: SessionName,
    /// What counts now.
    pub current: RevisionView,
    /// What is kept beside it, the latest first.
    pub siblings: Vec<RevisionView>,
}

/// A revision, without what it holds.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct RevisionView {
    /// Which one.
    pub rev: RevisionId,
    /// The node that wrote it.
    pub node_id: NodeId,
    /// When, by that node's clock.
    pub last_modified: Timestamp,
    /// The checksum of its state.
    pub checksum: PartHash,
    /// Bytes of its parts together.
    pub size: u64,
    /// Whether it deletes the session.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub deleted: bool,
}

/// A session in which someone has to choose, and how what there is to choose from differs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct ConflictDetails {
    /// Its revisions.
    #[serde(flatten)]
    pub conflict: ConflictView,
    /// For each of the siblings, in their order, how it differs from what counts now.
    pub differences: Vec<RevisionDifference>,
}

/// How a sibling differs from the revision that counts, without a value of either.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct RevisionDifference {
    /// Which sibling.
    pub rev: RevisionId,
    /// By site and kind: what is `added` has only the sibling, what is `removed` only the revision
    /// that counts. Empty when one of the two deletes the session.
    pub sites: Vec<SiteDiff>,
    /// Why the two could not be compared.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unreadable: Option<String>,
}

/// Ends the conflicts of a session.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct ResolveConflict {
    /// The revision that counts from now on: its name, or a unique beginning of it.
    pub keep: String,
}
