//! How offers come from node to node, and what a node does with one.

use super::node::{advance, content};
use super::oracle::Edits;
use super::world::World;
use baton_session::revision::{MergePlan, Offer, Refused, merge};
use baton_session::{Revision, Signed};
use jiff::SignedDuration;

/// An offer that was made, with the edits that whoever made it had acknowledged.
#[derive(Debug, Clone)]
pub(super) struct Letter {
    offer: Offer,
    acknowledged: Edits,
    /// How many revisions there were.
    revisions: usize,
}

/// After how many more revisions an offer that is still on its way is lost: nobody remembers by then
/// what it tells of, and a copy of a node shows no more.
const ON_ITS_WAY: usize = 32;

impl World {
    pub(super) fn letter(&self, from: usize) -> Letter {
        let folder = &self.nodes[from].folder;
        let (offer, revisions) = (folder.replica.offer(), self.oracle.revisions());
        Letter { offer, acknowledged: folder.acknowledged, revisions }
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
        let revisions = self.oracle.revisions();
        self.letters.retain(|letter| revisions - letter.revisions <= ON_ITS_WAY);
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
                [&plan.base, &plan.winner, &plan.loser].map(|signed| self.state(signed));
            let merged = merge(&base, &winner, &loser);
            let content = content(&merged.state);
            self.states.insert(content.checksum, merged.state);
            let written = self.folder(at).replica.merge(&plan, content, merged.lost, &author);
            let kept = if merged.lost { 0 } else { self.oracle.seen(plan.loser.id()) };
            let seen = self.oracle.seen(plan.winner.id()) | kept;
            self.oracle.note(written.id(), seen);
            self.oracle.learn(&self.nodes[at].folder.replica);
        }
    }

    /// What both sides of a merge have seen, its base accounts for: else what was undone before would
    /// be a change of one side.
    fn expect_a_base(&self, at: usize, plan: &MergePlan) {
        let seen = |signed: &Signed| self.oracle.seen(signed.id());
        let named = plan.base.conflicts.iter().map(|id| self.oracle.seen(*id));
        let accounted = named.fold(seen(&plan.base), |all, seen| all | seen);
        let missed = seen(&plan.winner) & seen(&plan.loser) & !accounted;
        let base = plan.base.id();
        assert_eq!(missed, 0, "both have seen more than {base}: {missed:b}\n{}", self.tell(at));
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
