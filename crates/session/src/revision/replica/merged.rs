//! Says which heads are merged, puts the merge in their place, and names the losers that a person has to
//! decide about.
//!
//! The one idea: a loser is named for as long as something of it is left out that no person has decided
//! about. Where the merge says it again, it is not left out. Where the other side had seen it and did not
//! leave it out, that was a decision; it counts for all that the merge does not take from the side that names
//! the loser.

use super::{Author, Content, Replica};
use crate::revision::knowledge::Knowledge;
use crate::revision::merge::{Decisions, LeftOut};
use crate::revision::offer::{LEFT_OUT_MAX, NAMED_MAX};
use crate::revision::vector::{Actor, Order, Vector};
use crate::revision::{Revision, RevisionId, Signed};
use crate::storage::Site;
use crate::view::StateKind;
use std::cmp::Reverse;
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
        let left = decisions.left_out();
        if !left.is_empty() {
            name(&mut merged, plan.loser.id(), left);
        }
        self.name_for_views(&mut merged);
        let Revision { conflicts, about, .. } = &mut merged;
        about.retain(|id, left| conflicts.contains(id) && left.len() <= LEFT_OUT_MAX);
        self.insert(merged, author)
    }

    /// Names no loser as a node sees it that sees a part, when it is named as it is: then what is left out
    /// of the view is left out of that one.
    fn name_for_views(&self, merged: &mut Revision) {
        let named_for = |view: &RevisionId| {
            let found = self.find(*view).filter(|found| found.is_view())?;
            let mut parents = found.parents.iter().copied();
            parents.find(|parent| merged.conflicts.contains(parent))
        };
        let views = merged.conflicts.iter().filter_map(|view| Some((*view, named_for(view)?)));
        let views: Vec<_> = views.collect();
        // They are sorted, and a view comes behind what it is of: one of another view goes before that one.
        for (view, whole) in views.into_iter().rev() {
            merged.conflicts.retain(|id| *id != view);
            let left = merged.about.remove(&view).zip(merged.about.remove(&whole));
            // Where one of the two may leave out anything, both together do.
            if let Some((of_view, of_whole)) = left {
                merged.about.insert(whole, &of_view | &of_whole);
            }
        }
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
        // In views a side may be ahead that left it out.
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

/// Two heads that can be merged: both come from one revision, or each says what is newest somewhere.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MergePlan {
    /// What both come from, where both changed something: any of these, for there they say the same.
    /// None when one of the two has seen the other wherever both speak.
    pub bases: Vec<Signed>,
    /// The head whose sites win where both changed one.
    pub winner: Signed,
    /// The other head.
    pub loser: Signed,
}

/// The places in which neither of two has seen the other.
struct Contested {
    one: Knowledge,
    other: Knowledge,
}

impl Contested {
    /// What both have seen in a place in which neither has seen the other; none elsewhere.
    fn seen(&self, (site, kind): &(Option<Site>, StateKind)) -> Option<Vector> {
        let [here, there] = [&self.one, &self.other].map(|of| of.at((site.as_ref(), *kind)));
        let (here, there) = (here?, there?);
        (here.compare(&there) == Order::Concurrent).then(|| here.meet(&there))
    }

    /// Whether there is no such place.
    fn is_none(&self) -> bool {
        let places = Knowledge::places(&[&self.one, &self.other]);
        places.iter().all(|place| self.seen(place).is_none())
    }

    /// Whether a node has seen in each of them what both have, and no more. A site that the two do not tell
    /// from others may be one in which `base` has seen more than in those.
    fn is_known(&self, base: &Knowledge) -> bool {
        let is_it = |place: &(Option<Site>, StateKind)| {
            let seen = self.seen(place);
            seen.is_none() || base.at((place.0.as_ref(), place.1)) == seen
        };
        Knowledge::places(&[&self.one, &self.other, base]).iter().all(is_it)
    }
}

impl Replica {
    /// The two heads to merge next, the latest first; none when there are no two of one origin that is
    /// known here. Those come before all others about which nothing is to be decided.
    pub fn merge_plan(&self) -> Option<MergePlan> {
        self.settled_plan().or_else(|| self.first_plan(|_| true))
    }

    /// Two heads of which each says what is newest somewhere, and about which nothing is to be decided.
    pub fn settled_plan(&self) -> Option<MergePlan> {
        let is_plain = self.heads.values().all(|head| head.within.is_empty());
        if is_plain { None } else { self.first_plan(|plan| plan.bases.is_empty()) }
    }

    fn first_plan(&self, fits: impl Fn(&MergePlan) -> bool) -> Option<MergePlan> {
        let mut heads: Vec<&Signed> = self.heads.values().filter(|head| !head.deleted).collect();
        heads.sort_by_key(|head| Reverse(head.rank()));
        let mut heads = heads.as_slice();
        // All pairs: two that stay apart keep no others from being merged.
        while let [winner, losers @ ..] = heads {
            let mut plans = losers.iter().filter_map(|loser| self.plan(winner, loser));
            if let Some(plan) = plans.find(&fits) {
                return Some(plan);
            }
            heads = losers;
        }
        None
    }

    fn plan(&self, winner: &Signed, loser: &Signed) -> Option<MergePlan> {
        if winner.conflicts.len() + loser.conflicts.len() >= NAMED_MAX {
            return None;
        }
        let bases = match (winner.within.as_slice(), loser.within.as_slice()) {
            ([], []) => vec![self.base_of(winner, loser)?.clone()],
            _ => self.bases_in_views(winner, loser)?,
        };
        Some(MergePlan { bases, winner: winner.clone(), loser: loser.clone() })
    }

    /// The same of two of which one at least speaks of views: what says in every place, in which neither
    /// has seen the other, what both have seen there and no more. Where a copy has written vectors prove
    /// nothing, and then nothing is merged.
    fn bases_in_views(&self, one: &Signed, other: &Signed) -> Option<Vec<Signed>> {
        if !self.forked(&one.vector.clone().join(&other.vector)).is_empty() {
            return None;
        }
        let contested = Contested { one: one.knowledge(), other: other.knowledge() };
        if contested.is_none() {
            return Some(Vec::new());
        }
        let fits = |base: &&Signed| !base.deleted && contested.is_known(&base.knowledge());
        let bases: Vec<Signed> = self.known().filter(fits).cloned().collect();
        (!bases.is_empty()).then_some(bases)
    }

    /// The revision that has seen what both have seen, and nothing else: both were made of it, and it
    /// of all else that both were made of. Its vector shows that nothing forgotten lies between; of an
    /// epoch in which a copy has written a vector shows nothing, so there only ancestors count.
    fn base_of(&self, one: &Signed, other: &Signed) -> Option<&Signed> {
        let forked = self.forked(&one.vector.clone().join(&other.vector));
        let is_forked = |actor: &Actor| forked.iter().any(|forked| forked.is_kin(actor));
        let meet = one.vector.meet(&other.vector).without(is_forked);
        let [of_one, of_other] = [one, other].map(|head| self.ancestors(head));
        let common: Vec<&Signed> =
            of_one.intersection(&of_other).filter_map(|id| self.find(*id)).collect();
        let mut bases = common.iter().copied().filter(|base| base.vector.covers(&meet));
        bases.find(|base| {
            !base.deleted
                && base.within.is_empty()
                && self.is_made_of(base, &common)
                && self.is_all_shared(base, one, other)
        })
    }

    /// Whether nothing that a copy wrote can be in both heads without being in their base. No vector
    /// tells of it, so one of the two must be known all the way down to the base; and what it has from
    /// a copy must not hide in what is forgotten of the other.
    fn is_all_shared(&self, base: &Signed, one: &Signed, other: &Signed) -> bool {
        let forks = self.forks();
        if forks.is_empty() {
            return true;
        }
        let is_of_copy = |signed: &Signed| {
            let author = signed.author;
            author.is_some_and(|author| forks.keys().any(|forked| forked.is_kin(&author)))
        };
        match [one, other].map(|head| self.above(base, head)) {
            [Some(_), Some(_)] => true,
            [Some(known), None] | [None, Some(known)] => !known.into_iter().any(is_of_copy),
            [None, None] => false,
        }
    }

    /// What `head` was made of beyond `base`, itself included; none when some of it is forgotten.
    fn above(&self, base: &Signed, head: &Signed) -> Option<Vec<&Signed>> {
        let mut done = self.ancestors(base);
        done.insert(base.id());
        let mut above = Vec::new();
        let mut open = vec![head.id()];
        while let Some(next) = open.pop() {
            if done.insert(next) {
                let found = self.find(next)?;
                open.extend(&found.parents);
                above.push(found);
            }
        }
        Some(above)
    }

    /// Whether a revision was made of all these: by its ancestors, or, where they are forgotten, by its
    /// vector.
    fn is_made_of(&self, revision: &Signed, all: &[&Signed]) -> bool {
        let ancestors = self.ancestors(revision);
        let is_covered =
            |old: &Signed| revision.compare(old) == Order::After && self.is_believed(revision, old);
        let mut others = all.iter().filter(|old| old.id() != revision.id());
        others.all(|old| ancestors.contains(&old.id()) || is_covered(old))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::id::PartHash;
    use crate::peer::NodeSecret;
    use crate::revision::{Epoch, Origin};
    use crate::view::View;

    #[test]
    fn what_is_left_out_of_a_view_of_a_view_is_left_out_of_what_both_are_of() {
        let secret = NodeSecret::from_seed(&[1; 32]);
        let node = secret.key().node_id();
        let now = "2026-03-01T12:00:00Z".parse().unwrap();
        let (actor, hash) = (Actor::new(node, Epoch::new([1; 8])), PartHash::of(b"shop"));
        let content = Content {
            checksum: hash,
            parts: hash,
            size: 1,
            name: "shop".parse().unwrap(),
            description: String::new(),
            origin: Origin { node, created_at: now, created_by: "ada".to_owned() },
        };
        let author = Author { actor, secret: secret.clone(), now };
        let session = "0197c0de-5100-7000-8000-000000000002".parse().unwrap();
        let mut replica = Replica::new(session);
        let view = |hosts: &[&str]| View {
            sites: Some(hosts.iter().map(|host| Site::of_host(host)).collect()),
            kinds: None,
        };
        let through = |signed: &Signed, hosts: &[&str]| {
            signed.seen_through(&view(hosts), content.clone(), Vec::new(), &secret)
        };
        let whole = replica.edit(None, content.clone(), &author);
        let seen = through(&whole, &["shop.test", "bank.test"]);
        let less = through(&seen, &["bank.test"]);
        replica.remember(&seen);
        replica.remember(&less);
        let left = |digit: &str| -> LeftOut {
            format!("{}-{}", digit.repeat(8), digit.repeat(32)).parse().unwrap()
        };
        let mut merged = replica.joined(&[&whole], content.clone());
        merged.conflicts = vec![whole.id(), seen.id(), less.id()];
        let of = |signed: &Signed, digit: &str| (signed.id(), BTreeSet::from([left(digit)]));
        merged.about = [of(&whole, "a"), of(&seen, "b"), of(&less, "c")].into();
        replica.name_for_views(&mut merged);
        assert_eq!(merged.conflicts, [whole.id()]);
        let all = BTreeSet::from([left("a"), left("b"), left("c")]);
        assert_eq!(merged.about, BTreeMap::from([(whole.id(), all)]));
    }
}
