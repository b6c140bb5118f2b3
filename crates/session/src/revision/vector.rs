//! Version vectors: how far each actor had come when a revision was written.
//!
//! The one idea: a counter counts one actor's own revisions of one session and is never reused, so
//! one vector covers another exactly when its writer had seen all that the other one had
//! ([why an integer will not do](https://en.wikipedia.org/wiki/Version_vector)).

use super::actor::Actor;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

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

    /// How it stands to another.
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
