//! How a replica grows: it takes what another node offers, offers what is here or what a node is given that
//! sees a part of it, and writes revisions: an edit, the end of a conflict, a deletion.

use super::merged::named;
use super::{Author, Content, HEADS_MAX, OFFER_MAX, Replica};
use crate::peer::NodeSecret;
use crate::revision::knowledge::Knowledge;
use crate::revision::offer::{AHEAD_MAX, Offer, Refused, Vouched, check, check_clock};
use crate::revision::vector::{Actor, COUNTER_MAX, Vector};
use crate::revision::{Revision, RevisionId, Signed};
use crate::view::View;
use jiff::{SignedDuration, Timestamp};
use std::collections::{BTreeMap, BTreeSet};

/// What receiving an offer changed. A revision that was made of others here, because they say the
/// same, has the content of its parents: its `parts` name it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ReplicaChange {
    /// Revisions whose content belongs here now and did not before.
    pub gained: Vec<RevisionId>,
    /// Revisions whose content is not needed here any more.
    pub dropped: Vec<RevisionId>,
}

impl ReplicaChange {
    /// Whether nothing changed.
    pub fn is_none(&self) -> bool {
        self.gained.is_empty() && self.dropped.is_empty()
    }
}

impl Replica {
    /// What another node hears.
    pub fn offer(&self) -> Offer {
        Offer {
            session: self.session,
            heads: self.heads.values().cloned().collect(),
            kept: self.kept.values().cloned().collect(),
            history: self.history.values().cloned().collect(),
            trail: self.trail.clone(),
        }
    }

    /// Takes what another node offers: all or nothing. `author` is this node, which signs what it
    /// joins or adopts. Ask [`is_cloned`](Self::is_cloned) first.
    pub fn receive(&mut self, offer: &Offer, author: &Author) -> Result<ReplicaChange, Refused> {
        let vouched = self.check(offer, author.now)?;
        let before: BTreeSet<RevisionId> = self.whole().map(Signed::id).collect();
        let mut after = self.clone();
        offer.all().for_each(|signed| after.trail.note(signed));
        after.trail.join(&offer.trail, |actor| vouched.of(actor));
        for signed in offer.kept.iter().chain(&offer.history) {
            after.remember(signed);
        }
        after.fold(&offer.heads, author);
        if after.heads.len() > HEADS_MAX {
            return Err(Refused::TooManyHeads { limit: HEADS_MAX });
        }
        after.settle();
        *self = after;
        let now: BTreeSet<RevisionId> = self.whole().map(Signed::id).collect();
        Ok(ReplicaChange {
            gained: now.difference(&before).copied().collect(),
            dropped: before.difference(&now).copied().collect(),
        })
    }

    /// Checks an offer: its size, every signature, and every claim. Returns what is vouched for.
    fn check(&self, offer: &Offer, now: Timestamp) -> Result<Vouched, Refused> {
        let found = offer.all().count();
        if found > OFFER_MAX {
            return Err(Refused::TooLong { limit: OFFER_MAX, found });
        }
        // What is here was checked when it came.
        let is_new = |signed: &&Signed| self.find(signed.id()) != Some(*signed);
        offer.all().filter(is_new).try_for_each(|signed| check(signed, self.session))?;
        offer.heads.iter().filter(is_new).try_for_each(|head| check_clock(head, now))?;
        let vouched = Vouched::by(offer.all().chain(self.known()));
        offer.all().try_for_each(|signed| vouched.expect(signed))?;
        offer.heads.iter().try_for_each(|head| self.check_siblings(head, offer))?;
        Ok(vouched)
    }

    /// Checks that the losers that a head names are there with their content.
    fn check_siblings(&self, head: &Signed, offer: &Offer) -> Result<(), Refused> {
        let is_here = |id| self.whole().any(|signed| signed.id() == id);
        let missing = head.conflicts.iter().find(|id| offer.find(**id).is_none() && !is_here(**id));
        match missing {
            Some(missing) => Err(Refused::Incomplete { revision: head.id(), missing: *missing }),
            None => Ok(()),
        }
    }
}

impl Signed {
    /// Whether nothing of it is out of a view.
    pub fn is_within(&self, view: &View) -> bool {
        view.is_whole() || self.knowledge().views().all(|own| view.contains(own))
    }

    /// Whether something of it is in a view.
    pub fn is_seen(&self, view: &View) -> bool {
        self.knowledge().through(view).views().next().is_some()
    }

    /// What of it is in a view, as a revision: `content` is what is left of it, and `conflicts` what is
    /// left of the losers that it names. It advances no counter, so every node that shows one the same
    /// writes the same.
    #[must_use]
    pub fn seen_through(
        &self,
        view: &View,
        content: Content,
        mut conflicts: Vec<RevisionId>,
        secret: &NodeSecret,
    ) -> Self {
        conflicts.sort_unstable();
        conflicts.dedup();
        let mut seen = Revision {
            version: self.version.saturating_add(1),
            parents: vec![self.id()],
            author: None,
            checksum: content.checksum,
            parts: content.parts,
            size: content.size,
            conflicts,
            about: BTreeMap::new(),
            name: content.name,
            description: content.description,
            origin: content.origin,
            ..Revision::clone(self)
        };
        seen.know(self.knowledge().through(view));
        Self::new(seen, secret)
    }
}

impl Replica {
    /// What a node hears that sees a part of the session: in the place of each head, and of each loser, what
    /// it sees of that, or nothing. One that is not named here is given as it is.
    pub fn offer_seen(&self, seen: &BTreeMap<RevisionId, Option<Signed>>) -> Offer {
        let mut offer = self.offer();
        let shown = |head: &Signed| match seen.get(&head.id()) {
            None => Some(head.clone()),
            Some(seen) => seen.clone(),
        };
        let heads: Vec<Signed> = offer.heads.iter().filter_map(shown).collect();
        let named: BTreeSet<RevisionId> =
            heads.iter().flat_map(|head| head.conflicts.iter().copied()).collect();
        let kept = offer.kept.iter().filter_map(shown).filter(|kept| named.contains(&kept.id()));
        let kept: Vec<Signed> = kept.collect();
        let told: BTreeSet<RevisionId> = heads.iter().chain(&kept).map(Signed::id).collect();
        let hidden = offer.heads.into_iter().chain(offer.kept);
        offer.history.extend(hidden.filter(|signed| !told.contains(&signed.id())));
        (offer.heads, offer.kept) = (heads, kept);
        offer
    }
}

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
