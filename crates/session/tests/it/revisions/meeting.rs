//! How offers come from node to node, and what a node does with one.

use super::node::{advance, content};
use super::oracle::Edits;
use super::users::cookies_of;
use super::world::World;
use baton_session::revision::{MergePlan, MergedFrom, Offer, Refused, merge};
use baton_session::{Revision, Signed, Site};
use jiff::SignedDuration;
use std::collections::BTreeSet;

/// An offer that was made, with the edits that whoever made it had acknowledged.
#[derive(Debug, Clone)]
pub(super) struct Letter {
    offer: Offer,
    acknowledged: Edits,
}

impl World {
    pub(super) fn letter(&self, from: usize) -> Letter {
        let folder = &self.nodes[from].folder;
        Letter { offer: folder.replica.offer(), acknowledged: folder.acknowledged }
    }

    pub(super) fn sync(&mut self, from: usize, to: usize) {
        if from != to {
            let letter = self.letter(from);
            self.receive(to, &letter);
        }
    }

    pub(super) fn cross(&mut self, one: usize, other: usize) {
        let (there, back) = (self.letter(one), self.letter(other));
        if one != other {
            self.receive(other, &there);
            self.receive(one, &back);
        }
    }

    pub(super) fn forge(&mut self, from: usize, whom: usize, to: usize) {
        let [from, whom] = [from, whom].map(|at| self.nodes[at].clone());
        let Some(current) = from.folder.replica.current() else { return };
        if from.actor.node == whom.actor.node {
            return;
        }
        let mut revision = Revision { author: None, ..(**current).clone() };
        advance(&mut revision, whom.actor, 1 << 40);
        let mut offer = from.folder.replica.offer();
        offer.heads.push(Signed::new(revision, &from.secret));
        let author = self.nodes[to].author(self.time);
        let refused = self.nodes[to].folder.replica.receive(&offer, &author);
        assert!(matches!(refused, Err(Refused::Forged { .. })), "expected a refusal");
    }

    pub(super) fn deliver(&mut self, letter: u8, to: usize, is_last: bool) {
        if self.letters.is_empty() {
            return;
        }
        let position = usize::from(letter) % self.letters.len();
        let letter = self.letters[position].clone();
        if is_last {
            self.letters.remove(position);
        }
        self.receive(to, &letter);
    }

    pub(super) fn receive(&mut self, at: usize, letter: &Letter) {
        let epoch = self.epoch();
        let node = &mut self.nodes[at];
        let old = node.actor;
        if node.folder.replica.is_cloned(&letter.offer, old) {
            node.actor.epoch = epoch;
            let author = node.author(self.time);
            node.folder.replica.leave(old, &author);
        }
        let author = node.author(self.time);
        node.folder.replica.receive(&letter.offer, &author).unwrap();
        node.folder.acknowledged |= letter.acknowledged;
        self.settle(at);
    }

    /// Merges if the node does, and tells the oracle what the node made.
    pub(super) fn settle(&mut self, at: usize) {
        self.oracle.learn(&self.nodes[at].folder.replica);
        let author = self.nodes[at].author(self.time);
        while let Some(plan) = self.nodes[at].folder.replica.merge_plan() {
            if !self.nodes[at].merges {
                return;
            }
            self.expect_a_base(at, &plan);
            let [base, winner, loser] =
                [&plan.bases[0], &plan.winner, &plan.loser].map(|signed| self.state(signed));
            let merged = merge(&base, &winner, &loser);
            let content = content(&merged.state);
            self.states.insert(content.checksum, merged.state);
            let written = self.folder(at).replica.merge(&plan, content, &merged.decisions, &author);
            let contested =
                |site: &Site| merged.sites.contains(&(site.clone(), MergedFrom::Contested));
            let taken = self.oracle.of(self.oracle.seen(plan.loser.id()), |site| !contested(site));
            let seen = self.oracle.seen(plan.winner.id()) | taken;
            self.oracle.note(written.id(), seen | self.said_again(&plan, &written));
            self.oracle.learn(&self.nodes[at].folder.replica);
        }
    }

    /// What losers stand for that a merge names no more, as far as the merge says the same.
    fn said_again(&self, plan: &MergePlan, written: &Signed) -> Edits {
        let named = plan.winner.conflicts.iter().chain(&plan.loser.conflicts);
        let dropped = named.filter(|id| !written.conflicts.contains(id));
        let merged = self.state(written);
        dropped.fold(0, |all, id| {
            let known = self.nodes.iter().find_map(|node| node.folder.replica.find(*id));
            let Some(loser) = known.map(|loser| self.state(loser)) else { return all };
            let is_same = |site: &Site| cookies_of(&loser, site).eq(cookies_of(&merged, site));
            all | self.oracle.of(self.oracle.seen(*id), is_same)
        })
    }

    /// What both sides of a merge have seen, its base accounts for: else what was undone before would
    /// be a change of one side.
    fn expect_a_base(&self, at: usize, plan: &MergePlan) {
        let seen = |signed: &Signed| self.oracle.seen(signed.id());
        let named = plan.bases[0].conflicts.iter().map(|id| self.oracle.seen(*id));
        let accounted = named.fold(seen(&plan.bases[0]), |all, seen| all | seen);
        let accounted = accounted | self.decided_since(at, &plan.bases[0]);
        let missed = seen(&plan.winner) & seen(&plan.loser) & !accounted;
        let base = plan.bases[0].id();
        let is_accounted = missed == 0 || self.may_have_forgotten();
        assert!(is_accounted, "both have seen more than {base}: {missed:b}\n{}", self.tell(at));
    }

    /// What losers stand for that somebody on the way to a revision named no more: who goes on from a
    /// merge, while a decision about its loser is there, stands for that decision, and says what the
    /// merge said.
    fn decided_since(&self, at: usize, revision: &Signed) -> Edits {
        let replica = &self.nodes[at].folder.replica;
        let (mut all, mut open, mut done) = (0, vec![revision.id()], BTreeSet::new());
        while let Some(written) = open.pop().and_then(|id| replica.find(id)) {
            for before in written.parents.iter().filter_map(|id| replica.find(*id)) {
                if written.author.is_some() {
                    let dropped =
                        before.conflicts.iter().filter(|id| !written.conflicts.contains(id));
                    all |= dropped.fold(0, |all, id| all | self.oracle.seen(*id));
                }
                if done.insert(before.id()) {
                    open.push(before.id());
                }
            }
        }
        all
    }

    /// Everyone meets everyone.
    pub(super) fn round(&mut self) {
        self.time += SignedDuration::from_secs(60);
        for one in 0..self.nodes.len() {
            for other in one + 1..self.nodes.len() {
                self.cross(one, other);
            }
        }
        for at in 0..self.nodes.len() {
            self.expect_nothing_lost(at);
        }
    }
}
