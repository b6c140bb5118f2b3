//! Nodes among each other: who one is, how others, its peers, are let in and asked, and which of them holds a
//! session that several have, for which term.
//!
//! The one idea: who has seen a node's key once can tell for good what that node wrote. An API key says who
//! may talk; this says who wrote it. A node is an Ed25519 key pair (RFC 8032), and its id is a hash of the
//! public half.

use crate::id::NodeId;
use crate::text_form::{InvalidText, parse_hex, text_form, words};
use crate::view::View;
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use ed25519_dalek::{Signature, Signer, SigningKey, VerifyingKey};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use std::fmt;
use std::str::FromStr;

words! {
    /// Whether a peer is trusted.
    PeerState, else UnknownPeerState ("state of a peer"):
    /// It was registered by something that no person confirmed: its fingerprint is still to be compared.
    Pending "pending",
    /// A person has compared its fingerprint.
    Confirmed "confirmed",
}

words! {
    /// What a node shows a peer to be let in. It says who may talk, never who wrote something.
    AuthMethod, else UnknownAuthMethod ("way to authenticate"):
    /// A token of Microsoft Entra ID, or of another OIDC provider.
    Msal "msal",
    /// An API key of the peer.
    ApiKey "apikey",
    /// The token of a dev tunnel, and with it an API key of the peer or a token of a provider: what gets
    /// through a tunnel proves nothing behind it.
    Tunnel "tunnel",
}

/// How much of sessions goes to a peer and is taken from it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct PeerLimits {
    /// What goes to it.
    pub give: View,
    /// What is taken from it.
    pub take: View,
}

impl PeerLimits {
    /// Whether there are none.
    pub fn is_none(&self) -> bool {
        self.give.is_whole() && self.take.is_whole()
    }
}

/// What the hash behind a node's id begins with, so that it is no other hash of the same key.
const ID_CONTEXT: &[u8] = b"baton node v1\0";

/// The public key of a node; in text 43 characters, the base64url of its 32 bytes.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[cfg_attr(feature = "schema", schema(value_type = String))]
pub struct NodeKey([u8; 32]);

/// The secret key of a node. Wiped from memory when dropped, never shown.
#[derive(Clone)]
pub struct NodeSecret(SigningKey);

/// A signature of a node; in text 86 characters, the base64url of its 64 bytes.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[cfg_attr(feature = "schema", schema(value_type = String))]
pub struct NodeSignature([u8; 64]);

/// A signature that is not of this key over these bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("expected a signature of node {node}, found another one")]
pub struct BadSignature {
    /// Whose it should be.
    pub node: NodeId,
}

/// What people compare to tell nodes apart: the SHA-256 of a key, as 16 groups of four digits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[cfg_attr(feature = "schema", schema(value_type = String))]
pub struct Fingerprint([u8; 32]);

impl NodeKey {
    /// The id of the node that has this key.
    pub fn node_id(&self) -> NodeId {
        NodeId::of_hash(
            Sha256::new().chain_update(ID_CONTEXT).chain_update(self.0).finalize().into(),
        )
    }

    /// What people compare.
    pub fn fingerprint(&self) -> Fingerprint {
        Fingerprint(Sha256::digest(self.0).into())
    }

    /// Its 32 bytes.
    pub fn as_bytes(&self) -> &[u8; 32] {
        &self.0
    }

    /// Checks that `signature` is of this key over `message`.
    pub fn verify(&self, message: &[u8], signature: &NodeSignature) -> Result<(), BadSignature> {
        let bad = |_| BadSignature { node: self.node_id() };
        let key = VerifyingKey::from_bytes(&self.0).map_err(bad)?;
        key.verify_strict(message, &Signature::from_bytes(&signature.0)).map_err(bad)
    }
}

impl NodeSecret {
    /// The secret key of a seed: 32 random bytes.
    pub fn from_seed(seed: &[u8; 32]) -> Self {
        Self(SigningKey::from_bytes(seed))
    }

    /// The public half.
    pub fn key(&self) -> NodeKey {
        NodeKey(self.0.verifying_key().to_bytes())
    }

    /// Another secret of the same node, for one purpose: the SHA-256 of the purpose and the seed. Who has the
    /// one learns nothing of the other.
    pub fn derive(&self, purpose: &str) -> [u8; 32] {
        let hash = Sha256::new().chain_update(purpose).chain_update([0]);
        hash.chain_update(self.0.as_bytes()).finalize().into()
    }

    /// Signs `message`.
    pub fn sign(&self, message: &[u8]) -> NodeSignature {
        NodeSignature(self.0.sign(message).to_bytes())
    }
}

impl Fingerprint {
    /// Its 32 bytes.
    pub fn as_bytes(&self) -> &[u8; 32] {
        &self.0
    }

    /// The fingerprint of these bytes.
    pub fn from_bytes(bytes: [u8; 32]) -> Self {
        Self(bytes)
    }
}

impl NodeSignature {
    /// Its 64 bytes.
    pub fn as_bytes(&self) -> &[u8; 64] {
        &self.0
    }

    /// The signature of these bytes.
    pub fn from_bytes(bytes: [u8; 64]) -> Self {
        Self(bytes)
    }
}

impl FromStr for NodeKey {
    type Err = InvalidText;

    fn from_str(text: &str) -> Result<Self, InvalidText> {
        let invalid = InvalidText("the key of a node: 43 characters of base64url");
        let key = Self(decode(text).ok_or(invalid)?);
        VerifyingKey::from_bytes(&key.0).map(|_| key).map_err(|_| invalid)
    }
}

impl FromStr for NodeSignature {
    type Err = InvalidText;

    fn from_str(text: &str) -> Result<Self, InvalidText> {
        let invalid = InvalidText("a signature of a node: 86 characters of base64url");
        decode(text).map(Self).ok_or(invalid)
    }
}

impl FromStr for Fingerprint {
    type Err = InvalidText;

    /// Spaces, colons and the case of digits do not count.
    fn from_str(text: &str) -> Result<Self, InvalidText> {
        let invalid = InvalidText("a fingerprint: 16 groups of four hexadecimal digits");
        let bare = text.chars().filter(|c| !c.is_whitespace() && *c != ':');
        let bare: String = bare.map(|c| c.to_ascii_lowercase()).collect();
        parse_hex(&bare).map(Self).ok_or(invalid)
    }
}

fn decode<const N: usize>(text: &str) -> Option<[u8; N]> {
    URL_SAFE_NO_PAD.decode(text).ok()?.try_into().ok()
}

impl fmt::Display for NodeKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&URL_SAFE_NO_PAD.encode(self.0))
    }
}

impl fmt::Display for NodeSignature {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&URL_SAFE_NO_PAD.encode(self.0))
    }
}

impl fmt::Display for Fingerprint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let digits = self.0.chunks(2).map(|pair| format!("{:02x}{:02x}", pair[0], pair[1]));
        f.pad(&digits.collect::<Vec<_>>().join(" "))
    }
}

text_form!(NodeKey, NodeSignature, Fingerprint);

impl fmt::Debug for NodeKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "NodeKey({self})")
    }
}

impl fmt::Debug for NodeSignature {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "NodeSignature({self})")
    }
}

impl fmt::Debug for NodeSecret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "NodeSecret(of {})", self.key().node_id())
    }
}

/// How many terms a node may miss: more than sessions are resumed in a lifetime.
const FURTHEST: i64 = 1 << 32;

/// Who holds a shared session: the node that runs its browser, or is about to.
///
/// Its term counts between nodes only; within one database, the terms of that database count. Each
/// node tells of its own peer lease and of no other one, so nobody can be robbed of a session by what a
/// third one says.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename = "Lease", rename_all = "camelCase", deny_unknown_fields)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema), schema(as = Lease))]
pub struct PeerLease {
    /// The holder.
    pub node: NodeId,
    /// One more than that of the holder before.
    pub term: Term,
    /// Since when, by the holder's clock.
    pub since: Timestamp,
    /// Whether the holder has given it back, and nobody holds the session.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub released: bool,
}

impl PeerLease {
    /// The peer lease that comes after `known`.
    pub fn after(known: Option<Self>, node: NodeId, now: Timestamp) -> Self {
        let term = known.map_or_else(Term::default, |known| known.term).next();
        Self { node, term, since: now, released: false }
    }

    /// Whether this one counts, and not the other. Two nodes that took a session without reaching
    /// each other have the same term; then the greater id counts. So all come to the same answer, in
    /// whatever order they hear.
    pub fn supersedes(&self, other: &Self) -> bool {
        let rank = |peer_lease: &Self| (peer_lease.term, peer_lease.node, peer_lease.released);
        rank(self) > rank(other)
    }

    /// Whether a node that tells the truth may say this, where `known` is known: terms go up by one for
    /// each holder, and one that leaps ahead would leave no room above it.
    pub fn is_plausible(&self, known: Option<Self>) -> bool {
        let known = known.map_or_else(Term::default, |known| known.term);
        self.term.to_i64() > 0 && self.term.to_i64().saturating_sub(known.to_i64()) <= FURTHEST
    }

    /// Whether a node other than `node` holds the session by it.
    pub fn is_held_by_other(&self, node: NodeId) -> bool {
        !self.released && self.node != node
    }
}

/// The number of a holder's time with a session. Each new holder gets a higher one, so that what an
/// earlier holder writes late can be told from what the present one writes.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize,
)]
#[serde(transparent)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct Term(i64);

impl Term {
    /// A term as the database counts it.
    pub fn from_i64(number: i64) -> Self {
        Self(number)
    }

    /// The one after it.
    #[must_use]
    pub fn next(self) -> Self {
        Self(self.0.saturating_add(1))
    }

    /// The number for the database.
    pub fn to_i64(self) -> i64 {
        self.0
    }
}

impl fmt::Display for Term {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

#[cfg(test)]
mod tests {
    use super::{PeerLease, Term};
    use crate::id::NodeId;
    use jiff::Timestamp;

    fn node(byte: u8) -> NodeId {
        uuid::Uuid::from_bytes([byte; 16]).to_string().parse().unwrap()
    }

    #[test]
    fn of_two_leases_exactly_one_counts() {
        let now = Timestamp::UNIX_EPOCH;
        let first = PeerLease::after(None, node(1), now);
        let second = PeerLease::after(Some(first), node(2), now);
        let third = PeerLease::after(Some(first), node(3), now);
        let given_back = PeerLease { released: true, ..first };
        assert!(second.supersedes(&first) && !first.supersedes(&second));
        assert!(second.supersedes(&given_back), "a lease is given back before the next begins");
        assert!(third.supersedes(&second) && !second.supersedes(&third), "taken at the same time");
        assert!(given_back.supersedes(&first) && !first.supersedes(&given_back));
        assert!(!first.supersedes(&first));
    }

    #[test]
    fn a_term_that_leaves_no_room_above_it_is_not_plausible() {
        let now = Timestamp::UNIX_EPOCH;
        let first = PeerLease::after(None, node(1), now);
        let far = |term| PeerLease { term: Term::from_i64(term), ..first };
        assert!(first.is_plausible(None) && far(1 << 32).is_plausible(None));
        assert!(far((1 << 32) + 1).is_plausible(Some(first)));
        for term in [(1 << 32) + 1, i64::MAX, 0, -1] {
            assert!(!far(term).is_plausible(None), "{term}");
        }
    }

    #[test]
    fn who_holds_a_session_is_another_node_until_it_is_given_back() {
        let peer_lease = PeerLease::after(None, node(1), Timestamp::UNIX_EPOCH);
        assert!(peer_lease.is_held_by_other(node(2)) && !peer_lease.is_held_by_other(node(1)));
        assert!(!PeerLease { released: true, ..peer_lease }.is_held_by_other(node(2)));
    }
}
