//! Cards of nodes, which come from outside: what of one is proven, and what may be shown of it.

use super::settings::{is_node_name, is_node_url};
use age::x25519;
use baton_api::{NodeCard, NodeIdentity};
use baton_session::{BadSignature, NodeId};
use std::fmt;
use std::str::FromStr;

/// For whom something is sealed: the public half of a seal key, in text a recipient of age, `age1…`.
#[derive(Clone, PartialEq, Eq)]
pub struct SealKey(x25519::Recipient);

/// A text that is no seal key.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("expected a seal key, age1…, found something else")]
pub struct InvalidSealKey;

/// A card that is not what it says.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum UntrustedCard {
    /// The id is not the hash of the key.
    #[error("expected a card of node {found} with that node's key, found the key of node {key}")]
    OtherKey {
        /// The id on the card.
        found: NodeId,
        /// The id that belongs to the key on it.
        key: NodeId,
    },
    /// The seal key is no key.
    #[error("expected a card with a seal key, age1…, found something else in its place")]
    SealKey(#[from] InvalidSealKey),
    /// Somebody else put the seal key on the card.
    #[error("expected a card whose node signed its seal key, found that it did not: {0}")]
    SealSignature(#[from] BadSignature),
    /// A name that would fool whoever reads it in a terminal.
    #[error(
        "expected a card with a name of 1 to 64 characters that can be shown, found another name"
    )]
    Name,
    /// An address at which no node is asked.
    #[error(
        "expected a card whose addresses begin with http or https and have no path, found another"
    )]
    Url,
}

/// Checks that a card belongs to the node that it names: its id is the hash of its key, and its key
/// signed its seal key. The rest is checked for its form only.
pub fn verify_card(card: &NodeCard) -> Result<(), UntrustedCard> {
    verify_identity(&card.identity())?;
    if !is_node_name(&card.name) {
        return Err(UntrustedCard::Name);
    }
    let mut urls = card.public_url.iter().chain(&card.internal_url);
    if urls.all(is_node_url) { Ok(()) } else { Err(UntrustedCard::Url) }
}

/// The same for who a node is, without what it says of itself.
pub fn verify_identity(identity: &NodeIdentity) -> Result<(), UntrustedCard> {
    let NodeIdentity { node_id: found, key, seal_key, seal_signature, .. } = identity;
    if *found != key.node_id() {
        return Err(UntrustedCard::OtherKey { found: *found, key: key.node_id() });
    }
    seal_key.parse::<SealKey>()?;
    Ok(key.verify(&NodeCard::seal_message(seal_key), seal_signature)?)
}

impl SealKey {
    /// The public half of `identity`.
    pub(super) fn of(identity: &x25519::Identity) -> Self {
        Self(identity.to_public())
    }

    /// As age wants it.
    pub(crate) fn recipient(&self) -> &x25519::Recipient {
        &self.0
    }
}

impl FromStr for SealKey {
    type Err = InvalidSealKey;

    fn from_str(text: &str) -> Result<Self, InvalidSealKey> {
        text.parse().map(Self).map_err(|_| InvalidSealKey)
    }
}

impl fmt::Display for SealKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl fmt::Debug for SealKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "SealKey({})", self.0)
    }
}
