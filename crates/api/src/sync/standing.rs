//! How sync stands: what is in conflict here, and how far each peer has come. Told as it changes.

use super::conflict::ConflictView;
use super::index::SyncIndex;
use super::movement::SessionDifference;
use super::peer::PeerView;
use crate::problem::Problem;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// How sync stands for an owner: an event `sync` of `GET /sync/events`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct SyncStanding {
    /// The sessions in which someone has to choose, by name.
    pub conflicts: Vec<ConflictView>,
    /// The peers, by name.
    pub peers: Vec<PeerStanding>,
}

/// How it stands with one peer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct PeerStanding {
    /// The peer.
    pub peer: PeerView,
    /// The sessions that differ, by name; none when nobody knows: it was not asked, or did not answer yet.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub items: Option<Vec<SessionDifference>>,
    /// Why it does not answer; what it said last is left out then.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub problem: Option<Problem>,
}

/// Which index a node has seen: the SHA-256 of its JSON in hexadecimal digits, made by the node whose it is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct IndexMark(pub String);

/// Asks a node for its index as soon as that is another one than the asker has seen. Travels sealed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AskIndex {
    /// The one that the asker has seen; none when it has seen none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub known: Option<IndexMark>,
}

/// The index that came, or that there was no other one as long as the node waited. Travels sealed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NextIndex {
    /// Which one the node has now.
    pub mark: IndexMark,
    /// The index; none when it is the one that the asker has seen.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub index: Option<SyncIndex>,
}
