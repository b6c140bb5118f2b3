//! What is remembered of older revisions, whose content is not here any more.
//!
//! The one idea: the newest are remembered, because they tell who had seen what; of each actor the
//! newest one, because it vouches for what others say they have seen of that actor; and the two that
//! show by their time where copies of a node parted, because no counter after that proves anything.
//! Of a thousand and more the counters are remembered, see [`trail`](crate::revision::trail).

use super::{HISTORY_MAX, Replica};
use crate::revision::actor::Actor;
use crate::revision::id::RevisionId;
use crate::revision::signed::Signed;
use std::collections::{BTreeMap, BTreeSet};

impl Replica {
    /// Remembers a revision that is not known yet.
    pub(super) fn remember(&mut self, signed: &Signed) {
        if self.find(signed.id()).is_none() {
            self.history.insert(signed.id(), signed.clone());
        }
    }

    /// Sorts what is known into what is whole and what is only remembered, and forgets the rest.
    pub(super) fn settle(&mut self) {
        self.history.append(&mut self.kept);
        let named: BTreeSet<RevisionId> =
            self.heads.values().flat_map(|head| head.conflicts.iter().copied()).collect();
        for id in named {
            if let Some(signed) = self.history.remove(&id) {
                self.kept.insert(id, signed);
            }
        }
        for signed in self.heads.values().chain(self.kept.values()).chain(self.history.values()) {
            self.trail.note(signed);
        }
        self.trail.shorten();
        let mut remembered = self.witnesses();
        remembered.extend(self.late_sides());
        remembered.extend(self.heads.values().flat_map(|head| head.parents.iter().copied()));
        remembered.extend(self.history.keys().rev().take(HISTORY_MAX));
        self.history.retain(|id, _| remembered.contains(id));
    }

    /// Of each actor its newest revision; two of one counter, of copies of a node, are both named.
    fn witnesses(&self) -> BTreeSet<RevisionId> {
        let mut newest: BTreeMap<Actor, (u64, Vec<RevisionId>)> = BTreeMap::new();
        for signed in self.known() {
            let Some((actor, counter)) = signed.dot() else { continue };
            let known = newest.entry(actor).or_default();
            if counter > known.0 {
                *known = (counter, Vec::new());
            }
            if counter == known.0 {
                known.1.push(signed.id());
            }
        }
        newest.into_values().flat_map(|(_, ids)| ids).collect()
    }
}
