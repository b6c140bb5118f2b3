//! Three real nodes with real keepers and real browsers.

use super::machines::{CLUSTER, Held, Machines, Seat};
use crate::real_browser;
use crate::standin::MASTER_KEY;
use anyhow::{Context as _, Result};
use baton_api::Client;
use baton_playground::tenures::Watcher;
use baton_playground::{TestNode, victims};
use baton_session::SessionId;
use std::fs;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// The nodes, and what watches their browsers.
pub struct RealMachines {
    nodes: Vec<TestNode>,
    clients: Vec<Client>,
    is_up: Vec<bool>,
    /// Which nodes stand still.
    frozen: Mutex<Vec<u32>>,
    watcher: Watcher,
}

impl RealMachines {
    fn frozen(&self) -> MutexGuard<'_, Vec<u32>> {
        self.frozen.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// At which nodes a session has a browser, with its process.
    async fn holders(&self, session: SessionId) -> Vec<(usize, [(&'static str, u32); 2])> {
        let mut found = Vec::new();
        for (at, node) in self.nodes.iter().enumerate() {
            if let Ok(holders) = node.holders(session).await {
                found.push((at, holders));
            }
        }
        found
    }
}

impl Machines for RealMachines {
    /// Long enough for a busy machine.
    const LEASE: Duration = Duration::from_secs(8);

    /// The program `baton`.
    type Of = PathBuf;

    async fn start(program: &PathBuf, seats: Vec<Seat>) -> Result<Self> {
        let (mut nodes, mut clients) = (Vec::new(), Vec::new());
        for (at, seat) in seats.iter().enumerate() {
            let mut node = TestNode::build(program)?
                .with("BATON_SESSION_SNAPSHOT_INTERVAL", "3600")
                .with("BATON_DATABASE_URL", seat.database.as_str())
                .with("BATON_MASTER_KEY", MASTER_KEY)
                .with("BATON_NODE_NAME", format!("node{at}"))
                .with("BATON_LEASE", Self::LEASE.as_secs().to_string())
                .with("BATON_INTERNAL_URL", seat.internal_url.as_str())
                .with("BATON_CLUSTER_NAME", CLUSTER)
                .with("BATON_CLUSTER_FAILOVER", "true")
                .with("BATON_CLUSTER_BUS_URL", seat.bus.as_str())
                .with("BATON_CLUSTER_BUS_CREDENTIALS", &seat.credentials);
            node.start_node().await?;
            node.keep_address()?;
            clients.push(node.client()?.clone());
            nodes.push(node);
        }
        let (is_up, frozen) = (vec![true; nodes.len()], Mutex::default());
        let watcher = Watcher::start(&nodes.iter().collect::<Vec<_>>());
        Ok(Self { nodes, clients, is_up, frozen, watcher })
    }

    fn address(&self, at: usize) -> Result<SocketAddr> {
        let addresses = self.clients[at].base().socket_addrs(|| None)?;
        addresses.first().copied().context("expected an address")
    }

    fn client(&self, at: usize) -> Result<Client> {
        Ok(self.clients[at].clone())
    }

    fn is_up(&self, at: usize) -> bool {
        self.is_up[at]
    }

    async fn start_node(&mut self, at: usize, rehydrates: bool) -> Result<()> {
        let settings = format!("[recovery]\nauto_rehydrate = {rehydrates}\n");
        fs::write(self.nodes[at].data().settings(), settings)?;
        let started = self.nodes[at].start_node().await;
        started.with_context(|| self.nodes[at].log_tail())?;
        self.is_up[at] = true;
        Ok(())
    }

    async fn kill_node(&mut self, at: usize) -> Result<()> {
        self.is_up[at] = false;
        victims::kill(self.nodes[at].node_pid()?);
        self.nodes[at].bury_node().await
    }

    async fn stop_node(&mut self, at: usize) -> Result<()> {
        self.thaw();
        self.is_up[at] = false;
        self.nodes[at].stop_node().await
    }

    fn freeze_node(&self, at: usize) {
        if let Ok(pid) = self.nodes[at].node_pid()
            && baton_testing::freeze(pid).is_ok()
        {
            self.frozen().push(pid);
        }
    }

    fn thaw(&self) {
        for pid in self.frozen().drain(..) {
            // It may have been killed.
            let _ = baton_testing::wake(pid);
        }
    }

    fn findings(&self) -> Vec<String> {
        let found = self.watcher.expect_one_holder().err();
        found.map(|error| format!("two browsers: {error:#}")).into_iter().collect()
    }

    async fn browser(&self, session: SessionId) -> Option<Held> {
        let (at, [_, (_, browser)]) = *self.holders(session).await.first()?;
        let marks = real_browser::marks(&self.nodes[at], session).await?;
        Some(Held { number: browser.into(), marks })
    }

    async fn places(&self, session: SessionId) -> Vec<usize> {
        self.holders(session).await.into_iter().map(|(at, _)| at).collect()
    }

    fn newest(&self, session: SessionId) -> Option<u64> {
        let seen = self.watcher.seen();
        let of_it = seen.iter().filter(|tenure| tenure.session == session);
        of_it.max_by_key(|tenure| tenure.from).map(|tenure| tenure.pid.into())
    }

    async fn mark(&self, session: SessionId, name: &str, host: &str) -> bool {
        match self.holders(session).await.first() {
            Some((at, _)) => real_browser::mark(&self.nodes[*at], session, name, host).await,
            None => false,
        }
    }

    async fn kill_browser(&self, session: SessionId) {
        for (_, holders) in self.holders(session).await {
            // What lives on is found out by the schedule.
            let _ = victims::kill_all(&holders).await;
        }
    }
}

impl Drop for RealMachines {
    fn drop(&mut self) {
        // One that stands still would not end.
        self.thaw();
    }
}
