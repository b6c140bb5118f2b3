//! Nodes that share a session, and everything that happens to them.
//!
//! After every step each node is asked whether it still has what was acknowledged there: in what a
//! resume would bring back, in the revision that counts, or in one that waits for a choice.

use super::edits::{Edits, edit};
use super::member::{Member, Promised};
use super::step::Step;
use crate::sync::pair::{know, logged_in, save, seed, start, store};
use baton_server::config::Choices;
use baton_session::SessionId;
use baton_sync::ConflictResolution;
use std::fmt::Write as _;

/// All nodes, and the truth.
pub(super) struct World {
    pub(super) members: Vec<Member>,
    pub(super) session: SessionId,
    pub(super) edits: u32,
    /// What had been seen by those who deleted the session.
    pub(super) deleted: Vec<Edits>,
    /// Whether somebody chose among revisions.
    pub(super) has_chosen: bool,
    /// What nodes had when they were copied and had told nobody of: each copy publishes it as its own, and
    /// no vector can say that two such revisions hold one edit.
    pub(super) twice: Edits,
    /// How many nodes there ever were.
    pub(super) started: usize,
}

impl World {
    /// Nodes that know each other and share a session.
    pub(super) async fn new(resolutions: &[ConflictResolution]) -> Self {
        let mut members = Vec::new();
        for (number, resolution) in resolutions.iter().copied().enumerate() {
            members.push(member(number, resolution).await);
        }
        for here in &members {
            for there in members.iter().filter(|there| there.name != here.name) {
                know(&here.node, &there.node, &there.name).await;
            }
        }
        let mut state = logged_in(&[]);
        edit(&mut state, 0, 0);
        let session = seed(&members[0].node, "shop", &state).await;
        save(&members[0].node, "shop").await;
        for member in &mut members {
            let promised = Promised { acknowledged: 1, published: 1, ended: 0 };
            member.promised = promised;
        }
        for member in &members[1..] {
            member.client().pull_session("node0", &session.to_string()).await.unwrap();
        }
        let started = members.len();
        let (deleted, has_chosen) = (Vec::new(), false);
        Self { members, session, edits: 1, deleted, has_chosen, twice: 0, started }
    }

    /// Lets something happen.
    pub(super) async fn step(&mut self, step: &Step) {
        match *step {
            Step::Edit { at, site, is_saved } => self.edit(self.pick(at), site, is_saved).await,
            Step::Save { at } => self.save(self.pick(at)).await,
            Step::Pull { to, from } => self.pull(self.pick(to), self.pick(from)).await,
            Step::Push { from, to } => self.push(self.pick(from), self.pick(to)).await,
            Step::Cross { one, other, third } => {
                self.cross(self.pick(one), self.pick(other), self.pick(third)).await;
            }
            Step::Cut { to, from } => self.cut(self.pick(to), self.pick(from)).await,
            Step::Part { sides } => {
                let sides = (0..8).map(|bit| sides >> bit & 1 == 1);
                self.members.iter_mut().zip(sides).for_each(|(member, side)| member.side = side);
            }
            Step::Unite => self.members.iter_mut().for_each(|member| member.side = false),
            Step::Restart { at } => self.restart(self.pick(at)).await,
            Step::BackUp { at } => self.back_up(self.pick(at)).await,
            Step::Restore { at } => self.restore(self.pick(at), true).await,
            Step::RollBack { at } => self.restore(self.pick(at), false).await,
            Step::Clone { at } => self.copy(self.pick(at)).await,
            Step::Remove { at } => self.remove(self.pick(at)).await,
            Step::Delete { at } => self.delete(self.pick(at)).await,
            Step::Resolve { at, keep } => self.resolve(self.pick(at), keep).await,
        }
        self.expect_nothing_lost(&format!("{step:?}")).await;
    }

    fn pick(&self, at: u8) -> usize {
        usize::from(at) % self.members.len()
    }

    /// Whether each node has what was acknowledged there, or what somebody decided against.
    pub(super) async fn expect_nothing_lost(&self, after: &str) {
        for member in &self.members {
            let promised = member.promised.acknowledged & !member.promised.ended;
            let lost = promised & !member.all(self.session).await;
            let told = if lost == 0 { String::new() } else { self.tell().await };
            assert_eq!(lost, 0, "{} lost edits {lost:#b} after {after}\n{told}", member.name);
        }
    }

    /// Whether what waits for a choice says anything that the current revision does not.
    pub(super) async fn expect_no_false_conflict(&self) {
        // Whoever chose has left edits out on purpose: what they chose stands beside what has them all.
        if self.has_chosen || !self.deleted.is_empty() {
            return;
        }
        for member in &self.members {
            let replica = member.replica(self.session).await;
            let contents = member.contents(self.session).await;
            let Some(current) = replica.current() else { continue };
            for sibling in replica.siblings() {
                let content = contents[&sibling.id()];
                let more = content & !contents[&current.id()] | content & self.twice;
                assert_ne!(more, 0, "a conflict over nothing\n{}", self.tell().await);
            }
        }
    }

    /// Whether a session that is there has something that none of those had seen who deleted it, or that was
    /// published twice, of which they can have seen one and not the other.
    pub(super) async fn expect_nothing_resurrected(&self) {
        if self.has_chosen {
            return;
        }
        for member in &self.members {
            let replica = member.replica(self.session).await;
            let contents = member.contents(self.session).await;
            let Some(current) = replica.current().filter(|current| !current.deleted) else {
                continue;
            };
            let content = contents[&current.id()];
            for deleted in &self.deleted {
                let more = content & !deleted | content & self.twice;
                assert_ne!(more, 0, "a deleted session came back\n{}", self.tell().await);
            }
        }
    }

    /// What each node has, for whoever reads of a failure.
    pub(super) async fn tell(&self) -> String {
        let mut told = String::new();
        for member in &self.members {
            let Promised { acknowledged, published, ended } = member.promised;
            let all = member.all(self.session).await;
            let _ = writeln!(
                told,
                "{}: acknowledged {acknowledged:b}, published {published:b}, ended {ended:b}, has {all:b}",
                member.name
            );
            let contents = member.contents(self.session).await;
            for revision in member.replica(self.session).await.known() {
                let edits = contents.get(&revision.id()).map(|edits| format!("{edits:b}"));
                let deleted = if revision.deleted { ", deleted" } else { "" };
                let _ = writeln!(
                    told,
                    "  {} {:?} {}{deleted}",
                    revision.id(),
                    revision.vector,
                    edits.unwrap_or_else(|| "without content".to_owned())
                );
            }
        }
        told
    }

    pub(super) async fn stop(self) {
        for member in self.members {
            member.stop().await;
        }
    }
}

async fn member(number: usize, resolution: ConflictResolution) -> Member {
    let choices = move || Choices { conflict_resolution: Some(resolution), ..Choices::default() };
    let node = start(choices()).await;
    Member {
        name: format!("node{number}"),
        is_copy: false,
        store: store(&node).await,
        node,
        choices: Box::new(choices),
        promised: Promised::default(),
        backup: None,
        side: false,
    }
}
