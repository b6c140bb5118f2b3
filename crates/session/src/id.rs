//! Identifiers: who owns a session, which session, snapshot, sandbox, audit entry or node.
//!
//! Ids of sessions, snapshots, sandboxes and audit entries are UUID version 7 (RFC 9562): they sort by creation time. The instant
//! and the random bits are arguments, because this crate has neither clock nor randomness.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
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
    /// The id with the first 122 bits of a hash: a version 8 UUID (RFC 9562, section 5.8).
    pub(crate) fn of_hash(hash: [u8; 32]) -> Self {
        let mut bytes = [0; 16];
        bytes.copy_from_slice(&hash[..16]);
        Self(uuid::Builder::from_custom_bytes(bytes).into_uuid())
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
