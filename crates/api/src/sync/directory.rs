//! How it stands with the sync directory.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

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
