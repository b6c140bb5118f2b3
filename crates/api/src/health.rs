//! Whether a node lives, and whether it can work.

use crate::sync::NodeIdentity;
use baton_session::NodeId;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// The node lives.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Health {
    /// Always `ok`.
    pub status: String,
    /// The version of Baton.
    pub version: String,
    /// Which node it is.
    pub node_id: NodeId,
    /// Who it is, for a node that registers it.
    pub identity: NodeIdentity,
}

/// The node can work: its database answers.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Ready {
    /// Always `ready`; a node that is not answers with a problem.
    pub status: String,
}
