//! Copies of one node that have counted the same number twice.
//!
//! The one idea: a copy is a *fork* of a node's counters, and a vector with such a counter in it
//! proves nothing. What it only seems to cover is *adopted*: written once more, under a counter of
//! our own and without the forked ones, so that nothing covers it that has not seen it.
//!
//! A fork shows in two revisions that bear one counter, which the trail remembers. When that is
//! forgotten too it shows in time: whoever goes on is later than what they go on from, so a counter
//! that was written no later than a lesser one was not written after it.

use super::Replica;
use super::content::Author;
use crate::revision::actor::Actor;
use crate::revision::id::RevisionId;
use crate::revision::offer::Offer;
use crate::revision::signed::Signed;
use crate::revision::vector::{Order, Vector};
use jiff::Timestamp;
use std::collections::{BTreeMap, BTreeSet};

/// A counter of an actor that was written no later than a lesser one.
struct Late {
    /// The lesser counter of the two.
    counter: u64,
    /// The two.
    sides: [RevisionId; 2],
}

/// What an actor counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Dot {
    actor: Actor,
    counter: u64,
    written: Timestamp,
    id: RevisionId,
}

impl Replica {
    /// Whether a copy of this node has written, as `actor`, what is not known here. Then this one has
    /// to begin another epoch: [`leave`](Self::leave) the old one before the offer is received.
    pub fn is_cloned(&self, offer: &Offer, actor: Actor) -> bool {
        let is_unknown = |signed: &&Signed| {
            let Some((author, counter)) = signed.dot() else { return false };
            let is_newer = counter > self.counter(author);
            author.is_kin(&actor) && (is_newer || self.trail.contradicts(signed))
        };
        // Anyone can name us as an author; only a copy of this node can sign for it.
        let is_ours = |signed: &Signed| signed.node() == actor.node && signed.verify().is_ok();
        offer.all().filter(is_unknown).any(is_ours)
    }

    /// Takes what is here from an epoch that a copy of this node has gone on in to the one of
    /// `author`: nobody can tell any more what a counter of the old one stands for.
    pub fn leave(&mut self, old: Actor, author: &Author) {
        let is_of_it = |head: &&Signed| head.vector.iter().any(|(actor, _)| actor.is_kin(&old));
        let heads: Vec<RevisionId> = self.heads.values().filter(is_of_it).map(Signed::id).collect();
        for id in heads {
            self.write_again(id, author, |actor| actor.is_kin(&old));
        }
        // Nothing is forgotten before the offer shows where the copy parted.
    }

    /// Whether `over` can be believed when its vector covers that of `old`.
    pub(super) fn is_believed(&self, over: &Signed, old: &Signed) -> bool {
        if over.compare(old) != Order::Equal {
            return self.forked(&old.vector).is_empty();
        }
        // Two merges of the same heads may differ; each of them accounts for all that it covers.
        let are_merges = over.author.is_none() && old.author.is_none();
        over.is_same(old) || are_merges && self.forked(&old.vector).is_empty()
    }

    /// Writes a head once more, under a counter of our own, without those that prove nothing.
    pub(super) fn adopt(&mut self, old: RevisionId, author: &Author) {
        let Some(head) = self.heads.get(&old) else { return };
        let mut forked = self.forked(&head.vector);
        let equals: Vec<&Signed> =
            self.heads.values().filter(|other| other.vector == head.vector).collect();
        if equals.len() > 1 {
            forked.extend(equals.into_iter().filter_map(|equal| equal.author));
        }
        self.write_again(old, author, |actor| forked.contains(actor));
    }

    fn write_again(&mut self, id: RevisionId, author: &Author, is_out: impl Fn(&Actor) -> bool) {
        let Some(head) = self.heads.get(&id).cloned() else { return };
        self.retire(id);
        let mut again = self.joined(&[&head], head.content());
        again.know(head.knowledge().map(|vector| vector.without(&is_out)));
        again.deleted = head.deleted;
        let again = Signed::new(self.authored(again, author), &author.secret);
        self.heads.insert(again.id(), again);
    }

    /// The actors that are known to have forked up to where a vector has come.
    pub(super) fn forked(&self, seen: &Vector) -> BTreeSet<Actor> {
        let forks = self.forks().into_iter();
        let seen = forks.filter(|(actor, counter)| *counter <= seen.get(actor));
        seen.map(|(actor, _)| actor).collect()
    }

    /// Where actors are known to have forked first: they counted a number twice, or wrote a greater
    /// one no later than a lesser.
    pub(super) fn forks(&self) -> BTreeMap<Actor, u64> {
        let mut forks: BTreeMap<Actor, u64> = self.trail.forks().collect();
        for (actor, late) in self.late() {
            let first = forks.entry(actor).or_insert(late.counter);
            *first = late.counter.min(*first);
        }
        forks
    }

    /// The revisions that show by their time alone that an actor forked.
    pub(super) fn late_sides(&self) -> impl Iterator<Item = RevisionId> {
        self.late().into_values().flat_map(|late| late.sides)
    }

    /// The first counter of each actor after which a greater one was written no later.
    fn late(&self) -> BTreeMap<Actor, Late> {
        let dots = self.known().filter_map(|signed| {
            let (actor, counter) = signed.dot()?;
            Some(Dot { actor, counter, written: signed.modified_at, id: signed.id() })
        });
        let mut dots: Vec<Dot> = dots.collect();
        dots.sort_unstable();
        let mut late = BTreeMap::new();
        // The earliest of all greater counters of an actor.
        let mut earliest: Option<Dot> = None;
        for dot in dots.into_iter().rev() {
            let first = earliest.filter(|first| first.actor == dot.actor);
            if let Some(first) = first.filter(|first| dot.written >= first.written) {
                late.insert(dot.actor, Late { counter: dot.counter, sides: [dot.id, first.id] });
            }
            let earlier = first.filter(|first| first.written <= dot.written);
            earliest = Some(earlier.unwrap_or(dot));
        }
        late
    }
}
