//! Nodes that share a session, and everything that happens to them.
//!
//! After every step each node is asked whether it still has what was acknowledged there: as a state,
//! in the current one, or as a sibling of it.

use super::meeting::Letter;
use super::node::{Folder, Node, log_in, start};
use super::oracle::Oracle;
use super::step::Step;
use baton_session::revision::HISTORY_MAX;
use baton_session::{Epoch, PartHash, State};
use jiff::{SignedDuration, Timestamp};
use std::collections::HashMap;

/// The most nodes.
const NODES: usize = 6;

/// All nodes, what is on its way between them, and the truth.
#[derive(Debug)]
pub(super) struct World {
    pub(super) nodes: Vec<Node>,
    pub(super) letters: Vec<Letter>,
    pub(super) oracle: Oracle,
    pub(super) states: HashMap<PartHash, State>,
    /// What the peer that knows no vectors has.
    pub(super) legacy: Option<State>,
    pub(super) time: Timestamp,
    pub(super) epochs: u64,
    /// Whether a node was ever copied, or went back to what it was.
    pub(super) has_copies: bool,
}

impl World {
    /// Nodes of which the first has a session; each merges or not.
    pub(super) fn new(merges: &[bool]) -> Self {
        let mut world = Self {
            nodes: Vec::new(),
            letters: Vec::new(),
            oracle: Oracle::default(),
            states: HashMap::new(),
            legacy: None,
            time: start(),
            epochs: 0,
            has_copies: false,
        };
        for (number, merges) in (0..).zip(merges) {
            let epoch = world.epoch();
            world.nodes.push(Node::new(number, epoch, *merges));
        }
        let mut state = State::default();
        log_in(&mut state, 0, "first".to_owned());
        world.save(0, None, state);
        world
    }

    /// Lets something happen.
    pub(super) fn step(&mut self, step: &Step) {
        self.time += SignedDuration::from_secs(60);
        match *step {
            Step::Edit { at, site, value } => self.edit(self.pick(at), site, value),
            Step::Reopen { at } => self.reopen(self.pick(at)),
            Step::Sync { one, other, is_both_ways } => {
                let (one, other) = (self.pick(one), self.pick(other));
                if self.nodes[one].side == self.nodes[other].side {
                    self.sync(one, other);
                    if is_both_ways {
                        self.sync(other, one);
                    }
                }
            }
            Step::Cross { one, other } => {
                let (one, other) = (self.pick(one), self.pick(other));
                if self.nodes[one].side == self.nodes[other].side {
                    self.cross(one, other);
                }
            }
            Step::Forge { from, whom, to } => {
                self.forge(self.pick(from), self.pick(whom), self.pick(to));
            }
            Step::Send { from } => {
                let letter = self.letter(self.pick(from));
                self.letters.push(letter);
            }
            Step::Deliver { offer, to, is_last } => self.deliver(offer, self.pick(to), is_last),
            Step::Part { sides } => {
                let sides = (0..8).map(|bit| sides >> bit & 1 == 1);
                self.nodes.iter_mut().zip(sides).for_each(|(node, side)| node.side = side);
            }
            Step::Unite => self.nodes.iter_mut().for_each(|node| node.side = false),
            Step::SetClock { at, skew } => {
                let at = self.pick(at);
                self.nodes[at].skew = skew;
            }
            Step::Delete { at } => self.delete(self.pick(at)),
            Step::Resolve { at, keep } => self.resolve(self.pick(at), keep),
            Step::Hand { at } => self.hand(self.pick(at)),
            Step::TakeBack { at, site } => self.take_back(self.pick(at), site),
            Step::Restart { at }
            | Step::BackUp { at }
            | Step::Restore { at }
            | Step::RollBack { at }
            | Step::Clone { at }
            | Step::Remove { at } => self.happen_to_folder(self.pick(at), step),
        }
        for at in 0..self.nodes.len() {
            self.expect_nothing_lost(at);
        }
    }

    fn pick(&self, at: u8) -> usize {
        usize::from(at) % self.nodes.len()
    }

    pub(super) fn epoch(&mut self) -> Epoch {
        self.epochs += 1;
        Epoch::new(self.epochs.to_be_bytes())
    }

    fn happen_to_folder(&mut self, at: usize, step: &Step) {
        let epoch = self.epoch();
        let node = &mut self.nodes[at];
        match (step, node.backup.clone()) {
            (Step::Restart { .. }, _) => {
                let stored = serde_json::to_vec(&node.folder.replica).unwrap();
                node.folder.replica = serde_json::from_slice(&stored).unwrap();
            }
            (Step::BackUp { .. }, _) => node.backup = Some(node.folder.clone()),
            (Step::Restore { .. }, Some(backup)) => {
                (node.folder, node.actor.epoch) = (backup, epoch);
                self.has_copies = true;
            }
            (Step::RollBack { .. }, Some(backup)) => {
                node.folder = backup;
                self.has_copies = true;
            }
            (Step::Clone { .. }, _) if self.nodes.len() < NODES => {
                let mut clone = self.nodes[at].clone();
                clone.actor.epoch = epoch;
                self.nodes.push(clone);
                self.has_copies = true;
            }
            (Step::Remove { .. }, _) if self.nodes.len() > 2 => {
                self.nodes.remove(at);
            }
            _ => {}
        }
    }

    /// The folder of a node.
    pub(super) fn folder(&mut self, at: usize) -> &mut Folder {
        &mut self.nodes[at].folder
    }

    /// Whether somebody may have forgotten that they had seen what a copy of a node writes once more: then it
    /// stands beside what they have, and is merged from further back, and nothing is lost.
    pub(super) fn may_have_forgotten(&self) -> bool {
        let is_full = |node: &Node| node.folder.replica.known().count() > HISTORY_MAX;
        self.has_copies && self.nodes.iter().any(is_full)
    }

    /// Whether a node has what was acknowledged there, or what somebody decided who had seen it.
    pub(super) fn expect_nothing_lost(&self, at: usize) {
        let folder = &self.nodes[at].folder;
        let lost = folder.acknowledged & !self.oracle.all(folder.replica.whole());
        assert_eq!(lost, 0, "node {at} lost edits {lost:#b}\n{}", self.tell(at));
    }
}
