//! What one node holds of a session's revisions.
//!
//! The one idea: to receive is to put two sets of heads together and to drop what another one covers.
//! That is commutative, associative and idempotent, so the order in which nodes meet does not matter.
//!
//! Rooms: `write` makes revisions of our own, `receive` takes those of others, `fold` puts heads
//! together, `fork` knows what to do when copies of one node counted the same number twice, `plan`
//! says what is merged and `merged` does it, `memory` tells what is remembered of older ones, and
//! `views` what is told to whoever sees a part.

mod content;
mod fold;
mod fork;
mod memory;
mod merged;
mod plan;
mod receive;
mod views;
mod write;

pub use content::{Author, Content, deleted_checksum};
pub use plan::MergePlan;
pub use receive::Change;

use super::actor::Actor;
use super::id::RevisionId;
use super::signed::Signed;
use super::trail::Trail;
use crate::id::SessionId;
use serde::{Deserialize, Serialize};
use std::cmp::Reverse;
use std::collections::BTreeMap;

/// How many heads a session has at most: more conflicts than anyone looks through.
pub const HEADS_MAX: usize = 64;
/// How many older revisions are remembered, beside those that vouch for what the heads have seen.
pub const HISTORY_MAX: usize = 32;
/// How many revisions an offer has at most.
pub const OFFER_MAX: usize = 4096;

/// What one node holds of a session's revisions.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Replica {
    session: SessionId,
    heads: BTreeMap<RevisionId, Signed>,
    /// The losers of merges that heads name.
    kept: BTreeMap<RevisionId, Signed>,
    /// Older ones, without their content.
    history: BTreeMap<RevisionId, Signed>,
    /// Who counted what, of many more.
    #[serde(default)]
    trail: Trail,
}

impl Replica {
    /// Nothing of a session yet.
    pub fn new(session: SessionId) -> Self {
        let (heads, kept, history, trail) = Default::default();
        Self { session, heads, kept, history, trail }
    }

    /// Which session.
    pub fn session(&self) -> SessionId {
        self.session
    }

    /// The revision that counts; none before the first. A session that was deleted has a current one
    /// that says so.
    pub fn current(&self) -> Option<&Signed> {
        foremost(self.heads.values())
    }

    /// The one that counts among the heads that have seen all that `base` has; none when no head has.
    pub fn current_after(&self, base: &Signed) -> Option<&Signed> {
        foremost(self.heads.values().filter(|head| head.covers(base)))
    }

    /// The revisions that nothing covers, by name.
    pub fn heads(&self) -> impl Iterator<Item = &Signed> {
        self.heads.values()
    }

    /// What is kept beside the current one until someone resolves it: the other heads, and the losers
    /// of merges; the latest first.
    pub fn siblings(&self) -> Vec<&Signed> {
        let current = self.current().map(Signed::id);
        let others = self.heads.values().filter(|head| Some(head.id()) != current);
        let mut siblings: Vec<&Signed> = others.chain(self.kept.values()).collect();
        siblings.sort_by_key(|sibling| Reverse(sibling.rank()));
        siblings
    }

    /// Every revision whose content belongs here.
    pub fn whole(&self) -> impl Iterator<Item = &Signed> {
        self.heads.values().chain(self.kept.values())
    }

    /// Every revision that is known, with its content or without.
    pub fn known(&self) -> impl Iterator<Item = &Signed> {
        self.whole().chain(self.history.values())
    }

    /// A known revision by its name.
    pub fn find(&self, id: RevisionId) -> Option<&Signed> {
        let whole = self.heads.get(&id).or_else(|| self.kept.get(&id));
        whole.or_else(|| self.history.get(&id))
    }

    /// How far an actor is known to have come; its next free counter is one more.
    pub fn counter(&self, actor: Actor) -> u64 {
        self.known().map(|signed| signed.vector.get(&actor)).max().unwrap_or(0)
    }
}

/// The one that counts: one that speaks of a part of the session never before one that speaks of more.
fn foremost<'a>(heads: impl Iterator<Item = &'a Signed>) -> Option<&'a Signed> {
    let heads: Vec<&Signed> = heads.collect();
    let says_less = |one: &Signed, other: &Signed| {
        one.is_partial() && !other.deleted && other.speaks_of(one) && !one.speaks_of(other)
    };
    let is_less = |one: &&&Signed| !heads.iter().any(|other| says_less(one, other));
    heads.iter().filter(is_less).max_by_key(|head| head.rank()).copied()
}
