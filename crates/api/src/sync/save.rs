//! Saves a session: its state becomes a revision, which moves to peers.

use super::movement::Movement;
use baton_session::{PartHash, Receipt, RevisionId, SessionId, SessionName, SnapshotId};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

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

pub(super) fn is_empty(receipt: &Receipt) -> bool {
    receipt.items.is_empty()
}
