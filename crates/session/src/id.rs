//! Identifiers: who owns a session and who drives it, which session, snapshot, sandbox, audit entry, node
//! or part.
//!
//! Ids of sessions, snapshots, sandboxes and audit entries are UUID version 7 (RFC 9562): they sort by
//! creation time. The instant and the random bits are arguments, because this crate has neither clock nor
//! randomness.

use crate::text_form::{InvalidText, parse_hex, text_form, write_hex};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use std::fmt;
use std::str::FromStr;
use uuid::Uuid;

/// An identifier that could not be parsed.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
#[error("expected {expected}, found {found:?}")]
pub struct InvalidId {
    expected: &'static str,
    found: String,
}

macro_rules! uuid_id {
    ($(#[$doc:meta])* $name:ident, $expected:literal) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[serde(transparent)]
        #[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
        #[cfg_attr(feature = "schema", schema(value_type = String, format = "uuid"))]
        pub struct $name(Uuid);

        impl $name {
            /// An id made at `at`; `random` fills the bits that the time does not.
            pub fn new(at: Timestamp, random: [u8; 10]) -> Self {
                let millis = u64::try_from(at.as_millisecond()).unwrap_or(0);
                Self(uuid::Builder::from_unix_timestamp_millis(millis, &random).into_uuid())
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.0.fmt(f)
            }
        }

        impl FromStr for $name {
            type Err = InvalidId;

            fn from_str(text: &str) -> Result<Self, InvalidId> {
                Uuid::parse_str(text)
                    .map(Self)
                    .map_err(|_| InvalidId { expected: $expected, found: text.to_owned() })
            }
        }
    };
}

uuid_id!(
    /// Which session: a version 7 UUID, for life.
    SessionId, "a session id (a UUID)"
);
uuid_id!(
    /// Which snapshot: a version 7 UUID, so that snapshots sort by the time they were taken.
    SnapshotId, "a snapshot id (a UUID)"
);
uuid_id!(
    /// Which sandbox: a version 7 UUID, so that sandboxes sort by the time they were made.
    SandboxId, "the id of a sandbox (a UUID)"
);
uuid_id!(
    /// Which entry of the audit log: a version 7 UUID, so that entries sort by the time they were made.
    AuditId, "the id of an audit entry (a UUID)"
);
uuid_id!(
    /// Which message to a webhook: a version 7 UUID, the same however often it is sent.
    DeliveryId, "the id of a delivery (a UUID)"
);
uuid_id!(
    /// Which node. Its bits are of the hash of the node's key, see `NodeKey::node_id`; ids that
    /// were made before nodes had keys are version 7.
    NodeId, "a node id (a UUID)"
);

impl NodeId {
    /// What it is known by in ids of its sandboxes, and in links to it.
    pub fn mark(self) -> NodeMark {
        let mut mark = [0; MARK];
        mark.copy_from_slice(&self.0.as_bytes()[16 - MARK..]);
        NodeMark(mark)
    }

    /// The id with the first 122 bits of a hash: a version 8 UUID (RFC 9562, section 5.8).
    pub(crate) fn of_hash(hash: [u8; 32]) -> Self {
        let mut bytes = [0; 16];
        bytes.copy_from_slice(&hash[..16]);
        Self(uuid::Builder::from_custom_bytes(bytes).into_uuid())
    }
}

/// How much of a node's id is a mark, in bytes: two of a hundred nodes are alike in that once in a million.
const MARK: usize = 4;

/// What says to the nodes of a cluster which of them made something; eight hexadecimal digits. It is no secret.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NodeMark([u8; MARK]);

impl fmt::Display for NodeMark {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:08x}", u32::from_be_bytes(self.0))
    }
}

impl NodeMark {
    /// Its bits.
    pub fn bits(self) -> u32 {
        u32::from_be_bytes(self.0)
    }

    /// The one that a text ends with; none where it ends with something else.
    pub fn at_end_of(text: &str) -> Option<Self> {
        let digits = text.get(text.len().checked_sub(2 * MARK)?..)?;
        let is_one = digits.bytes().all(|digit| digit.is_ascii_hexdigit());
        let mark = is_one.then(|| u32::from_str_radix(digits, 16).ok())??;
        Some(Self(mark.to_be_bytes()))
    }
}

impl SandboxId {
    /// An id made at `at` by a node, whose mark takes the place of some of the random bits: so that other nodes know
    /// where a sandbox is, which is there as long as its node.
    pub fn made_by(node: NodeId, at: Timestamp, mut random: [u8; 10]) -> Self {
        let from = random.len() - MARK;
        random[from..].copy_from_slice(&node.mark().0);
        Self::new(at, random)
    }

    /// Whether it bears the mark of this node.
    pub fn is_of(self, node: NodeId) -> bool {
        self.0.as_bytes().ends_with(&node.mark().0)
    }
}

/// The user to whom sessions belong: 1 to 128 visible ASCII characters.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[cfg_attr(feature = "schema", schema(value_type = String))]
pub struct Owner(String);

impl Owner {
    /// The owner of what is made with the key that a node writes at its first start.
    pub fn local() -> Self {
        Self("local".to_owned())
    }

    /// The owner's name.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl TryFrom<String> for Owner {
    type Error = InvalidId;

    fn try_from(text: String) -> Result<Self, InvalidId> {
        let fits =
            (1..=128).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_graphic());
        if fits {
            Ok(Self(text))
        } else {
            Err(InvalidId { expected: "an owner: 1 to 128 visible ASCII characters", found: text })
        }
    }
}

impl FromStr for Owner {
    type Err = InvalidId;

    fn from_str(text: &str) -> Result<Self, InvalidId> {
        Self::try_from(text.to_owned())
    }
}

impl From<Owner> for String {
    fn from(owner: Owner) -> Self {
        owner.0
    }
}

impl fmt::Display for Owner {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// An agent's name: 1 to 64 of the characters `A-Z a-z 0-9 . _ -`, and not a dot alone or two. The
/// same form as on the board, where it is the name of a file.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[cfg_attr(feature = "schema", schema(value_type = String))]
pub struct AgentName(String);

impl AgentName {
    /// The name as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl TryFrom<String> for AgentName {
    type Error = InvalidText;

    fn try_from(text: String) -> Result<Self, InvalidText> {
        let fits = (1..=64).contains(&text.len())
            && text.bytes().all(|c| c.is_ascii_alphanumeric() || matches!(c, b'.' | b'_' | b'-'))
            && !matches!(text.as_str(), "." | "..");
        let expected = "an agent's name: 1 to 64 letters, digits, '.', '_' or '-'";
        if fits { Ok(Self(text)) } else { Err(InvalidText(expected)) }
    }
}

impl FromStr for AgentName {
    type Err = InvalidText;

    fn from_str(text: &str) -> Result<Self, InvalidText> {
        Self::try_from(text.to_owned())
    }
}

impl From<AgentName> for String {
    fn from(name: AgentName) -> Self {
        name.0
    }
}

impl fmt::Display for AgentName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.0)
    }
}

/// SHA-256 of a part's bytes: its name on the wire.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[cfg_attr(feature = "schema", schema(value_type = String))]
pub struct PartHash(pub [u8; 32]);

impl PartHash {
    /// The hash of `bytes`.
    pub fn of(bytes: &[u8]) -> Self {
        Self(Sha256::digest(bytes).into())
    }
}

impl fmt::Display for PartHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_hex(&self.0, f)
    }
}

impl FromStr for PartHash {
    type Err = InvalidText;

    fn from_str(text: &str) -> Result<Self, InvalidText> {
        let invalid = InvalidText("a hash: 64 lower-case hexadecimal digits");
        parse_hex(text).map(Self).ok_or(invalid)
    }
}

text_form!(PartHash);

impl fmt::Debug for PartHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}
