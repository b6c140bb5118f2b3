//! A node as others see it: its card says who it is, where it is asked, and for whom what is meant for it is
//! sealed; its health says whether it lives, and whether it can work.

use baton_session::wire::NodeType;
use baton_session::{NodeId, NodeKey, NodeLabel, NodeSignature, SessionId, SessionName};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use url::Url;
use utoipa::ToSchema;

/// Who a node is, and nothing else of it: what it says to strangers. Whoever receives it checks that
/// the id is the hash of the key, and that the key signed the seal key.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct NodeIdentity {
    /// Which node: the hash of its key.
    pub node_id: NodeId,
    /// How it is deployed.
    pub node_type: NodeType,
    /// Its public key (Ed25519).
    pub key: NodeKey,
    /// For whom what it alone may read is sealed: `age1…`.
    pub seal_key: String,
    /// Its signature of the seal key.
    pub seal_signature: NodeSignature,
}

/// What a node says of itself. Whoever receives one checks that the id is the hash of the key, and
/// that the key signed the seal key; the rest is as good as the signature of the message around it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct NodeCard {
    /// Which node: the hash of its key.
    pub node_id: NodeId,
    /// How it is deployed.
    pub node_type: NodeType,
    /// What it calls itself: 1 to 64 characters.
    pub name: String,
    /// Where the world asks it; none when the world does not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub public_url: Option<Url>,
    /// Where its own network asks it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub internal_url: Option<Url>,
    /// Its public key (Ed25519), with which what it wrote is verified.
    pub key: NodeKey,
    /// For whom what it alone may read is sealed: a recipient of age (X25519), `age1…`.
    pub seal_key: String,
    /// Its signature of the seal key.
    pub seal_signature: NodeSignature,
}

/// What stands before a seal key when it is signed, so that no other signature of a node is one of
/// a seal key.
const SEAL_CONTEXT: &[u8] = b"baton seal key v1\0";

impl NodeCard {
    /// Who the node is, without what it says of itself.
    pub fn identity(&self) -> NodeIdentity {
        NodeIdentity {
            node_id: self.node_id,
            node_type: self.node_type,
            key: self.key,
            seal_key: self.seal_key.clone(),
            seal_signature: self.seal_signature,
        }
    }

    /// The bytes that a node signs to say that `seal_key` is its own.
    pub fn seal_message(seal_key: &str) -> Vec<u8> {
        [SEAL_CONTEXT, seal_key.as_bytes()].concat()
    }
}

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

/// The nodes that are one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct NodeList {
    /// What the cluster is called; none where the node is of no cluster.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cluster: Option<String>,
    /// The nodes that entered and did not leave, by name.
    pub items: Vec<NodeView>,
}

/// A node of a cluster. Instants are by the clock of the database.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct NodeView {
    /// Which node: the hash of its key.
    pub node_id: NodeId,
    /// What people call it.
    pub name: String,
    /// Where the other nodes ask it.
    pub internal_url: String,
    /// Its public key (Ed25519), with which what it passes on is verified.
    pub key: NodeKey,
    /// Which version of Baton it runs.
    pub version: String,
    /// What it is for: sessions that ask for a label go to nodes that have it.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub labels: BTreeSet<NodeLabel>,
    /// When it started.
    pub started_at: Timestamp,
    /// When it was last there.
    pub seen_at: Timestamp,
    /// Whether it was there within its lease: what it holds is asked of it, and of no other.
    pub is_there: bool,
    /// Whether it is the node that answers.
    pub is_this: bool,
    /// How far its own clock is ahead of that of the database, in milliseconds; negative when it is behind.
    pub clock_ahead_ms: i64,
    /// How many browsers it runs.
    pub browsers: u64,
    /// How many more it takes, by what its settings and its memory allow; none where nobody counts them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub places: Option<u64>,
    /// How many sandboxes it has.
    #[serde(default)]
    pub sandboxes: u64,
    /// How many more it makes, by what its settings and its memory allow; none where nobody counts them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sandbox_places: Option<u64>,
    /// Whether its sessions go to other nodes, and it takes no new ones.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_draining: bool,
    /// How far that is; of the node that answers alone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub drain: Option<NodeDrain>,
    /// How its bus is; of the node that answers alone, and none where that has no bus.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bus: Option<NodeBus>,
}

/// Brings what a node runs to other nodes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(default, deny_unknown_fields)]
pub struct DrainNode {
    /// Whether it is begun although the other nodes have no room for all of it: what finds none stays.
    pub partly: bool,
}

/// A session that another node gives.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(default)]
pub struct TakeSession {
    /// All its files, which came ahead of it: where one is missing, nothing is taken. Without this, whatever came is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub files: Option<Vec<FileAhead>>,
}

/// A file that came ahead of a session.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct FileAhead {
    /// Its name.
    pub name: String,
    /// How many bytes it has.
    pub bytes: u64,
}

/// How far a node is with bringing what it runs to other nodes.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct NodeDrain {
    /// Whether it is at its end: nothing more will move.
    pub is_done: bool,
    /// How many sessions are still to move.
    pub left: u64,
    /// Those that run elsewhere by now, at most the last 1,000.
    pub moved: Vec<MovedSession>,
    /// Those that did not move, and why; at most the first 1,000. They run here as before, unless it is said.
    pub stayed: Vec<StayedSession>,
    /// How many sandboxes are here, which end where they are.
    pub sandboxes: u64,
}

/// A session that was brought to another node.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct MovedSession {
    /// Which session.
    pub id: SessionId,
    /// Its name.
    pub name: SessionName,
    /// The name of the node that has it now.
    pub to: String,
    /// For how long it could not be driven, in milliseconds.
    pub pause_ms: u64,
}

/// A session that was not brought to another node.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct StayedSession {
    /// Which session.
    pub id: SessionId,
    /// Its name.
    pub name: SessionName,
    /// Why.
    pub why: String,
}

/// The bus by which the nodes of a cluster tell each other at once that something changed. Counts are since the
/// start of the node.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct NodeBus {
    /// Whether what the node says there comes back to it.
    pub is_connected: bool,
    /// Why it is not connected, once that is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub found: Option<String>,
    /// How many messages it sent.
    pub sent: u64,
    /// How many of other nodes it heard and believed.
    pub heard: u64,
    /// How many it did not believe, by why not.
    pub dropped: BTreeMap<String, u64>,
    /// How often messages of another node were missing.
    pub gaps: u64,
}
