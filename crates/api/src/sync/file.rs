//! Sync files: one session with its revisions, sealed for a node, as people carry it.

use super::save::is_empty;
use crate::document::FileText;
use baton_session::{NodeId, Receipt, RevisionId, SessionId, SessionName};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

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
