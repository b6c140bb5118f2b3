//! The end of a schedule: everything is mended, and within half a minute all nodes say the same, every session that
//! somebody was told of is there with all that was captured in it, and none is that was removed.

use super::machines::{Machines, NODES};
use super::walk::{ClusterWalk, Fate, Slot};
use crate::oracle::{Finding, Kind};
use anyhow::{Context as _, Result};
use baton_api::{ClientError, ErrorCode};
use baton_session::{Lifecycle, SessionId};
use std::time::{Duration, Instant};
use tokio::time::sleep;

/// How long it may take until all nodes say the same.
const LIMIT: Duration = Duration::from_secs(30);
/// How often they are asked.
const PAUSE: Duration = Duration::from_millis(100);

impl<M: Machines> ClusterWalk<'_, M> {
    /// Mends everything, and judges what comes of it.
    pub(crate) async fn settle(&mut self) -> Result<Option<Finding>> {
        self.mend().await?;
        self.adopt().await?;
        let end = Instant::now() + LIMIT;
        while let Some(why) = self.differs().await? {
            if Instant::now() >= end {
                return Ok(self.two_browsers().or(Some(Finding::new(Kind::Apart, why))));
            }
            sleep(PAUSE).await;
        }
        for number in 0..self.slots.len() {
            let found = self.slot(number).await?;
            if found.is_some() {
                return Ok(self.two_browsers().or(found));
            }
        }
        Ok(self.two_browsers())
    }

    /// A session whose opening was not answered may be there: whoever asked finds it by its name.
    async fn adopt(&mut self) -> Result<()> {
        let client = self.cluster.client(0)?;
        for slot in &mut self.slots {
            if slot.id.is_some() {
                continue;
            }
            let end = Instant::now() + LIMIT;
            loop {
                match client.fetch_session(&slot.name.to_string()).await {
                    Ok(found) => slot.id = Some(found.session.id),
                    Err(error) if is_unknown(&error) => {}
                    Err(error) if Instant::now() >= end => return Err(error.into()),
                    Err(_) => {
                        sleep(PAUSE).await;
                        continue;
                    }
                }
                break;
            }
        }
        Ok(())
    }

    /// In what the nodes do not say the same, or not what is.
    async fn differs(&self) -> Result<Option<String>> {
        for at in 0..NODES {
            let client = self.cluster.client(at)?;
            let nodes = match client.list_nodes().await {
                Ok(nodes) => nodes.items,
                Err(error) => return Ok(Some(format!("node {at} does not answer: {error}"))),
            };
            let there = nodes.iter().filter(|node| node.is_there).count();
            if there != NODES {
                return Ok(Some(format!("node {at} knows of {there} nodes")));
            }
        }
        for slot in &self.slots {
            let Some(id) = slot.id else { continue };
            if let Some(why) = self.differs_in(slot, id).await? {
                return Ok(Some(why));
            }
        }
        Ok(None)
    }

    async fn differs_in(&self, slot: &Slot, id: SessionId) -> Result<Option<String>> {
        let mut seen = Vec::new();
        for at in 0..NODES {
            match self.cluster.client(at)?.fetch_session(&id.to_string()).await {
                Ok(found) => seen.push(Some(found.session.state)),
                Err(error) if is_unknown(&error) => seen.push(None),
                Err(error) => return Ok(Some(format!("node {at} of {}: {error}", slot.name))),
            }
        }
        let places = self.cluster.machines.places(id).await;
        let is_active = seen[0] == Some(Lifecycle::Active);
        let is_so =
            seen.iter().all(|one| one == &seen[0]) && places.len() == usize::from(is_active);
        let told = format!("{}: nodes say {seen:?}, browsers run at {places:?}", slot.name);
        Ok((!is_so).then_some(told))
    }

    /// Judges a session, and removes it.
    async fn slot(&mut self, number: usize) -> Result<Option<Finding>> {
        for id in self.slots[number].removed.clone() {
            for at in 0..NODES {
                let found = self.cluster.client(at)?.fetch_session(&id.to_string()).await;
                if found.as_ref().err().is_none_or(|error| !is_unknown(error)) {
                    let what = format!("{id} was removed, and node {at} says {found:?}");
                    return Ok(Some(Finding::new(Kind::Lost, what)));
                }
            }
        }
        let Slot { id: Some(id), fate, promised, name, .. } = &self.slots[number] else {
            return Ok(None);
        };
        let (id, fate, promised, name) = (*id, *fate, promised.clone(), name.clone());
        let lost = |what: String| Ok(Some(Finding::new(Kind::Lost, format!("{name}: {what}"))));
        let agent = self.cluster.store.fetch_driver(id).await?.and_then(|driver| driver.agent);
        let client =
            |at: usize| Ok::<_, anyhow::Error>(self.cluster.client(at)?.as_agent(agent.clone()));
        match client(0)?.fetch_session(&id.to_string()).await {
            Err(error) if is_unknown(&error) && fate == Fate::Unknown => return Ok(None),
            Err(error) => return lost(format!("expected a session, found {error}")),
            // It died before anything of it was captured.
            Ok(found) if found.snapshot.is_none() && found.session.state == Lifecycle::Closed => {
                if !promised.is_empty() {
                    return lost(format!("closed without a snapshot, with {promised:?} captured"));
                }
            }
            Ok(_) => {
                if let Err(why) = self.runs(id, &client(number % NODES)?).await {
                    return Ok(Some(Finding::new(Kind::Apart, format!("{name}: {why:#}"))));
                }
                let held = self.cluster.machines.browser(id).await;
                let held = held.map(|held| held.marks).unwrap_or_default();
                let missing: Vec<_> = promised.difference(&held).collect();
                if !missing.is_empty() {
                    return lost(format!("resumed without {missing:?}"));
                }
                for at in 0..NODES {
                    if let Err(error) = client(at)?.capture_session(&id.to_string()).await {
                        let what = format!("{name}: node {at} does not capture: {error}");
                        return Ok(Some(Finding::new(Kind::Apart, what)));
                    }
                }
                client(0)?.abandon_session(&id.to_string()).await.context("at the end")?;
            }
        }
        client(1)?.delete_session(&id.to_string()).await.context("at the end")?;
        Ok(None)
    }

    /// Sees to it that a session runs, which may be about to do so by itself.
    async fn runs(&self, id: SessionId, client: &baton_api::Client) -> Result<()> {
        let end = Instant::now() + LIMIT;
        loop {
            let state = client.fetch_session(&id.to_string()).await?.session.state;
            if state == Lifecycle::Active {
                return Ok(());
            }
            let resumed = client.resume_session(&id.to_string()).await;
            if let Err(error) = resumed
                && Instant::now() >= end
            {
                return Err(error).context("it does not come back");
            }
            sleep(PAUSE).await;
        }
    }
}

/// Whether a node says that there is no such session.
fn is_unknown(error: &ClientError) -> bool {
    error.code() == Some(ErrorCode::SessionNotFound)
}
