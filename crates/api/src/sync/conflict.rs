//! Conflicts: revisions of one session of which none had seen the other.

use baton_session::diff::SiteDiff;
use baton_session::{NodeId, PartHash, RevisionId, SessionId, SessionName};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

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
