//! The session file: one session as one JSON document that travels by itself.
//!
//! The one idea: the file says everything a state holds, in `state.cookies`, `state.origins`,
//! `state.environment` and `tabs`; beside that stand plain fields for whoever knows only those
//! (`url`, `title`, `viewport`, `localStorage`, `sessionStorage`), derived from the tab in front. A
//! reader takes the plain fields only from a file without `origins`; then they belong to the origin
//! of `state.url`. What a storage key or a tab holds travels in its own form, so that a field added
//! to it travels by itself. The checksum covers what is not derived.

mod checksum;
mod cookie;
mod error;
mod normal;
mod plain;
mod read;
mod unknown;
mod write;

pub use checksum::{checksum_by_key, checksum_of};
pub use error::ReadError;
pub(crate) use error::field;
pub use read::{is_session_file, read};
pub use write::write;

use crate::revision::{RevisionId, Vector};
use crate::state::State;
use jiff::Timestamp;
use serde::{Deserialize, Serialize};

/// A session as it travels.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct SessionFile {
    /// What it is, and where it came from.
    pub head: Head,
    /// What its browser held.
    pub state: State,
}

/// What a session file says of the session itself.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct Head {
    /// The session's id where it came from.
    pub id: String,
    /// Its name there; empty when the file has none.
    pub name: String,
    /// Free text for people.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub description: String,
    /// Where it came from.
    pub origin: Provenance,
    /// Which version of it this is.
    pub sync: Version,
}

/// Where a session file came from.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct Provenance {
    /// The node that wrote it.
    pub node_id: String,
    /// How that node is deployed.
    pub node_type: NodeType,
    /// Where that node is asked; empty when only its own machine can ask it.
    pub node_url: String,
    /// When the session was opened first.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub created_at: Option<Timestamp>,
    /// Whose it was.
    pub created_by: String,
}

/// How a node is deployed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub enum NodeType {
    /// By a provider, for many.
    Cloud,
    /// By its user.
    #[default]
    Hosted,
}

/// Which version of a session a file holds.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct Version {
    /// Counts up; a hint only.
    pub version: u64,
    /// When the browser was read.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last_modified: Option<Timestamp>,
    /// Nodes that are known to have this version.
    pub last_synced_to: Vec<String>,
    /// SHA-256 over the canonical JSON (RFC 8785) of what is not derived, as 64 hexadecimal digits.
    /// [`write()`] puts it in.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub checksum: String,
    /// The revision that the file holds; none for a file that was never saved.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rev: Option<RevisionId>,
    /// How far each actor had come when the revision was written.
    #[serde(skip_serializing_if = "Vector::is_empty")]
    pub vector: Vector,
    /// The revisions that it was made of.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub parents: Vec<RevisionId>,
    /// Whether the session was deleted; such a file holds no state.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub deleted: bool,
    /// Revisions that wait for someone to choose.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub conflicts: Vec<RevisionId>,
}
