//! The end of a walk: all is mended, the nodes meet, and what was promised is looked for.

use crate::held::{self, Marks};
use crate::oracle::{Finding, Kind};
use crate::stage::Stage;
use crate::walk::Walk;
use anyhow::{Context, Result};
use std::collections::BTreeMap;
use std::time::{Duration, Instant};
use tokio::time::sleep;

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
        let (id, owner) = (self.subject.id, held::owner()?);
        let mut heads = Vec::new();
        for at in 0..2 {
            let shared = self.stage.store(at).fetch_shared(&owner, id).await?;
            let shared = shared.map(|(_, shared)| {
                let heads: Vec<_> = shared.replica.heads().map(baton_session::Signed::id).collect();
                (heads, shared.lease)
            });
            heads.push(shared);
        }
        Ok(heads[0] != heads[1])
    }

    async fn lost(&self) -> Result<Option<Finding>> {
        let mut held = Marks::new();
        for at in 0..2 {
            held.extend(held::at(&*self.stage, at, self.subject.id).await?);
        }
        let lost: Vec<&String> = self.promised.difference(&held).collect();
        if lost.is_empty() {
            return Ok(None);
        }
        let mut what = format!("{lost:?} of {:?} are nowhere, there is {held:?}", self.promised);
        for at in 0..2 {
            what += &held::tell(&*self.stage, at, self.subject.id).await?;
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
