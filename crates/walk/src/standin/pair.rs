//! Two stand-in nodes: with a database that they share, or as peers with one each.

use super::node::{Shared, StandInNode};
use super::street::Street;
use crate::stage::{self, Stage};
use anyhow::Result;
use baton_api::Client;
use baton_session::SessionId;
use baton_store::{DatabaseUrl, Store};
use std::collections::BTreeSet;
use std::time::{Duration, Instant};
use tempfile::TempDir;
use tokio::runtime::Handle;

/// For how long a node holds what it holds, where a database is shared.
pub const LEASE: Duration = Duration::from_secs(4);

/// Two nodes and all that runs at them.
#[derive(Debug)]
pub struct Pair {
    /// Their browsers.
    pub street: Street,
    /// The nodes.
    pub nodes: [StandInNode; 2],
    /// Their databases.
    stores: [Store; 2],
    _shared: Option<TempDir>,
}

impl Pair {
    /// Two nodes that run, with one database or with two.
    pub async fn start(is_shared: bool, machine: &Handle) -> Result<Self> {
        let street = Street::new(2, is_shared);
        let folder = is_shared.then(tempfile::tempdir).transpose()?;
        let shared = folder.as_ref().map(|folder| Shared {
            database: DatabaseUrl::Sqlite(folder.path().join("baton.db")),
            lease: LEASE,
            member: None,
        });
        let node = |at| StandInNode::new(&street, at, machine, shared.clone());
        let mut nodes = [node(0)?, node(1)?];
        for node in &mut nodes {
            node.start(false).await?;
        }
        let stores = [nodes[0].store().await?, nodes[1].store().await?];
        let pair = Self { street, nodes, stores, _shared: folder };
        if !is_shared {
            let clients = [pair.nodes[0].client()?, pair.nodes[1].client()?];
            stage::know(&clients[0], &clients[1], "node1").await?;
            stage::know(&clients[1], &clients[0], "node0").await?;
        }
        Ok(pair)
    }

    /// Sets a cookie in the browser of a session, as its driver would; false when none runs.
    pub fn set_cookie(&self, at: usize, session: SessionId, name: &str, host: &str) -> bool {
        self.street.browser(at, session).is_some_and(|browser| browser.set_cookie(name, host))
    }

    /// The names of the cookies of a session's browser; none when none runs.
    pub fn cookies(&self, at: usize, session: SessionId) -> Option<BTreeSet<String>> {
        self.street.browser(at, session).map(|browser| browser.names())
    }
}

impl Stage for Pair {
    fn is_shared(&self) -> bool {
        self.street.is_shared()
    }

    fn has_sandboxes(&self) -> bool {
        true
    }

    fn is_up(&self, at: usize) -> bool {
        self.nodes[at].is_up()
    }

    fn client(&self, at: usize) -> Result<Client> {
        self.nodes[at].client()
    }

    fn store(&self, at: usize) -> &Store {
        &self.stores[at]
    }

    async fn mark(&self, at: usize, session: SessionId, name: &str, host: &str) -> bool {
        self.set_cookie(at, session, name, host)
    }

    async fn marks(&self, at: usize, session: SessionId) -> Option<BTreeSet<String>> {
        self.cookies(at, session)
    }

    async fn browser(&self, at: usize, session: SessionId) -> Option<(u64, Instant)> {
        self.street.browser(at, session).map(|browser| (browser.number, browser.born))
    }

    async fn kill_browser(&self, at: usize, session: SessionId) {
        self.street.kill(at, session).await;
    }

    async fn freeze_keeper(&self, at: usize, session: SessionId) -> bool {
        self.street.freeze(at, session, true)
    }

    fn freeze_node(&self, at: usize) {
        self.nodes[at].freeze(true);
    }

    fn thaw(&self) {
        self.street.thaw_all();
        self.nodes.iter().for_each(|node| node.freeze(false));
    }

    async fn kill_node(&mut self, at: usize) -> Result<()> {
        self.nodes[at].kill().await
    }

    fn killer(&self, at: usize) -> Box<dyn FnOnce() + Send> {
        Box::new(self.nodes[at].killer())
    }

    async fn stop_node(&mut self, at: usize) -> Result<()> {
        self.nodes[at].stop().await
    }

    async fn start_node(&mut self, at: usize, rehydrates: bool) -> Result<()> {
        self.nodes[at].start(rehydrates).await
    }

    fn has_program(&self, at: usize, has: bool) -> Result<()> {
        if has { self.nodes[at].find_program() } else { self.nodes[at].lose_program() }
    }

    fn lease(&self) -> Duration {
        LEASE
    }

    fn findings(&self) -> Vec<String> {
        self.street.findings()
    }
}

impl Drop for Pair {
    fn drop(&mut self) {
        self.street.clear();
    }
}
