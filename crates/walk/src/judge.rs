//! Looks at how a session stands at each node before a verb and after it, and judges whether that may be so.
//!
//! At the end of a walk all is mended, the nodes meet, and what was promised is looked for.

use crate::ask;
use crate::ask::{Asked, Before, Ended, Look, Marks, VerbCall, agent};
use crate::oracle::{Finding, Kind};
use crate::stage::Stage;
use crate::step::Verb;
use crate::walk::Walk;
use anyhow::{Context, Result};
use baton_session::Lifecycle;
use std::collections::BTreeMap;
use std::time::{Duration, Instant};
use tokio::time::sleep;

impl<S: Stage> Walk<'_, S> {
    /// At which nodes the session has a browser.
    pub(crate) async fn places(&self) -> Vec<usize> {
        let mut places = Vec::new();
        for at in 0..2 {
            if self.stage.browser(at, self.subject.id).await.is_some() {
                places.push(at);
            }
        }
        places
    }

    pub(crate) fn is_calm(&self) -> bool {
        !self.is_frozen && (0..2).all(|at| self.stage.is_up(at))
    }

    pub(crate) async fn before(&self) -> Result<Before> {
        let marks = [self.driven(0).await?, self.driven(1).await?];
        let looks = [self.observe(0).await?, self.observe(1).await?];
        let is_settled = self.unsettled.is_none_or(|until| until <= Instant::now());
        Ok(Before { marks, looks, is_calm: self.is_calm(), is_settled })
    }

    /// What the browser at a node holds, if it is the session's: one that is still being brought back is
    /// not the session's yet, and what a verb asks for is not about it.
    pub(crate) async fn driven(&self, at: usize) -> Result<Option<Marks>> {
        let id = self.subject.id;
        let marks = self.stage.marks(at, id).await;
        let session = self.stage.store(at).fetch_any_session(id).await?;
        let is_active = session.is_some_and(|session| session.lifecycle == Lifecycle::Active);
        Ok(marks.filter(|_| is_active))
    }

    /// How the session stands at a node; none when the node does not go on. What its database says is
    /// read beside it, which costs less than asking.
    pub(crate) async fn observe(&self, at: usize) -> Result<Option<Look>> {
        if !self.stage.is_up(at) || self.is_frozen {
            return Ok(None);
        }
        let (id, store) = (self.subject.id, self.stage.store(at));
        let browser = self.stage.browser(at, id).await.map(|(number, _)| number);
        let mut look = Look { browser, ..Look::default() };
        let Some(session) = store.fetch_any_session(id).await? else { return Ok(Some(look)) };
        look.state = Some(session.lifecycle);
        look.agent = store.fetch_driver(id).await?.and_then(|driver| driver.agent);
        if self.stage.is_shared() {
            look.home = Some(session.node);
        } else if let Some((_, shared)) = store.fetch_shared(&session.owner, id).await? {
            let peer_lease = shared.peer_lease.filter(|peer_lease| !peer_lease.released);
            look.is_held = peer_lease.is_some_and(|peer_lease| peer_lease.node == session.node);
            look.has_conflicts = !shared.replica.siblings().is_empty();
        }
        Ok(Some(look))
    }

    pub(crate) async fn is_there(&self, sandbox: &str) -> Result<bool> {
        for at in 0..2 {
            if self.stage.client(at)?.fetch_sandbox(sandbox).await.is_ok() {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Whether a verb did what it may, and one that failed nothing.
    pub(crate) async fn judge(
        &self,
        before: &Before,
        asking: &VerbCall,
        asked: &Asked,
    ) -> Result<Option<Finding>> {
        let (here, there) = (asking.at, 1 - asking.at);
        let what = |what: &str| format!("{:?} at node {here} {what}", asking.verb);
        let drives = |verb: Verb| {
            matches!(verb, Verb::Resume | Verb::Rollback { .. } | Verb::Close | Verb::HandIn { .. })
        };
        if asked.ended.is_done()
            && drives(asking.verb)
            && let Some(driver) = before.looks[here].as_ref().and_then(|look| look.agent.as_ref())
            && asking.agent.as_ref() != Some(driver)
        {
            return Ok(Some(Finding::new(Kind::Driver, what("was done although another drives"))));
        }
        let Ended::Refused(code, why) = &asked.ended else { return Ok(None) };
        if !before.is_calm || !self.is_calm() {
            return Ok(None);
        }
        let after = [self.observe(0).await?, self.observe(1).await?];
        let refused = format!("was refused ({}: {why})", code.as_str());
        let found = |kind, text: String| Ok(Some(Finding::new(kind, what(&text))));
        let (Some(was), Some(is)) = (&before.looks[here], &after[here]) else { return Ok(None) };
        // What the other node has taken over this one gives up as soon as it hears of it, also when it does
        // not run there any more.
        let has = |look: &Option<Look>| {
            look.as_ref().is_some_and(|look| look.browser.is_some() || look.is_held)
        };
        let is_taken = has(&before.looks[there]) && has(&after[there]);
        let is_ended = was.browser.is_some() && was.browser != is.browser;
        if drives(asking.verb) && is_ended && !is_taken {
            return found(
                Kind::Here,
                format!("{refused} and ended its own browser: {was:?}, {is:?}"),
            );
        }
        if !before.is_settled {
            return Ok(None);
        }
        let (Some(was), Some(is)) = (&before.looks[there], &after[there]) else { return Ok(None) };
        // A row that both nodes have may be moved here.
        let is_moved = !self.stage.is_shared() && was.state != is.state;
        if was.browser != is.browser || is_moved {
            return found(
                Kind::Elsewhere,
                format!("{refused} and changed node {there}: {was:?}, {is:?}"),
            );
        }
        let (Some(own), Some(now)) = (&before.looks[here], &after[here]) else { return Ok(None) };
        if now.is_held && !own.is_held && now.browser.is_none() {
            return found(Kind::Lease, format!("{refused} and holds the session all the same"));
        }
        if was.home != is.home {
            return found(Kind::Home, format!("{refused} and moved its home"));
        }
        if own.agent != now.agent {
            return found(Kind::Seat, format!("{refused} and gave it to {:?}", now.agent));
        }
        Ok(None)
    }

    /// Whether a caller began to drive after the session had been passed to another agent.
    pub(crate) async fn drives_late(
        &self,
        askings: &[VerbCall; 2],
        asked: &[Asked; 2],
    ) -> Option<Finding> {
        for (passed, drove) in [(0, 1), (1, 0)] {
            let Verb::Pass { to } = askings[passed].verb else { continue };
            let started = matches!(askings[drove].verb, Verb::Resume | Verb::Rollback { .. });
            let to = agent(to);
            if !started
                || !asked[0].ended.is_done()
                || !asked[1].ended.is_done()
                || askings[0].at != askings[1].at
                || to.is_none()
                || to == askings[drove].agent
            {
                continue;
            }
            let (_, born) = self.stage.browser(askings[drove].at, self.subject.id).await?;
            if born > asked[passed].returned {
                let by = &askings[drove].agent;
                let what = format!("{by:?} started it after it had been passed to {to:?}");
                return Some(Finding::new(Kind::Driver, what));
            }
        }
        None
    }

    pub(crate) async fn bystanders_live(&self) -> Result<Option<Finding>> {
        for (at, bystander) in self.bystanders.iter().enumerate() {
            let Some((session, number)) = bystander else { continue };
            let now = self.stage.browser(at, *session).await.map(|(number, _)| number);
            if now != Some(*number) {
                let what = format!("the browser of another session at node {at} ended");
                return Ok(Some(Finding::new(Kind::Bystander, what)));
            }
        }
        Ok(None)
    }
}

/// How long nodes that have met may take until one of two browsers has ended.
const MEET_LIMIT: Duration = Duration::from_secs(20);

impl<S: Stage> Walk<'_, S> {
    /// All is mended, the nodes meet, and what was promised is looked for.
    pub(crate) async fn settle(&mut self) -> Result<Option<Finding>> {
        self.thaw();
        for at in 0..2 {
            if std::mem::take(&mut self.lost_program[at]) {
                self.stage.has_program(at, true)?;
            }
            if !self.stage.is_up(at) {
                self.stage.start_node(at, false).await.context("a node does not start again")?;
            }
        }
        let found = self.meet().await?;
        if let Some(told) = self.stage.findings().first() {
            return Ok(Some(Finding::new(Kind::TwoBrowsers, told.clone())));
        }
        if found.is_some() {
            return Ok(found);
        }
        let lost = self.lost().await?;
        if lost.is_some() { Ok(lost) } else { self.unnoted().await }
    }

    /// Peers bring each other what they have; then one of two browsers at most is left.
    async fn meet(&mut self) -> Result<Option<Finding>> {
        let id = self.subject.id;
        if self.differ().await? {
            for at in [0, 1] {
                // One of both may not have it yet, or nothing of it is shared.
                let peer = format!("node{}", 1 - at);
                if let Err(error) =
                    self.stage.client(at)?.pull_session(&peer, &id.to_string()).await
                {
                    self.told.push(format!("node {at} pulled: {error}"));
                }
            }
        }
        let end = Instant::now() + MEET_LIMIT;
        loop {
            if self.places().await.len() < 2 {
                return Ok(None);
            }
            if Instant::now() >= end {
                let what = "both nodes run and have met, and both have a browser".to_owned();
                return Ok(Some(Finding::new(Kind::TwoBrowsers, what)));
            }
            sleep(Duration::from_millis(20)).await;
        }
    }

    /// Whether one of two peers has revisions that the other one has not.
    async fn differ(&self) -> Result<bool> {
        if self.stage.is_shared() {
            return Ok(false);
        }
        let (id, owner) = (self.subject.id, ask::owner()?);
        let mut heads = Vec::new();
        for at in 0..2 {
            let shared = self.stage.store(at).fetch_shared(&owner, id).await?;
            let shared = shared.map(|(_, shared)| {
                let heads: Vec<_> = shared.replica.heads().map(baton_session::Signed::id).collect();
                (heads, shared.peer_lease)
            });
            heads.push(shared);
        }
        Ok(heads[0] != heads[1])
    }

    async fn lost(&self) -> Result<Option<Finding>> {
        let mut held = Marks::new();
        for at in 0..2 {
            held.extend(ask::at(&*self.stage, at, self.subject.id).await?);
        }
        let lost: Vec<&String> = self.promised.difference(&held).collect();
        if lost.is_empty() {
            return Ok(None);
        }
        let mut what = format!("{lost:?} of {:?} are nowhere, there is {held:?}", self.promised);
        for at in 0..2 {
            what += &ask::tell(&*self.stage, at, self.subject.id).await?;
        }
        Ok(Some(Finding::new(Kind::Lost, what)))
    }

    /// Whether the audit logs tell of everything that was acknowledged.
    async fn unnoted(&self) -> Result<Option<Finding>> {
        let subject = self.subject.id.to_string();
        let mut noted: BTreeMap<String, usize> = BTreeMap::new();
        let logs = if self.stage.is_shared() { 1 } else { 2 };
        for at in 0..logs {
            let limit = 20 + 4 * u32::try_from(self.told.len()).unwrap_or(u32::MAX / 8);
            let query = baton_api::ListAudit { limit: Some(limit.min(200)), ..Default::default() };
            let entries = self.stage.client(at)?.list_audit(&query).await?.items;
            for entry in entries.into_iter().filter(|entry| entry.subject == subject) {
                *noted.entry(entry.action).or_default() += 1;
            }
        }
        let missing: Vec<_> = self
            .acknowledged
            .iter()
            .filter(|(name, count)| noted.get(**name).is_none_or(|noted| noted < *count))
            .collect();
        if missing.is_empty() {
            return Ok(None);
        }
        let what = format!("acknowledged {missing:?}, noted {noted:?}");
        Ok(Some(Finding::new(Kind::Audit, what)))
    }

    /// Ends what the walk left running, so that the next one finds the nodes as this one did.
    pub(crate) async fn clear(self) -> Result<()> {
        if let Some(sandbox) = &self.subject.sandbox {
            for at in 0..2 {
                // It is at one of both, or it ended with its node.
                let _ = self.stage.client(at)?.delete_sandbox(sandbox).await;
            }
        }
        for session in [Some(self.subject.id), self.subject.rival].into_iter().flatten() {
            for at in 0..2 {
                if self.stage.browser(at, session).await.is_none() {
                    continue;
                }
                let driver = self.stage.store(at).fetch_driver(session).await?;
                let agent = driver.and_then(|driver| driver.agent);
                let client = self.stage.client(at)?.as_agent(agent);
                client.abandon_session(&session.to_string()).await.context("at the end")?;
            }
        }
        Ok(())
    }
}
