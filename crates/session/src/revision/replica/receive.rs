//! Takes what another node offers, and offers what is here.

use super::content::Author;
use super::{HEADS_MAX, OFFER_MAX, Replica};
use crate::revision::id::RevisionId;
use crate::revision::offer::Offer;
use crate::revision::refused::Refused;
use crate::revision::signed::Signed;
use crate::revision::witness::{Vouched, check, check_clock};
use jiff::Timestamp;
use std::collections::BTreeSet;

/// What receiving an offer changed. A revision that was made of others here, because they say the
/// same, has the content of its parents: its `parts` name it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Change {
    /// Revisions whose content belongs here now and did not before.
    pub gained: Vec<RevisionId>,
    /// Revisions whose content is not needed here any more.
    pub dropped: Vec<RevisionId>,
}

impl Change {
    /// Whether nothing changed.
    pub fn is_none(&self) -> bool {
        self.gained.is_empty() && self.dropped.is_empty()
    }
}

impl Replica {
    /// What is told to another node.
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
    pub fn receive(&mut self, offer: &Offer, author: &Author) -> Result<Change, Refused> {
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
        Ok(Change {
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
