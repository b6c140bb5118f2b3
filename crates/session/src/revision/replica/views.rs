//! What of a session's revisions somebody is given who sees a part of it.

use super::Replica;
use super::content::Content;
use crate::identity::NodeSecret;
use crate::revision::Revision;
use crate::revision::id::RevisionId;
use crate::revision::offer::Offer;
use crate::revision::signed::Signed;
use crate::view::View;
use std::collections::{BTreeMap, BTreeSet};

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
    /// What is told to a node that sees a part of the session: in the place of each head, and of each
    /// loser, what it sees of that, or nothing. One that is not named here is told as it is.
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
