//! Writes revisions: an edit, the end of a conflict, a deletion.

use super::merged::named;
use super::{Author, Content, Replica};
use crate::revision::knowledge::Knowledge;
use crate::revision::offer::AHEAD_MAX;
use crate::revision::vector::{Actor, COUNTER_MAX, Vector};
use crate::revision::{Revision, RevisionId, Signed};
use jiff::{SignedDuration, Timestamp};

impl Replica {
    /// Writes a revision on top of `base`, the revision that the state comes from; none for the first one,
    /// and for a state of unknown origin. Whatever `base` had not seen stays beside it. What says nothing new
    /// is no edit: the revision that says it is returned. Where the session counts as deleted, that it lives
    /// is new.
    pub fn edit(&mut self, base: Option<&Signed>, content: Content, author: &Author) -> Signed {
        let base = self.standing(base.map(|base| self.lift(base)).cloned(), &content);
        if let Some(said) = self.said(base.as_ref(), &content) {
            return said.clone();
        }
        // A base from long ago vouches for what the edit says it has seen.
        if let Some(base) = &base {
            self.remember(base);
        }
        let mut draft = self.joined(&base.iter().collect::<Vec<_>>(), content);
        // A loser that is not here any more was decided about since.
        draft.conflicts.retain(|id| self.whole().any(|signed| signed.id() == *id));
        draft.about.retain(|id, _| draft.conflicts.contains(id));
        let draft = self.authored(draft, author);
        self.insert(draft, author)
    }

    /// Ends every conflict with one revision, which has seen all that is here.
    pub fn resolve(&mut self, content: Content, author: &Author) -> Signed {
        self.put_above_all(content, false, author)
    }

    /// Deletes the session: `content` holds nothing, see [`Content::deleted`].
    pub fn delete(&mut self, content: Content, author: &Author) -> Signed {
        self.put_above_all(content, true, author)
    }

    fn put_above_all(&mut self, content: Content, deleted: bool, author: &Author) -> Signed {
        let heads: Vec<Signed> = self.heads.values().cloned().collect();
        if let [only] = heads.as_slice()
            && (only.deleted, only.conflicts.len()) == (deleted, 0)
            && only.content() == content
        {
            return only.clone();
        }
        let draft = self.joined(&heads.iter().collect::<Vec<_>>(), content);
        let (conflicts, about) = Default::default();
        let draft = Revision { deleted, conflicts, about, ..self.authored(draft, author) };
        self.insert(draft, author)
    }

    /// The revision on top of which an edit is made. One that repeats what was deleted is made on no older
    /// one, for a revision that repeats its parent is taken for it, and the deletion has seen that one. Of a
    /// part of a session it is made on the deletion itself: without one it would speak of all of it.
    fn standing(&self, base: Option<Signed>, content: &Content) -> Option<Signed> {
        let deletion = self.current().filter(|current| current.deleted);
        match (base, deletion) {
            (Some(base), Some(deletion)) if !base.deleted && base.content() == *content => {
                base.is_partial().then(|| deletion.clone())
            }
            (base, _) => base,
        }
    }

    /// The revision that says this already: `base`, or without one any that is known.
    fn said<'a>(&'a self, base: Option<&'a Signed>, content: &Content) -> Option<&'a Signed> {
        if self.current().is_some_and(|current| current.deleted) {
            return None;
        }
        if let Some(base) = base {
            return (!base.deleted && base.content() == *content).then_some(base);
        }
        let says_it = |signed: &&Signed| {
            !signed.deleted && !signed.is_partial() && signed.checksum == content.checksum
        };
        self.known().find(says_it)
    }

    /// The head that says the same as `base` and has seen more, or `base` itself.
    fn lift<'a>(&'a self, base: &'a Signed) -> &'a Signed {
        let mut heads = self.heads.values();
        let above = heads.find(|head| head.is_same(base) && head.covers(base));
        above.unwrap_or(base)
    }

    /// A revision that has seen all of `on`, and no more.
    pub(super) fn joined(&self, on: &[&Signed], content: Content) -> Revision {
        let mut parents: Vec<RevisionId> = on.iter().map(|on| on.id()).collect();
        parents.sort_unstable();
        let (conflicts, about) = named(on);
        let version = on.iter().map(|on| on.version).max().unwrap_or(0);
        let knowledge = self.joint(on);
        Revision {
            session: self.session,
            version: version.saturating_add(1).min(COUNTER_MAX),
            parents,
            vector: knowledge.joined(),
            within: knowledge.into_within(),
            author: None,
            checksum: content.checksum,
            parts: content.parts,
            size: content.size,
            modified_at: on.iter().map(|on| on.modified_at).max().unwrap_or_default(),
            deleted: false,
            conflicts,
            about,
            name: content.name,
            description: content.description,
            origin: content.origin,
        }
    }

    /// The revision as one by this author, which advances a counter.
    pub(super) fn authored(&self, mut revision: Revision, author: &Author) -> Revision {
        let knowledge = revision.knowledge();
        let actor = self.line(&knowledge, author.actor);
        let counter = self.counter(actor) + 1;
        revision.know(knowledge.map(|mut vector| {
            vector.advance(actor, counter);
            vector
        }));
        revision.author = Some(actor);
        revision.modified_at = later(&revision, author.now);
        revision
    }

    /// The line of edits on which a revision is written that has seen this: one whose newest edit it
    /// has seen, or else a new one. On any other it would seem to have seen what it has not. All edits
    /// of a line speak of the same parts of the session.
    fn line(&self, seen: &Knowledge, first: Actor) -> Actor {
        let is_seen = |line: &Actor| {
            let newest = self.counter(*line);
            seen.vectors().all(|vector| vector.get(line) == newest)
                && self.extent(*line).is_none_or(|edit| edit.is_of_the_same(seen))
        };
        (0..=u32::MAX).map(|line| first.on_line(line)).find(is_seen).unwrap_or(first)
    }

    /// Of what the edits of a line speak; none when none of them is known.
    fn extent(&self, line: Actor) -> Option<Knowledge> {
        self.known().find(|signed| signed.author == Some(line)).map(|edit| edit.knowledge())
    }

    /// What these know together. What all edits of a line speak of is known everywhere once it is known
    /// there.
    fn joint(&self, on: &[&Signed]) -> Knowledge {
        let joint = on.iter().map(|on| on.knowledge()).reduce(|all, one| all.join(&one));
        let joint = joint.unwrap_or_else(|| Knowledge::whole(Vector::default()));
        if joint.is_plain() {
            return joint;
        }
        let known_of = |line: &Actor| {
            let views = self.extent(*line)?;
            let found: Option<Vec<u64>> =
                views.views().map(|view| Some(joint.throughout(view)?.get(line))).collect();
            found?.into_iter().min()
        };
        let all = joint.joined();
        let known: Vec<(Actor, u64)> =
            all.iter().filter_map(|(line, _)| Some((*line, known_of(line)?))).collect();
        joint.map(|mut vector| {
            for (line, counter) in known.iter().filter(|(_, counter)| *counter > 0) {
                vector.advance(*line, vector.get(line).max(*counter));
            }
            vector
        })
    }

    /// Signs a revision of our own and puts it among the heads.
    pub(super) fn insert(&mut self, revision: Revision, author: &Author) -> Signed {
        let signed = Signed::new(revision, &author.secret);
        self.trail.note(&signed);
        self.fold(std::slice::from_ref(&signed), author);
        self.settle();
        signed
    }
}

/// When a revision is written: now, but not before what it is made of, when a clock was set back. What is
/// made of something far ahead of now counts as now; else no node would ever take it.
fn later(revision: &Revision, now: Timestamp) -> Timestamp {
    if revision.parents.is_empty() {
        return now;
    }
    let after = revision.modified_at.saturating_add(SignedDuration::from_millis(1)).unwrap_or(now);
    if after.duration_since(now) > AHEAD_MAX { now } else { after.max(now) }
}
