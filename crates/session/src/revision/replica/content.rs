//! What a revision is written from: what it says, and who writes it.

use crate::identity::NodeSecret;
use crate::part_hash::PartHash;
use crate::revision::Origin;
use crate::revision::actor::Actor;
use crate::revision::part_list::PartList;
use crate::revision::signed::Signed;
use crate::session::SessionName;
use jiff::Timestamp;

/// Who writes a revision, and when.
#[derive(Debug, Clone)]
pub struct Author {
    /// The node in its epoch, on its first line.
    pub actor: Actor,
    /// With what it signs.
    pub secret: NodeSecret,
    /// The instant.
    pub now: Timestamp,
}

/// What a revision says of its session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Content {
    /// The checksum of the state.
    pub checksum: PartHash,
    /// The hash of the list of its parts.
    pub parts: PartHash,
    /// Bytes of its parts together.
    pub size: u64,
    /// What the session is called.
    pub name: SessionName,
    /// Free text for people.
    pub description: String,
    /// Where the session was opened first.
    pub origin: Origin,
}

impl Content {
    /// What is left of a session that is deleted: its name and where it came from.
    pub fn deleted(name: SessionName, origin: Origin) -> Self {
        let (parts, description) = (PartList::default().hash(), String::new());
        Self { checksum: deleted_checksum(), parts, size: 0, name, description, origin }
    }
}

/// What stands in the place of a state's checksum when its session was deleted: SHA-256 of the
/// canonical JSON `{"deleted":true}`.
pub fn deleted_checksum() -> PartHash {
    PartHash::of(br#"{"deleted":true}"#)
}

impl Signed {
    /// What it says of its session.
    pub fn content(&self) -> Content {
        Content {
            checksum: self.checksum,
            parts: self.parts,
            size: self.size,
            name: self.name.clone(),
            description: self.description.clone(),
            origin: self.origin.clone(),
        }
    }
}
