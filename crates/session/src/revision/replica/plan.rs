//! Which heads are merged, and what stands in their place.
//!
//! The one idea: every node that merges two heads writes the same revision, which advances nobody's
//! counter. So two nodes that merge at once agree.

use super::{Author, Content, Replica};
use crate::revision::witness::NAMED_MAX;
use crate::revision::{Actor, Order, RevisionId, Signed};
use std::cmp::Reverse;

/// Two heads that can be merged: both come from one revision.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MergePlan {
    /// What both come from.
    pub base: Signed,
    /// The head whose sites win where both changed one.
    pub winner: Signed,
    /// The other head.
    pub loser: Signed,
}

impl Replica {
    /// The two heads to merge next; none when there are no two of one origin that is known here.
    pub fn merge_plan(&self) -> Option<MergePlan> {
        let mut heads: Vec<&Signed> = self.heads.values().filter(|head| !head.deleted).collect();
        heads.sort_by_key(|head| Reverse(head.rank()));
        let [winner, loser, ..] = heads.as_slice() else { return None };
        if winner.conflicts.len() + loser.conflicts.len() >= NAMED_MAX {
            return None;
        }
        let base = self.base_of(winner, loser)?.clone();
        Some(MergePlan { base, winner: (*winner).clone(), loser: (*loser).clone() })
    }

    /// The revision that has seen what both have seen, and nothing else: both were made of it, and it
    /// of all else that both were made of. Its vector shows that nothing forgotten lies between; of an
    /// epoch in which a copy has written a vector shows nothing, so there only ancestors count.
    fn base_of(&self, one: &Signed, other: &Signed) -> Option<&Signed> {
        let forked = self.forked(&one.vector.clone().join(&other.vector));
        let is_forked = |actor: &Actor| forked.iter().any(|forked| forked.is_kin(actor));
        let meet = one.vector.meet(&other.vector).without(is_forked);
        let is_common =
            |old: &&Signed| self.is_ancestor(old.id(), one) && self.is_ancestor(old.id(), other);
        let common: Vec<&Signed> = self.known().filter(is_common).collect();
        let is_nearest = |base: &Signed| {
            let mut others = common.iter().filter(|old| old.id() != base.id());
            others.all(|old| self.is_made_of(base, old))
        };
        let mut bases = common.iter().copied().filter(|base| base.vector.covers(&meet));
        bases.find(|base| !base.deleted && is_nearest(base))
    }

    /// Whether a revision was made of another one: by its ancestors, or, when they are forgotten, by
    /// its vector.
    fn is_made_of(&self, revision: &Signed, old: &Signed) -> bool {
        let is_covered = revision.vector.compare(&old.vector) == Order::After;
        self.is_ancestor(old.id(), revision) || is_covered && self.is_believed(revision, old)
    }

    /// Puts a merge in the place of its two heads. Every node that merges them writes the same
    /// revision: it advances no counter. `lost` says whether the loser has something that the merge
    /// has not, and is kept. What the loser had left out before is no loss where the winner has it.
    pub fn merge(
        &mut self,
        plan: &MergePlan,
        content: Content,
        lost: bool,
        author: &Author,
    ) -> Signed {
        let is_all_the_winners = content.checksum == plan.winner.checksum;
        let mut merged = self.joined(&[&plan.winner, &plan.loser], content);
        if is_all_the_winners {
            merged.conflicts.retain(|id| !self.accounts_for(&plan.winner, *id));
        }
        if lost {
            merged.conflicts.push(plan.loser.id());
            merged.conflicts.sort_unstable();
            merged.conflicts.dedup();
        }
        self.put(merged, author)
    }

    /// Whether a head says all that another revision said, or names who says the rest: it has seen it,
    /// and did not leave it out.
    fn accounts_for(&self, head: &Signed, id: RevisionId) -> bool {
        let Some(other) = self.find(id) else { return false };
        !head.conflicts.contains(&id)
            && head.vector.compare(&other.vector) == Order::After
            && self.is_believed(head, other)
    }
}
