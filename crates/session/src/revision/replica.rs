//! What one node holds of a session's revisions, and what it remembers of older ones.
//!
//! The one idea: to receive is to put two sets of heads together and to drop what another one covers.
//! That is commutative, associative and idempotent, so the order in which nodes meet does not matter.
//!
//! Rooms: `write` makes revisions of our own, `exchange` takes those of others and tells them of ours,
//! `fold` puts heads together, also when copies of one node counted the same number twice, and `merged`
//! says what is merged and does it.

mod exchange;
mod fold;
mod merged;

pub use exchange::ReplicaChange;
pub use merged::MergePlan;

use super::vector::{Actor, Trail};
use super::{Origin, PartList, RevisionId, Signed};
use crate::id::{PartHash, SessionId};
use crate::peer::NodeSecret;
use crate::session::SessionName;
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

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

/// What takes the place of a state's checksum when its session was deleted: SHA-256 of the canonical JSON
/// `{"deleted":true}`.
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

// What is remembered of older revisions, whose content is not here any more: the newest, because they
// tell who had seen what; of each actor the newest one, because it vouches for what others say they have
// seen of that actor; and the two that show by their time where copies of a node parted, because no
// counter after that proves anything. Of a thousand and more the counters are remembered, see `trail`.
impl Replica {
    /// Remembers a revision that is not known yet.
    fn remember(&mut self, signed: &Signed) {
        if self.find(signed.id()).is_none() {
            self.history.insert(signed.id(), signed.clone());
        }
    }

    /// Sorts what is known into what is whole and what is only remembered, and forgets the rest.
    fn settle(&mut self) {
        self.history.append(&mut self.kept);
        let named: BTreeSet<RevisionId> =
            self.heads.values().flat_map(|head| head.conflicts.iter().copied()).collect();
        for id in named {
            if let Some(signed) = self.history.remove(&id) {
                self.kept.insert(id, signed);
            }
        }
        for signed in self.heads.values().chain(self.kept.values()).chain(self.history.values()) {
            self.trail.note(signed);
        }
        self.trail.shorten();
        let mut remembered = self.witnesses();
        remembered.extend(self.late_sides());
        remembered.extend(self.heads.values().flat_map(|head| head.parents.iter().copied()));
        remembered.extend(self.history.keys().rev().take(HISTORY_MAX));
        self.history.retain(|id, _| remembered.contains(id));
    }

    /// Of each actor its newest revision; two of one counter, of copies of a node, are both named.
    fn witnesses(&self) -> BTreeSet<RevisionId> {
        let mut newest: BTreeMap<Actor, (u64, Vec<RevisionId>)> = BTreeMap::new();
        for signed in self.known() {
            let Some((actor, counter)) = signed.dot() else { continue };
            let known = newest.entry(actor).or_default();
            if counter > known.0 {
                *known = (counter, Vec::new());
            }
            if counter == known.0 {
                known.1.push(signed.id());
            }
        }
        newest.into_values().flat_map(|(_, ids)| ids).collect()
    }
}
