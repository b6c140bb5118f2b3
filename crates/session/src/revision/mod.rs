//! Revisions: published states of a session, and which of them is newer than which.
//!
//! The one idea: a node holds of each session the revisions that no other one covers, its *heads*.
//! Exchanging heads and dropping what is covered leads every node to the same heads, in whatever
//! order they meet. One head is the rule; several are a conflict, and each of them stays until
//! someone resolves it. Time decides only which of several heads is shown as the current one.
//!
//! What makes this safe: a revision, together with the losers of merges that it names, accounts for
//! every edit that its vector covers. So whoever drops what a head covers drops nothing that nobody
//! has decided about.
//!
//! Rooms: [`actor`] is who counts, [`vector`] tells how far each of them had come, and [`knowledge`] in
//! which parts of the session; `id` names a
//! revision by its content; `signed` says who wrote it, `witness` what a writer may claim, and
//! `refused` why it is not believed; [`offer`] is what nodes exchange, with the [`part_list`] of a
//! revision; [`trail`] is a long memory of counters; [`replica`] is what one of them holds; [`mod@merge`] makes one state of two.

pub mod actor;
mod id;
pub mod knowledge;
pub mod merge;
pub mod offer;
pub mod part_list;
mod refused;
pub mod replica;
mod signed;
pub mod trail;
pub mod vector;
mod witness;

pub use actor::{Actor, Epoch};
pub use id::RevisionId;
pub use knowledge::{Knowledge, Within};
pub use merge::{Decisions, LeftOut, Merged, MergedFrom, merge, merge_views};
pub use offer::Offer;
pub use part_list::PartList;
pub use refused::Refused;
pub use replica::{Author, Change, Content, HISTORY_MAX, MergePlan, Replica, deleted_checksum};
pub use signed::Signed;
pub use trail::Trail;
pub use vector::{Order, Vector};

use crate::id::{NodeId, SessionId};
use crate::json;
use crate::part_hash::PartHash;
use crate::session::SessionName;
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

/// A published state: what it is, and what it is newer than. Its content is named, not held.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Revision {
    /// Whose state it is.
    pub session: SessionId,
    /// One more than the greatest of its parents: a hint for people, and for nodes that know nothing
    /// better.
    pub version: u64,
    /// The revisions that it was made of, sorted; none for the first.
    #[serde(default)]
    pub parents: Vec<RevisionId>,
    /// How far each actor had come, in whatever part of the session.
    pub vector: Vector,
    /// The views that it speaks of, with how far it had come in each; none when it speaks of the whole
    /// session and `vector` says it all.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub within: Vec<Within>,
    /// Whose counter it advances; none when it only joins what others wrote.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub author: Option<Actor>,
    /// The checksum of the state, see [`checksum_of`](fn@crate::wire::checksum_of).
    pub checksum: PartHash,
    /// The hash of the list of its parts, see [`PartList`].
    pub parts: PartHash,
    /// Bytes of its parts together.
    pub size: u64,
    /// When it was written, by its writer's clock; later than its parents say of themselves.
    pub modified_at: Timestamp,
    /// Whether the session was deleted by it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub deleted: bool,
    /// Losers of merges, which are kept until someone resolves the conflict; sorted.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub conflicts: Vec<RevisionId>,
    /// What each of them had that is left out; of one that is not named here that may be anything.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub about: BTreeMap<RevisionId, BTreeSet<LeftOut>>,
    /// What the session is called.
    pub name: SessionName,
    /// Free text for people.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub description: String,
    /// Where the session was opened first.
    pub origin: Origin,
}

/// Where a session was opened first.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Origin {
    /// The node.
    pub node: NodeId,
    /// When.
    pub created_at: Timestamp,
    /// By whom, as that node calls them.
    pub created_by: String,
}

impl Revision {
    /// Its name: what it says, hashed.
    pub fn id(&self) -> RevisionId {
        RevisionId { version: self.version, hash: PartHash::of(&self.canonical()) }
    }

    /// Its canonical JSON (RFC 8785): what is hashed and signed.
    pub(crate) fn canonical(&self) -> Vec<u8> {
        json::canonical(self)
    }

    /// Its author with the counter that it advanced to: no other revision has the two.
    pub(super) fn dot(&self) -> Option<(Actor, u64)> {
        self.author.map(|author| (author, self.vector.get(&author)))
    }

    /// Whether it says of the session what another one says.
    pub(super) fn is_same(&self, other: &Self) -> bool {
        (self.checksum, self.deleted) == (other.checksum, other.deleted)
            && (self.within == other.within || self.knowledge().is_of_the_same(&other.knowledge()))
    }

    /// Of which parts of the session it speaks, and how far it had come in each.
    pub fn knowledge(&self) -> Knowledge {
        match self.within.as_slice() {
            [] => Knowledge::whole(self.vector.clone()),
            within => Knowledge::new(within.iter().cloned()),
        }
    }

    /// Says how far it had come, and where.
    pub(super) fn know(&mut self, knowledge: Knowledge) {
        self.vector = knowledge.joined();
        self.within = knowledge.into_within();
    }

    /// Whether there are parts of the session that it says nothing about.
    pub fn is_partial(&self) -> bool {
        !self.within.is_empty() && !self.within.iter().any(|within| within.view.is_whole())
    }

    /// How what it has seen stands to what another one has.
    pub fn compare(&self, other: &Self) -> Order {
        if self.within.is_empty() && other.within.is_empty() {
            return self.vector.compare(&other.vector);
        }
        self.knowledge().compare(&other.knowledge())
    }

    /// Whether it has seen, wherever the other one speaks, all that that has.
    pub fn covers(&self, other: &Self) -> bool {
        matches!(self.compare(other), Order::After | Order::Equal)
    }

    /// Whether it speaks of all that another one does.
    pub(super) fn speaks_of(&self, other: &Self) -> bool {
        self.within.is_empty() || self.knowledge().speaks_of(&other.knowledge())
    }

    /// Whether it is no more than what somebody sees of its parent.
    pub fn is_view(&self) -> bool {
        self.author.is_none() && self.parents.len() == 1 && self.is_partial()
    }
}
