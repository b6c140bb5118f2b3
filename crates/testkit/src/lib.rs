//! What the tests of several crates share of nodes, for tests alone: a node that speaks to others, with its
//! identity and its card.

#![allow(clippy::unwrap_used, clippy::missing_panics_doc, reason = "a test ends there")]

use age::x25519;
use baton_api::NodeCard;
use baton_session::Epoch;
use baton_session::wire::NodeType;
use baton_sync::identity::{Identity, NodeSettings};

/// A node that speaks to others.
pub struct Peer {
    /// Who it is.
    pub identity: Identity,
    /// What it says of itself, signed.
    pub card: NodeCard,
}

impl Peer {
    /// The peer whose key has this seed. Its seal key is another one at each call.
    pub fn new(seed: u8) -> Self {
        let seal = x25519::Identity::generate().to_string();
        let identity = Identity::new(&[seed; 32], &seal, Epoch::new([seed; 8])).unwrap();
        let card = identity.card(&settings("laptop"));
        Self { identity, card }
    }
}

/// What a peer says of itself.
pub fn settings(name: &str) -> NodeSettings {
    NodeSettings {
        node_type: NodeType::Hosted,
        name: name.to_owned(),
        public_url: Some("https://baton.example.org".parse().unwrap()),
        internal_url: None,
    }
}
