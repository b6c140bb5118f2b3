//! How sessions move: what is set, and what holds when nothing is.

use std::num::NonZeroU64;
use std::path::PathBuf;
use std::str::FromStr;
use std::time::Duration;
use url::Url;

/// How sessions move.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SyncSettings {
    /// Whether what is saved goes to every confirmed peer at once.
    pub auto_sync: bool,
    /// How often all sessions are compared with every confirmed peer; none means never by itself.
    pub interval: Option<Duration>,
    /// What is done with revisions of which none had seen the other.
    pub conflict_resolution: ConflictResolution,
    /// The largest session that is taken, in bytes of its parts together.
    pub session_bytes: u64,
    /// How long a deletion is remembered at least, also when every peer has heard of it.
    pub deletion_age: Duration,
    /// The folder in which the sessions that are shared lie as files; none is the rule.
    pub directory: Option<PathBuf>,
    /// Whether what they hold stands in those files in the clear too, for programs that are no nodes.
    pub directory_plain: bool,
    /// How many bytes a second go to peers, or come from them; none means as fast as it goes.
    pub bytes_per_second: Option<NonZeroU64>,
    /// The node that is registered at the start, as one that nobody has confirmed; none is the rule.
    pub cloud_url: Option<Url>,
    /// Whether it is.
    pub auto_register_cloud: bool,
}

impl Default for SyncSettings {
    fn default() -> Self {
        Self {
            auto_sync: false,
            interval: None,
            conflict_resolution: ConflictResolution::LatestWins,
            session_bytes: 1 << 30,
            deletion_age: Duration::from_hours(30 * 24),
            directory: None,
            directory_plain: false,
            bytes_per_second: None,
            cloud_url: None,
            auto_register_cloud: true,
        }
    }
}

/// What is done with revisions of which none had seen the other. Whatever it is, none is lost: those
/// that do not count are kept beside the one that does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ConflictResolution {
    /// The one that was written last counts.
    LatestWins,
    /// The one that this node had counts until someone chooses.
    Manual,
    /// Sites that only one of them changed are put together; of the others, the last one counts.
    Merge,
}

/// A word that names no way to resolve conflicts.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("expected latest-wins, manual or merge, found {0:?}")]
pub struct UnknownResolution(String);

impl FromStr for ConflictResolution {
    type Err = UnknownResolution;

    fn from_str(word: &str) -> Result<Self, UnknownResolution> {
        match word {
            "latest-wins" => Ok(Self::LatestWins),
            "manual" => Ok(Self::Manual),
            "merge" => Ok(Self::Merge),
            other => Err(UnknownResolution(other.to_owned())),
        }
    }
}
