//! Puts a merge in the place of two heads, and names the losers that somebody has to decide about.
//!
//! The one idea: a loser is named for as long as something of it is left out that nobody has decided
//! about. Where the merge says it again, it is not left out. Where the other side had seen it and did
//! not leave it out, that was a decision; it counts for all that the merge does not take from the side
//! that names the loser.

use super::Replica;
use super::content::{Author, Content};
use super::plan::MergePlan;
use crate::revision::Revision;
use crate::revision::id::RevisionId;
use crate::revision::merge::Decisions;
use crate::revision::merge::LeftOut;
use crate::revision::signed::Signed;
use crate::revision::vector::Order;
use crate::revision::witness::LEFT_OUT_MAX;
use std::collections::{BTreeMap, BTreeSet};

/// What losers had that is left out; of one that is not in it that may be anything.
type About = BTreeMap<RevisionId, BTreeSet<LeftOut>>;

impl Replica {
    /// Puts a merge in the place of its two heads. Every node that merges them writes the same
    /// revision: it advances no counter.
    pub fn merge(
        &mut self,
        plan: &MergePlan,
        content: Content,
        decisions: &Decisions,
        author: &Author,
    ) -> Signed {
        let mut merged = self.joined(&[&plan.winner, &plan.loser], content);
        for left in merged.about.values_mut() {
            left.retain(|left| !decisions.says(left));
        }
        merged.conflicts.retain(|id| {
            let about = merged.about.get(id);
            self.is_undecided(plan, *id, about, decisions)
        });
        self.drop_views(&mut merged);
        let left = decisions.left_out();
        if !left.is_empty() {
            name(&mut merged, plan.loser.id(), left);
        }
        let Revision { conflicts, about, .. } = &mut merged;
        about.retain(|id, left| conflicts.contains(id) && left.len() <= LEFT_OUT_MAX);
        self.put(merged, author)
    }

    /// Names no loser as somebody sees it who sees a part, when it is named as it is.
    fn drop_views(&self, merged: &mut Revision) {
        let named = merged.conflicts.clone();
        let is_view_of_named = |id: &RevisionId| {
            let found = self.find(*id).filter(|found| found.is_view());
            found.is_some_and(|found| found.parents.iter().any(|parent| named.contains(parent)))
        };
        merged.conflicts.retain(|id| !is_view_of_named(id));
    }

    /// Whether a loser that one of the two heads names, or both, waits for a decision still.
    fn is_undecided(
        &self,
        plan: &MergePlan,
        id: RevisionId,
        about: Option<&BTreeSet<LeftOut>>,
        decisions: &Decisions,
    ) -> bool {
        let [by_winner, by_loser] =
            [&plan.winner, &plan.loser].map(|head| head.conflicts.contains(&id));
        let other = if by_winner { &plan.loser } else { &plan.winner };
        let is_left_out = about.is_none_or(|left| !left.is_empty());
        // In views somebody may be ahead who left it out.
        let is_plain = plan.winner.within.is_empty() && plan.loser.within.is_empty();
        let is_answered = is_plain
            && !(by_winner && by_loser)
            && self.accounts_for(other, id)
            && !decisions.takes(about, by_loser);
        is_left_out && !is_answered
    }

    /// Whether a head says all that another revision said, or names who says the rest: it has seen it,
    /// and did not leave it out.
    fn accounts_for(&self, head: &Signed, id: RevisionId) -> bool {
        let Some(other) = self.find(id) else { return false };
        !head.conflicts.contains(&id)
            && head.compare(other) == Order::After
            && self.is_believed(head, other)
    }
}

/// Names one more loser.
fn name(revision: &mut Revision, loser: RevisionId, left: BTreeSet<LeftOut>) {
    if let Err(place) = revision.conflicts.binary_search(&loser) {
        revision.conflicts.insert(place, loser);
        revision.about.insert(loser, left);
    } else if let Some(about) = revision.about.get_mut(&loser) {
        about.extend(left);
    }
}

/// The losers that these name, sorted, and what of them is left out.
pub(super) fn named(by: &[&Signed]) -> (Vec<RevisionId>, About) {
    let mut about: BTreeMap<RevisionId, Option<BTreeSet<LeftOut>>> = BTreeMap::new();
    for head in by {
        for id in &head.conflicts {
            let known = about.entry(*id).or_insert_with(|| Some(BTreeSet::new()));
            let more = head.about.get(id);
            *known = known.take().zip(more).map(|(known, more)| &known | more);
        }
    }
    let conflicts = about.keys().copied().collect();
    (conflicts, about.into_iter().filter_map(|(id, left)| Some((id, left?))).collect())
}
