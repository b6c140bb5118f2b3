//! The files of a session: what its browser uploads, and what it downloaded.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// A file of a session.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct SessionFile {
    /// Its name; never a path.
    pub name: String,
    /// Its size.
    pub bytes: u64,
    /// When it last changed.
    pub changed_at: Timestamp,
    /// Where it is at the node, as the browser knows it: what a tool names to upload it.
    pub path: String,
}

/// The files of a session.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct SessionFiles {
    /// By their names; at most 1000.
    pub items: Vec<SessionFile>,
}

/// A folder of the machine that a browser sees beside the files of its session.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct SharedFolder {
    /// Where it is; its whole path.
    pub path: String,
    /// Whether the browser may write there.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub writable: bool,
}
