//! Who can read what lies in the sync directory.
//!
//! The one idea: a file there is one whole, sealed for all its readers alike. Who is given less than
//! everything is none of them.

use crate::identity::SealKey;
use baton_session::NodeId;
use baton_session::peer::PeerState;
use baton_store::Peer;

/// For whom files are sealed.
pub(super) struct Readers {
    pub(super) this: NodeId,
    /// The confirmed peers that are given everything.
    pub(super) others: Vec<(NodeId, SealKey)>,
    /// Peers that are not.
    limited: Vec<NodeId>,
    /// Whether everybody else may read what counts.
    pub(super) is_plain: bool,
}

impl Readers {
    /// The readers of what this node writes.
    pub(super) fn of(this: NodeId, peers: &[Peer], is_plain: bool) -> Self {
        let (whole, limited): (Vec<&Peer>, Vec<&Peer>) =
            peers.iter().partition(|peer| peer.limits.give.is_whole());
        let confirmed = whole.into_iter().filter(|peer| peer.state == PeerState::Confirmed);
        let with_key = |peer: &Peer| Some((peer.node, peer.seal_key.parse().ok()?));
        Self {
            this,
            others: confirmed.filter_map(with_key).collect(),
            limited: limited.into_iter().map(|peer| peer.node).collect(),
            is_plain,
        }
    }

    /// All of them, this node among them.
    pub(super) fn nodes(&self) -> impl Iterator<Item = NodeId> {
        self.others.iter().map(|(node, _)| *node).chain([self.this])
    }

    /// Whether a node must not be one of them.
    pub(super) fn bars(&self, node: NodeId) -> bool {
        self.limited.contains(&node)
    }
}
