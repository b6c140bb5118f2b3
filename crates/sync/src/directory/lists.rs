//! The two lists of a sync directory, in the spec's formats. Nothing in them is ever believed.

use crate::file::SyncFile;
use baton_session::NodeId;
use baton_session::wire::NodeType;
use jiff::Timestamp;
use serde::{Deserialize, Serialize};

/// `index.json`: which sessions lie in the directory.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct DirectoryIndex {
    /// The node that wrote the list.
    pub node_id: NodeId,
    /// When the last of the sessions changed.
    pub last_updated: Option<Timestamp>,
    /// The sessions, by id.
    pub sessions: Vec<IndexLine>,
}

/// One session of an index.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct IndexLine {
    /// Which one.
    pub id: String,
    /// What it is called.
    pub name: String,
    /// The number of its current revision: a hint.
    pub version: u64,
    /// The checksum of its state.
    pub checksum: String,
    /// When the current revision was written.
    pub last_modified: Option<Timestamp>,
    /// The node at which it was opened first.
    pub origin_node_id: String,
    /// Bytes of its file.
    pub size: u64,
}

/// `nodes.json`: who keeps the directory, and whom that node knows.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct NodeRegistry {
    /// The node that keeps the directory.
    #[serde(rename = "self")]
    pub own: RegistrySelf,
    /// Its peers.
    pub peers: Vec<RegisteredPeer>,
    /// How it syncs.
    pub sync_config: SyncConfig,
}

/// The node that keeps a directory.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct RegistrySelf {
    /// Which node.
    pub node_id: NodeId,
    /// How it is deployed.
    pub node_type: NodeType,
    /// Where the world asks it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub public_url: Option<String>,
    /// Where its own network asks it; empty when nobody else can.
    pub internal_url: String,
}

/// A peer of that node.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct RegisteredPeer {
    /// Which node.
    pub node_id: NodeId,
    /// How it is deployed.
    pub node_type: NodeType,
    /// Where it is asked; empty when only it can ask.
    pub url: String,
    /// What people call it.
    pub name: String,
    /// When it was heard last, as far as was known when the list was written.
    pub last_seen: Option<Timestamp>,
    /// When sessions moved last.
    pub last_sync: Option<Timestamp>,
    /// `unknown`: a file cannot tell.
    pub status: String,
    /// How it is asked: `msal`, `apikey` or `tunnel`.
    pub auth_method: String,
}

/// How a node syncs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SyncConfig {
    /// Whether what is saved goes to every peer at once.
    pub auto_sync: bool,
    /// Milliseconds between two comparisons; 0 means never.
    pub sync_interval: u64,
    /// `latest-wins`, `manual` or `merge`.
    pub conflict_resolution: String,
}

impl DirectoryIndex {
    /// The index of these sessions.
    pub fn of(keeper: NodeId, mut sessions: Vec<IndexLine>) -> Self {
        sessions.sort_by(|one, other| one.id.cmp(&other.id));
        let last_updated = sessions.iter().filter_map(|session| session.last_modified).max();
        Self { node_id: keeper, last_updated, sessions }
    }
}

impl IndexLine {
    /// The line of a file that has this many bytes.
    pub fn of(file: &SyncFile, bytes: u64) -> Self {
        Self {
            id: file.session.to_string(),
            name: file.head.name.clone(),
            version: file.head.sync.version,
            checksum: file.head.sync.checksum.clone(),
            last_modified: file.head.sync.last_modified,
            origin_node_id: file.head.origin.node_id.clone(),
            size: bytes,
        }
    }
}

impl NodeRegistry {
    /// Whether another node keeps the directory than the one of `other`.
    pub(super) fn is_of_another(&self, other: &Self) -> bool {
        self.own.node_id != other.own.node_id
    }

    /// Whether both say the same of what does not change by itself.
    pub(super) fn says_the_same(&self, other: &Self) -> bool {
        self.lasting() == other.lasting()
    }

    fn lasting(&self) -> Self {
        let mut lasting = self.clone();
        for peer in &mut lasting.peers {
            (peer.last_seen, peer.last_sync) = (None, None);
        }
        lasting
    }
}
