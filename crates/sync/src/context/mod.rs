//! What whatever moves sessions is given: what every operation on one is, and what this node knows of others.
//!
//! The one idea: what is remembered from one operation to the next lies here, below all that remember it: `peers`
//! and `icons` said something, `given` they were, and `folder` holds files that were read. It ends with the process.

pub(crate) mod folder;
pub(crate) mod given;
pub(crate) mod peers;

use crate::identity::{NodeSettings, OwnIdentity};
use crate::messages::NonceCache;
use crate::oidc::{TokenVerifier, Tokens};
use crate::webhooks::Webhooks;
use baton_net::outbound::Outbound;
use baton_runtime::Runtime;
use folder::FolderState;
use given::{Given, IndexCache, ShownLately};
use peers::{KnownIcons, Statuses, Watches};
use std::num::NonZeroU64;
use std::ops::Deref;
use std::path::PathBuf;
use std::str::FromStr;
use std::sync::Arc;
use std::time::Duration;
use url::Url;

/// The surroundings of whatever moves sessions: those of an operation on one, and its own. Cheap to clone.
#[derive(Clone)]
pub struct Sync {
    /// Those of an operation on a session.
    pub runtime: Runtime,
    /// Its own.
    pub own: Arc<Own>,
}

/// What this node is to others, and what it knows of them.
pub struct Own {
    /// Who this node is, and in which epoch.
    pub identity: OwnIdentity,
    /// What it says of itself to others.
    pub node_settings: NodeSettings,
    /// How sessions move.
    pub settings: SyncSettings,
    /// Which addresses it asks.
    pub outbound: Outbound,
    /// Lets in nodes that show a token; none takes no tokens.
    pub token_verifier: Option<TokenVerifier>,
    /// The tokens with which this node is let in elsewhere.
    pub tokens: Tokens,
    /// Requests of nodes that were taken.
    pub nonces: Arc<NonceCache>,
    /// Whether peers answer.
    pub statuses: Statuses,
    /// Which sessions go to peers right now.
    pub given: Given,
    /// The peers that a client follows.
    pub watches: Watches,
    /// What is shared, by owner.
    pub indexes: Arc<IndexCache>,
    /// What peers were shown who are given a part of sessions.
    pub looks: Arc<ShownLately>,
    /// Which icons peers gave.
    pub icons: Arc<KnownIcons>,
    /// What lies in the sync directory.
    pub folder: FolderState,
    /// Which programs hear of sessions that come from elsewhere.
    pub webhooks: Webhooks,
}

impl Deref for Sync {
    type Target = Runtime;

    fn deref(&self) -> &Runtime {
        &self.runtime
    }
}

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
    /// Whether those files hold it in the clear too, for programs that are no nodes.
    pub directory_plain: bool,
    /// How many bytes a second go to peers, or come from them; none means as fast as it goes.
    pub bytes_per_second: Option<NonZeroU64>,
    /// The node that is registered at the start, as one that no person has confirmed; none is the rule.
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
