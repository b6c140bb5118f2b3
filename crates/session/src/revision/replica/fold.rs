//! Puts heads together, and drops what others have seen.

use super::Replica;
use super::content::Author;
use crate::revision::id::RevisionId;
use crate::revision::signed::Signed;
use crate::revision::vector::Order;
use std::collections::BTreeSet;

/// What becomes of a head that cannot stay one.
enum Fate {
    /// Another one has seen it.
    Covered,
    /// Another one says so, and cannot be believed.
    Adopted,
}

/// Whether `other` stands before `old`: by what it has seen, or among equals by its name. Equals that
/// say the same with other losers beside them are joined instead, so that no loser goes.
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

/// Whether a revision only says that a part of a session was deleted which lives on as a whole: whoever
/// deletes what they see of it lets go of that, and of nothing else.
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

    /// Whether whoever wrote `head` had seen a revision: as an ancestor, or all that nodes made it of
    /// by themselves.
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
    pub(super) fn retire(&mut self, id: RevisionId) {
        if let Some(signed) = self.heads.remove(&id) {
            self.history.insert(id, signed);
        }
    }
}
