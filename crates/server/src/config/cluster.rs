//! `[cluster]`: which nodes are one, and what each does for the others.

use super::ConfigError;
use super::browsers::BrowserChoices;
use super::choices::Choices;
use baton_runtime::live::RoomLimits;
use baton_session::NodeLabel;
use baton_store::DatabaseUrl;
use std::collections::BTreeSet;

/// Which nodes are one with a node, and what it does for them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ClusterSettings {
    /// What they are called together.
    pub name: String,
    /// What this node is for: sessions that ask for a label go to nodes that have it.
    pub labels: BTreeSet<NodeLabel>,
    /// Whether what a node held that fell silent is resumed on nodes with room.
    pub failover: bool,
    /// Whether this node brings its sessions to others before it ends.
    pub drain: bool,
}

/// How much memory a node of a cluster keeps free by default: 512 MiB.
const CLUSTER_RESERVE: u64 = 512 << 20;

/// Which nodes are one with this one, if `choices` name them.
pub(super) fn read(choices: &Choices) -> Option<ClusterSettings> {
    let name = choices.cluster.clone()?;
    Some(ClusterSettings {
        name,
        labels: choices.labels.clone().unwrap_or_default(),
        failover: choices.failover.unwrap_or(false),
        drain: choices.drain.unwrap_or(false),
    })
}

/// How many browsers there may be. Where there are other nodes, one that has little memory left is better not asked.
pub(super) fn room(browser: &BrowserChoices, is_clustered: bool) -> RoomLimits {
    let usual = is_clustered.then_some(CLUSTER_RESERVE);
    let reserve = browser.memory_reserve.or(usual).filter(|bytes| *bytes > 0);
    RoomLimits { most: browser.most, reserve }
}

/// Checks that there is what nodes need to be one: a database that they share, and an address of each.
pub(super) fn expect_whole(choices: &Choices) -> Result<(), ConfigError> {
    if choices.cluster.is_none() {
        return Ok(());
    }
    if !matches!(choices.database, Some(DatabaseUrl::Postgres(_))) {
        return Err(ConfigError::HalfCluster {
            expected: "storage.database_url to name a PostgreSQL that all its nodes share",
            fix: "storage.database_url = \"postgres://user@host/database\", or BATON_DATABASE_URL",
        });
    }
    if choices.internal_url.is_none() {
        return Err(ConfigError::HalfCluster {
            expected: "node.internalUrl to say where the other nodes ask this one",
            fix: "node.internalUrl = \"http://10.0.0.7:7420\", or BATON_INTERNAL_URL",
        });
    }
    Ok(())
}
