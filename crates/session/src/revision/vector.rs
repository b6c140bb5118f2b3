//! Version vectors: who counts revisions, and how far each actor had come when one was written.
//!
//! The one idea: a counter counts one actor's own revisions of one session and is never reused, so one
//! vector covers another exactly when its writer had seen all that the other one had ([why an integer
//! will not do](https://en.wikipedia.org/wiki/Version_vector)).

use crate::id::NodeId;
use crate::text_form::{InvalidText, parse_hex, text_form};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;

/// The largest counter: what every JSON number holds exactly (RFC 7493, section 2.2).
pub const COUNTER_MAX: u64 = (1 << 53) - 1;

/// How far each actor had come. Whoever has written nothing is not in it.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "BTreeMap<Actor, u64>", into = "BTreeMap<Actor, u64>")]
pub struct Vector(BTreeMap<Actor, u64>);

/// A vector with a counter that no actor counts to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("expected counters from 1 to {COUNTER_MAX}, found {0}")]
pub struct InvalidCounter(u64);

/// How two vectors stand to each other.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Order {
    /// They are the same.
    Equal,
    /// The first is covered by the second.
    Before,
    /// The first covers the second.
    After,
    /// Each has something that the other has not.
    Concurrent,
}

impl Vector {
    /// How far `actor` had come; 0 when it has written nothing.
    pub fn get(&self, actor: &Actor) -> u64 {
        self.0.get(actor).copied().unwrap_or(0)
    }

    /// Moves `actor` on to `counter`.
    pub(super) fn advance(&mut self, actor: Actor, counter: u64) {
        self.0.insert(actor, counter);
    }

    /// Leaves actors out.
    #[must_use]
    pub(super) fn without(mut self, is_out: impl Fn(&Actor) -> bool) -> Self {
        self.0.retain(|actor, _| !is_out(actor));
        self
    }

    /// The actors, each with how far it had come.
    pub fn iter(&self) -> impl Iterator<Item = (&Actor, u64)> {
        self.0.iter().map(|(actor, counter)| (actor, *counter))
    }

    /// How many actors it knows.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether it knows none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Whether it has at least all that `other` has.
    pub fn covers(&self, other: &Self) -> bool {
        other.iter().all(|(actor, counter)| self.get(actor) >= counter)
    }

    /// How it compares to another.
    pub fn compare(&self, other: &Self) -> Order {
        match (self.covers(other), other.covers(self)) {
            (true, true) => Order::Equal,
            (true, false) => Order::After,
            (false, true) => Order::Before,
            (false, false) => Order::Concurrent,
        }
    }

    /// The least vector that covers both.
    #[must_use]
    pub fn join(mut self, other: &Self) -> Self {
        for (actor, counter) in other.iter() {
            let own = self.0.entry(*actor).or_default();
            *own = (*own).max(counter);
        }
        self
    }

    /// The greatest vector that both cover.
    #[must_use]
    pub fn meet(&self, other: &Self) -> Self {
        let both = self.iter().map(|(actor, counter)| (*actor, counter.min(other.get(actor))));
        Self(both.filter(|(_, counter)| *counter > 0).collect())
    }
}

impl TryFrom<BTreeMap<Actor, u64>> for Vector {
    type Error = InvalidCounter;

    fn try_from(entries: BTreeMap<Actor, u64>) -> Result<Self, InvalidCounter> {
        let is_wrong = |counter: &&u64| !(1..=COUNTER_MAX).contains(*counter);
        match entries.values().find(is_wrong) {
            Some(counter) => Err(InvalidCounter(*counter)),
            None => Ok(Self(entries)),
        }
    }
}

impl From<Vector> for BTreeMap<Actor, u64> {
    fn from(vector: Vector) -> Self {
        vector.0
    }
}

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
