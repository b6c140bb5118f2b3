//! Who holds a session that several nodes have: what they ask each other, and what is shown.

use baton_session::{Lease, NodeId, RevisionId, Vector};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// Asks a peer for a session. It travels sealed, so no schema shows it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TakeLease {
    /// The lease that the asking node is about to have.
    pub lease: Lease,
}

/// What a peer says to that.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LeaseAnswer {
    /// What became of it.
    pub outcome: LeaseOutcome,
    /// The lease that counts there now.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lease: Option<Lease>,
    /// How far the session has come there.
    #[serde(default)]
    pub vector: Vector,
}

/// What became of a lease that was asked for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LeaseOutcome {
    /// The session does not run there.
    Free,
    /// It ran there, was captured, saved and closed.
    HandedOver,
    /// A lease is known there that counts more: nothing was done.
    Outdated,
    /// It is in use there in a way that cannot be ended now; says how.
    Kept(String),
}

/// How a session stands among nodes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct SharedView {
    /// The revision that counts.
    pub rev: RevisionId,
    /// The revision that what is here comes from, when that is another one: a newer one came while
    /// the browser ran, and a resume brings it back.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub based_on: Option<RevisionId>,
    /// Whether the revision that counts deletes the session: a resume removes it, and a save keeps what
    /// is here.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub deleted: bool,
    /// Revisions that wait for someone to choose.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub conflicts: Vec<RevisionId>,
    /// Who holds the session, as far as this node knows; none when nobody does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub held_by: Option<HolderView>,
}

/// The holder of a session.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct HolderView {
    /// Which node.
    pub node_id: NodeId,
    /// What it is called here; none for one that is no peer, and for this one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Whether it is the node that was asked.
    pub here: bool,
    /// Since when.
    pub since: Timestamp,
}

/// How a session came from the node that held it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct HandedView {
    /// The node that held it.
    pub node_id: NodeId,
    /// What it is called here.
    pub name: String,
    /// How.
    pub how: Handing,
}

/// How a session came from the node that held it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum Handing {
    /// That node captured it once more, saved and closed it.
    HandedOver,
    /// That node does not answer: what it saved last is what there is.
    TakenOver,
}
