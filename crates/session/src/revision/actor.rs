//! Who counts revisions: a node, in one stretch of its life, on one line of edits.

use crate::id::NodeId;
use crate::text_form::{InvalidText, parse_hex, text_form};
use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;

/// A stretch of a node's life in which its counters go on: random, and another one after a data
/// folder was copied or restored. In text 16 hexadecimal digits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Epoch([u8; 8]);

/// Who advances a counter: a node in one of its epochs, in text `<node>#<epoch>`. An edit that had
/// not seen the newest one of its own node counts on a line of its own, `<node>#<epoch>.<line>`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Actor {
    /// The node.
    pub node: NodeId,
    /// Its epoch.
    pub epoch: Epoch,
    /// Which line of edits; 0 is the first.
    pub line: u32,
}

impl Epoch {
    /// An epoch of random bytes.
    pub fn new(random: [u8; 8]) -> Self {
        Self(random)
    }
}

impl Actor {
    /// A node in one of its epochs, on its first line.
    pub fn new(node: NodeId, epoch: Epoch) -> Self {
        Self { node, epoch, line: 0 }
    }

    /// The same node in the same epoch, on another line.
    pub(super) fn on_line(self, line: u32) -> Self {
        Self { line, ..self }
    }

    /// Whether both are of one epoch of one node.
    pub(super) fn is_kin(&self, other: &Self) -> bool {
        (self.node, self.epoch) == (other.node, other.epoch)
    }
}

impl fmt::Display for Epoch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl FromStr for Epoch {
    type Err = InvalidText;

    fn from_str(text: &str) -> Result<Self, InvalidText> {
        parse_hex(text).map(Self).ok_or(InvalidText("an epoch: 16 hexadecimal digits"))
    }
}

impl fmt::Display for Actor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}#{}", self.node, self.epoch)?;
        if self.line == 0 { Ok(()) } else { write!(f, ".{}", self.line) }
    }
}

impl FromStr for Actor {
    type Err = InvalidText;

    fn from_str(text: &str) -> Result<Self, InvalidText> {
        let invalid = InvalidText("an actor: a node's id, '#' and an epoch");
        let (node, rest) = text.split_once('#').ok_or(invalid)?;
        let (epoch, line) = rest.split_once('.').unwrap_or((rest, "0"));
        let actor = Self {
            node: node.parse().map_err(|_| invalid)?,
            epoch: epoch.parse()?,
            line: line.parse().map_err(|_| invalid)?,
        };
        // Ids and numbers can be written in other ways too; an actor has one.
        if actor.to_string() == text { Ok(actor) } else { Err(invalid) }
    }
}

text_form!(Epoch, Actor);
