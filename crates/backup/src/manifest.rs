//! The manifest: the last file of an archive, which says what a whole one holds.

use baton_session::{NodeId, SessionId};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};

/// The layout of the archive that this version writes and reads.
pub(super) const FORMAT: u32 = 1;

/// What a backup holds.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Manifest {
    /// The layout of the archive.
    pub format: u32,
    /// The version of Baton that made it.
    pub baton: String,
    /// When it was begun.
    pub made_at: Timestamp,
    /// The node that it is of; none when that had never started.
    pub node: Option<NodeId>,
    /// The version of the database's schema.
    pub schema: i64,
    /// Sessions in the database.
    pub sessions: u64,
    /// Snapshots in the database.
    pub snapshots: u64,
    /// Sealed pieces in the database.
    pub parts: u64,
    /// Whether the master key is in it.
    pub has_key: bool,
    /// Sessions whose profiles are in it, whole.
    pub profiles: Vec<SessionId>,
    /// Sessions whose profiles were asked for and are not in it.
    pub left_out: Vec<LeftOut>,
    /// Every file but this one.
    pub files: Vec<FileEntry>,
}

/// A profile that is not in a backup.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LeftOut {
    /// Whose profile.
    pub session: SessionId,
    /// Why.
    pub why: String,
}

/// One file of an archive.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct FileEntry {
    /// Its path in the data folder, with `/`.
    pub path: String,
    /// Its bytes.
    pub size: u64,
    /// SHA-256 of them, in hexadecimal digits.
    pub sha256: String,
}
