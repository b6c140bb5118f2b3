//! The index: what sessions a node has, and how far each has come.

use baton_session::revision::{Knowledge, Within};
use baton_session::{Lease, NodeId, PartHash, RevisionId, SessionId, SessionName, Vector};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// Every session of the caller's owner that was saved.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct SyncIndex {
    /// Whose index it is.
    pub node_id: NodeId,
    /// When the last of them changed; none when there are none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_updated: Option<Timestamp>,
    /// The sessions, by id. Those that were deleted are among them until every peer knows.
    pub sessions: Vec<IndexedSession>,
}

/// One session of an index.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct IndexedSession {
    /// Which one: the same at every node.
    pub id: SessionId,
    /// What it is called.
    pub name: SessionName,
    /// The number of the current revision: a hint. `rev` and `vector` tell what is newer.
    pub version: u64,
    /// The checksum of its state.
    pub checksum: PartHash,
    /// When the current revision was written.
    pub last_modified: Timestamp,
    /// The node at which the session was opened first.
    pub origin_node_id: NodeId,
    /// Bytes of the current revision's parts together.
    pub size: u64,
    /// The current revision.
    pub rev: RevisionId,
    /// The other revisions that wait for someone to choose, sorted; none is the rule.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub conflicts: Vec<RevisionId>,
    /// How far each actor (`nodeId#epoch`) had come: all revisions here together.
    #[schema(value_type = Object)]
    pub vector: Vector,
    /// The views of which that is told, with how far each actor had come in them; left out when it is told
    /// of the whole session.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schema(value_type = Vec<Object>)]
    pub within: Vec<Within>,
    /// Who holds the session, as far as the node knows; none before anybody did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lease: Option<Lease>,
    /// Whether the session was deleted.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub deleted: bool,
}

impl IndexedSession {
    /// Whether there are parts of the session of which it tells nothing.
    pub fn is_partial(&self) -> bool {
        !self.within.is_empty() && !self.within.iter().any(|within| within.view.is_whole())
    }

    /// Of which parts of the session it tells, and how far each actor had come there.
    pub fn knowledge(&self) -> Knowledge {
        match self.within.as_slice() {
            [] => Knowledge::whole(self.vector.clone()),
            within => Knowledge::new(within.iter().cloned()),
        }
    }
}
