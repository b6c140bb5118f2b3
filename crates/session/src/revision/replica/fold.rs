//! Puts heads together, drops what others have seen, and parts copies of one node that have counted the
//! same number twice.
//!
//! The one idea: a copy is a *fork* of a node's counters, and a vector with such a counter in it proves
//! nothing. What it only seems to cover is *adopted*: written once more, under a counter of our own and
//! without the forked ones, so that nothing covers it that has not seen it.
//!
//! A fork shows in two revisions that bear one counter, which the trail remembers. When that is forgotten too
//! it shows in time: a node that goes on is later than what it goes on from, so a counter that was written no
//! later than a lesser one was not written after it.

use super::{Author, Replica};
use crate::revision::offer::Offer;
use crate::revision::vector::{Actor, Order, Vector};
use crate::revision::{RevisionId, Signed};
use jiff::Timestamp;
use std::collections::{BTreeMap, BTreeSet};

/// What becomes of a head that cannot stay one.
enum Fate {
    /// Another one has seen it.
    Covered,
    /// Another one says so, and cannot be believed.
    Adopted,
}

/// Whether `other` comes before `old`: by what it has seen, or among equals by its name. Equals that say the
/// same with other losers beside them are joined instead, so that no loser goes.
fn covers(other: &Signed, old: &Signed) -> bool {
    match other.compare(old) {
        Order::After => true,
        Order::Equal if other.is_same(old) && are_joined(other, old) => false,
        Order::Equal => other.id() < old.id(),
        Order::Before | Order::Concurrent => false,
    }
}

/// Whether equals name other losers, or are of copies of one node.
fn are_joined(one: &Signed, other: &Signed) -> bool {
    one.conflicts != other.conflicts || one.author.is_some() && other.author.is_some()
}

/// Whether a revision only says that a part of a session was deleted which lives on as a whole: a node that
/// deletes what it sees of it lets go of that, and of nothing else.
fn is_gone_in_part(old: &Signed, other: &Signed) -> bool {
    old.deleted && old.is_partial() && !other.deleted && !old.speaks_of(other)
}

/// Whether a revision says nothing else than its parent.
fn repeats(signed: &Signed, parent: &Signed) -> bool {
    let says = |one: &Signed| (one.content(), one.deleted, one.conflicts.clone());
    says(signed) == says(parent)
}

impl Replica {
    /// Puts heads together with those that are here.
    pub(super) fn fold(&mut self, incoming: &[Signed], author: &Author) {
        for signed in incoming {
            // What is known twice would seem to be a copy of itself.
            self.kept.remove(&signed.id());
            self.history.remove(&signed.id());
            self.heads.insert(signed.id(), signed.clone());
        }
        loop {
            let next = self.heads.values().find_map(|old| Some((old.id(), self.fate(old)?)));
            match next {
                Some((old, Fate::Covered)) => self.retire(old),
                Some((old, Fate::Adopted)) => self.adopt(old, author),
                None => match self.twins() {
                    Some(twins) => self.join(&twins, author),
                    None => return,
                },
            }
        }
    }

    /// What becomes of a head; none when it stays.
    fn fate(&self, old: &Signed) -> Option<Fate> {
        let others = || self.heads.values().filter(|other| other.id() != old.id());
        if others().any(|other| self.has_seen(other, old) || is_gone_in_part(old, other)) {
            return Some(Fate::Covered);
        }
        let mut over = others().filter(|other| covers(other, old)).peekable();
        over.peek()?;
        let is_believed = over.any(|other| self.is_believed(other, old));
        Some(if is_believed { Fate::Covered } else { Fate::Adopted })
    }

    /// Whether the writer of `head` had seen a revision: as an ancestor, or all that nodes made it of by
    /// themselves.
    fn has_seen(&self, head: &Signed, old: &Signed) -> bool {
        let mut open = vec![old.id()];
        let mut done = BTreeSet::new();
        while let Some(next) = open.pop() {
            if !done.insert(next) || self.is_ancestor(next, head) {
                continue;
            }
            let Some(made) = self.find(next).filter(|made| self.is_automatic(made)) else {
                return false;
            };
            open.extend(&made.parents);
        }
        true
    }

    /// Whether a revision has nothing that its parents have not: no user wrote it.
    fn is_automatic(&self, signed: &Signed) -> bool {
        match signed.parents.as_slice() {
            [] => false,
            [parent] => {
                signed.is_view() || self.find(*parent).is_some_and(|parent| repeats(signed, parent))
            }
            _ => signed.author.is_none(),
        }
    }

    /// Whether a revision is among those that `head` was made of, as far as they are known.
    fn is_ancestor(&self, id: RevisionId, head: &Signed) -> bool {
        self.ancestors(head).contains(&id)
    }

    /// The revisions that `head` was made of, as far as they are known. Of what it is only a view of it
    /// was not made.
    pub(super) fn ancestors(&self, head: &Signed) -> BTreeSet<RevisionId> {
        let mut open = vec![head];
        let mut ancestors = BTreeSet::new();
        while let Some(child) = open.pop() {
            for parent in &child.parents {
                let found = self.find(*parent);
                // One that is forgotten may have spoken of anything.
                let is_seen = match found {
                    Some(found) => child.speaks_of(found),
                    None => !child.is_partial(),
                };
                if is_seen && ancestors.insert(*parent) {
                    open.extend(found);
                }
            }
        }
        ancestors
    }

    /// Heads that say the same without having seen each other.
    fn twins(&self) -> Option<Vec<Signed>> {
        self.heads.values().find_map(|head| {
            let same = self.heads.values().filter(|other| other.is_same(head));
            let twins: Vec<Signed> = same.cloned().collect();
            (twins.len() > 1).then_some(twins)
        })
    }

    /// Puts one revision in the place of several that say the same. It advances no counter, so all
    /// nodes that join the same ones write the same.
    fn join(&mut self, twins: &[Signed], author: &Author) {
        let Some(first) = twins.iter().max_by_key(|twin| twin.rank()) else { return };
        let mut joined = self.joined(&twins.iter().collect::<Vec<_>>(), first.content());
        joined.deleted = first.deleted;
        let joined = Signed::new(joined, &author.secret);
        self.heads.insert(joined.id(), joined);
    }

    /// Remembers a head as an older revision.
    fn retire(&mut self, id: RevisionId) {
        if let Some(signed) = self.heads.remove(&id) {
            self.history.insert(id, signed);
        }
    }
}

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

    /// Takes what is here from an epoch that a copy of this node has gone on in to the one of `author`: it is
    /// not known any more what a counter of the old one means.
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
