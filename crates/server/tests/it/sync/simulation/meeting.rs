//! How nodes meet: over HTTP, one asking the other.

use super::world::World;
use baton_api::sync::SaveSession;

impl World {
    /// Whether `asking` can ask `asked`: it knows it, and reaches it.
    fn reaches(&self, asking: usize, asked: usize) -> bool {
        let (one, other) = (&self.members[asking], &self.members[asked]);
        let is_same = one.node.id() == other.node.id();
        !is_same && !other.is_copy && one.side == other.side
    }

    pub(super) async fn pull(&mut self, to: usize, from: usize) {
        if self.reaches(to, from) {
            let (there, session) = (&self.members[from].name, self.session.to_string());
            let pulled = self.members[to].client().pull_session(there, &session).await;
            pulled.unwrap();
            self.learn(to, from);
            self.hear(from, to).await;
        }
    }

    /// Whoever pulls tells of its deletions, and of what it makes of two. What they had seen is gone there,
    /// also beside something newer that counts.
    async fn hear(&mut self, at: usize, from: usize) {
        let replica = self.members[at].replica(self.session).await;
        if replica.heads().any(|head| head.deleted) {
            self.members[at].promised.ended |= self.members[from].promised.ended;
        }
    }

    pub(super) async fn push(&mut self, from: usize, to: usize) {
        if self.reaches(from, to) {
            let (there, session) = (&self.members[to].name, self.session.to_string());
            let pushed = self.members[from].client().push_session(there, &session).await;
            pushed.unwrap();
            self.learn(to, from);
        }
    }

    /// Notes what a node has by now.
    fn learn(&mut self, to: usize, from: usize) {
        let from = self.members[from].promised;
        let to = &mut self.members[to].promised;
        to.acknowledged |= from.published;
        to.published |= from.published;
        to.ended |= from.ended;
    }

    /// Two nodes pull from each other at once, while a third one saves.
    pub(super) async fn cross(&mut self, one: usize, other: usize, third: usize) {
        if !self.reaches(one, other) || !self.reaches(other, one) {
            return;
        }
        let before = [one, other].map(|at| self.members[at].promised);
        let session = self.session.to_string();
        let [here, there, third] = [one, other, third].map(|at| self.members[at].client());
        let as_it_is = SaveSession::default();
        let (name, other_name) = (&self.members[one].name, &self.members[other].name);
        let (forth, back, _) = tokio::join!(
            here.pull_session(other_name, &session),
            there.pull_session(name, &session),
            third.save_session(&session, &as_it_is),
        );
        for (to, from, moved) in [(one, before[1], forth), (other, before[0], back)] {
            if moved.is_ok() {
                let to = &mut self.members[to].promised;
                to.acknowledged |= from.published;
                to.published |= from.published;
                to.ended |= from.ended;
            }
        }
    }

    /// A node pulls from another one, which ends meanwhile and starts again.
    pub(super) async fn cut(&mut self, to: usize, from: usize) {
        if !self.reaches(to, from) {
            return;
        }
        let (session, name) = (self.session.to_string(), self.members[from].name.clone());
        let client = self.members[to].client();
        let pulled = tokio::spawn(async move { client.pull_session(&name, &session).await });
        tokio::task::yield_now().await;
        self.restart(from).await;
        if pulled.await.unwrap().is_ok() {
            self.learn(to, from);
            self.hear(from, to).await;
        }
    }

    /// A node's process ends and starts again, at the address that it had.
    pub(super) async fn restart(&mut self, at: usize) {
        let member = self.members.remove(at);
        self.members.insert(at, member.restart(|_| ()).await);
    }

    /// Everyone meets everyone.
    pub(super) async fn round(&mut self) {
        self.members.iter_mut().for_each(|member| member.side = false);
        for one in 0..self.members.len() {
            for other in one + 1..self.members.len() {
                let (one, other) =
                    if self.members[other].is_copy { (other, one) } else { (one, other) };
                self.pull(one, other).await;
                self.push(one, other).await;
            }
        }
        self.expect_nothing_lost("a round").await;
    }
}
