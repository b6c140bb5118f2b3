//! Takes what another node offers, and offers what is here, or what a node is given that sees a part of it.

use super::{Author, Content, HEADS_MAX, OFFER_MAX, Replica};
use crate::peer::NodeSecret;
use crate::revision::offer::{Offer, Refused, Vouched, check, check_clock};
use crate::revision::{Revision, RevisionId, Signed};
use crate::view::View;
use jiff::Timestamp;
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
