//! Who this node is: its key, the id that is a hash of it, and the key for which others seal.
//!
//! The one idea: *the key is the node*. Whoever has seen it once can tell for good what this node
//! wrote. The secret halves lie sealed in the database, so a backup carries them, and what is
//! restored is the same node. What a backup must not carry is how far the node had come: wherever its
//! data folder turns up anew, it begins another epoch, and counts there from the start.
//!
//! Rooms: [`card`] is what a node says of itself; `load` finds or makes the identity at the start.

pub mod card;
mod load;
mod own;
mod settings;

pub use card::{SealKey, UntrustedCard, verify_card, verify_identity};
pub use load::{IdentityError, load_or_create};
pub use own::OwnIdentity;
pub use settings::NodeSettings;
pub use settings::{is_node_name, is_node_url};

use age::x25519;
use baton_api::NodeCard;
use baton_session::{Actor, Epoch, NodeId, NodeKey, NodeSecret};
use secrecy::{ExposeSecret, SecretString};
use std::fmt;

/// The identity of this node. Neither shown nor written to a log.
#[derive(Clone)]
pub struct Identity {
    epoch: Epoch,
    secret: NodeSecret,
    seal: x25519::Identity,
}

/// A secret that is no identity of age.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("expected the secret of a seal key, AGE-SECRET-KEY-1…, found something else")]
pub struct InvalidSealSecret;

impl Identity {
    /// The identity with this seed (32 random bytes), and the secret half of its seal key.
    pub fn new(
        seed: &[u8; 32],
        seal: &SecretString,
        epoch: Epoch,
    ) -> Result<Self, InvalidSealSecret> {
        let seal = seal.expose_secret().parse().map_err(|_| InvalidSealSecret)?;
        Ok(Self { epoch, secret: NodeSecret::from_seed(seed), seal })
    }

    /// Counts in another epoch from now on.
    pub(super) fn enter(&mut self, epoch: Epoch) {
        self.epoch = epoch;
    }

    /// Which node this is.
    pub fn node(&self) -> NodeId {
        self.key().node_id()
    }

    /// The public half of its key.
    pub fn key(&self) -> NodeKey {
        self.secret.key()
    }

    /// What signs for it.
    pub fn secret(&self) -> &NodeSecret {
        &self.secret
    }

    /// Whose counter its revisions advance: this node in this epoch.
    pub fn actor(&self) -> Actor {
        Actor::new(self.node(), self.epoch)
    }

    /// For whom others seal what only this node may read.
    pub fn seal_key(&self) -> SealKey {
        SealKey::of(&self.seal)
    }

    /// What opens that.
    pub(crate) fn opener(&self) -> &x25519::Identity {
        &self.seal
    }

    /// What this node says of itself.
    pub fn card(&self, settings: &NodeSettings) -> NodeCard {
        let NodeSettings { node_type, name, public_url, internal_url } = settings.clone();
        let seal_key = self.seal_key().to_string();
        let seal_signature = self.secret.sign(&NodeCard::seal_message(&seal_key));
        let (node_id, key) = (self.node(), self.key());
        NodeCard {
            node_id,
            node_type,
            name,
            public_url,
            internal_url,
            key,
            seal_key,
            seal_signature,
        }
    }
}

impl fmt::Debug for Identity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Identity(of {})", self.actor())
    }
}
