//! The list of the parts of a revision: its hash is signed with the revision, and it names every
//! part by hash.

use crate::json;
use crate::part_hash::PartHash;
use crate::parts::{PartKind, PartRef};
use serde::{Deserialize, Serialize};

/// The parts of a revision, sorted by kind and name.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct PartList(Vec<Line>);

/// A part: what it holds, which one of its kind, the hash and the number of its bytes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct Line(PartKind, String, PartHash, u64);

impl PartList {
    /// The list of these parts.
    pub fn new(parts: &[PartRef]) -> Self {
        let line = |part: &PartRef| Line(part.kind, part.name.clone(), part.hash, part.size);
        let mut lines: Vec<Line> = parts.iter().map(line).collect();
        lines.sort_by(|a, b| (a.0, &a.1).cmp(&(b.0, &b.1)));
        Self(lines)
    }

    /// SHA-256 of its JSON, which has one form: a list of `[kind, name, hash, size]` without spaces.
    pub fn hash(&self) -> PartHash {
        PartHash::of(&json::bytes(self))
    }

    /// Bytes of the parts together.
    pub fn size(&self) -> u64 {
        self.0.iter().fold(0, |sum, line| sum.saturating_add(line.3))
    }

    /// How many parts it names.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether it names none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The parts it names.
    pub fn parts(&self) -> impl Iterator<Item = PartRef> {
        self.0.iter().map(|Line(kind, name, hash, size)| PartRef {
            kind: *kind,
            name: name.clone(),
            hash: *hash,
            size: *size,
        })
    }
}
