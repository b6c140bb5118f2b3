//! The view of a session's state: what its latest snapshot holds, redacted unless asked otherwise.

use baton_session::SnapshotId;
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// What a snapshot holds.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct StateView {
    /// Which snapshot it is of.
    pub snapshot: SnapshotId,
    /// When the browser was read.
    pub taken_at: Timestamp,
    /// Whether secret values were replaced by markers.
    pub redacted: bool,
    /// Cookies, origins, tabs and environment.
    #[schema(value_type = Object)]
    pub state: serde_json::Value,
    /// Parts that could not be read, and why; the rest of the state is whole.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unreadable: Vec<String>,
}
