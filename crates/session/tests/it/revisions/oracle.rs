//! The truth beside the model: which edit had seen which.
//!
//! The one idea: a revision stands for the *set of edits* that whoever wrote it had seen. That is
//! known here from what the users did, and from nothing that the model says. Revisions that say the
//! same stand for the same.

use baton_session::revision::Replica;
use baton_session::{RevisionId, Signed, Site};
use std::collections::HashMap;

/// Edits, each a bit.
pub(super) type Edits = u128;

/// How many sites there are.
const SITES: usize = 3;

/// All sites of which states hold something.
pub(super) fn sites() -> Vec<Site> {
    (0..SITES).map(|number| Site::of_host(&format!("site{number}.test"))).collect()
}

/// What each revision stands for.
#[derive(Debug, Default)]
pub(super) struct Oracle {
    seen: HashMap<RevisionId, Edits>,
    /// Of each edit the site that it changed; none of one that changed nothing.
    sites: Vec<Option<Site>>,
}

impl Oracle {
    /// Whether there is room for another edit.
    pub(super) fn has_room(&self) -> bool {
        self.sites.len() + SITES < Edits::BITS as usize
    }

    /// A new edit of these sites: one for each, because a merge may take some and leave others out.
    pub(super) fn edit(&mut self, sites: &[Site]) -> Edits {
        let first = self.sites.len();
        self.sites.extend(sites.iter().cloned().map(Some));
        if sites.is_empty() {
            self.sites.push(None);
        }
        (first..self.sites.len()).fold(0, |all, bit| all | 1 << bit)
    }

    /// Those of these edits that changed such a site, or nothing.
    pub(super) fn of(&self, edits: Edits, is_in: impl Fn(&Site) -> bool) -> Edits {
        let fits = |site: &Option<Site>| site.as_ref().is_none_or(&is_in);
        let bits = self.sites.iter().enumerate().filter(|(_, site)| fits(site));
        edits & bits.fold(0, |all, (bit, _)| all | 1 << bit)
    }

    /// What a revision stands for.
    pub(super) fn seen(&self, id: RevisionId) -> Edits {
        self.find(id).unwrap_or_else(|| panic!("nobody wrote {id}"))
    }

    /// What a revision stands for; none when nobody has written it.
    pub(super) fn find(&self, id: RevisionId) -> Option<Edits> {
        self.seen.get(&id).copied()
    }

    /// What several revisions stand for together.
    pub(super) fn all<'a>(&self, revisions: impl IntoIterator<Item = &'a Signed>) -> Edits {
        revisions.into_iter().fold(0, |all, signed| all | self.seen(signed.id()))
    }

    /// What a head stands for, with the losers that it names.
    pub(super) fn accounted(&self, head: &Signed, replica: &Replica) -> Edits {
        let named = head.conflicts.iter().filter_map(|id| replica.find(*id));
        self.seen(head.id()) | self.all(named)
    }

    /// Notes what a revision stands for.
    pub(super) fn note(&mut self, id: RevisionId, seen: Edits) {
        self.seen.insert(id, seen);
    }

    /// Notes the revisions that a node made of others by itself. Each has to say what those said.
    pub(super) fn learn(&mut self, replica: &Replica) {
        let heads: Vec<RevisionId> = replica.heads().map(Signed::id).collect();
        for id in heads {
            self.derive(id, replica);
        }
    }

    fn derive(&mut self, id: RevisionId, replica: &Replica) -> Edits {
        if let Some(seen) = self.find(id) {
            return seen;
        }
        let made = replica.find(id).unwrap_or_else(|| panic!("{id} is gone")).clone();
        let mut seen = 0;
        for parent in &made.parents {
            if let Some(parent) = replica.find(*parent) {
                assert_eq!(parent.checksum, made.checksum, "a node made up a state by itself");
            }
            seen |= self.derive(*parent, replica);
        }
        self.note(id, seen);
        seen
    }
}
