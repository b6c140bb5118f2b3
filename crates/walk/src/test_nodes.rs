//! Two real nodes with real keepers and real browsers, to walk on.

use crate::real_browser;
use crate::stage::{self, Stage};
use crate::standin::MASTER_KEY;
use anyhow::{Context, Result};
use baton_api::Client;
use baton_browser::launch::{BrowserPlaces, find_browser};
use baton_playground::{TestNode, victims};
use baton_session::SessionId;
use baton_store::{DatabaseUrl, Limits, MasterKey, Store};
use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::PathBuf;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// For how long a node holds what it holds, where a database is shared: long enough for a busy machine.
const LEASE: Duration = Duration::from_secs(8);
/// How many ticks a second the kernel counts in (`proc_pid_stat(5)`).
const TICKS: f64 = 100.0;

/// Two test nodes: with a database that they share, or as peers with one each.
pub struct TestNodes {
    sides: [TestNode; 2],
    clients: [Client; 2],
    stores: [Store; 2],
    is_up: [bool; 2],
    /// Which processes stand still.
    frozen: Mutex<Vec<u32>>,
    is_shared: bool,
    programs: Programs,
    _shared: Option<TempDir>,
}

/// The browser's program, under a name that each node has for itself, so that one can lose it.
struct Programs {
    names: TempDir,
    program: PathBuf,
}

impl Programs {
    fn find() -> Result<Self> {
        let places = BrowserPlaces::on_path(std::env::var_os("PATH").as_deref());
        let found = Self { names: tempfile::tempdir()?, program: find_browser(None, &places)? };
        for at in 0..2 {
            found.give(at)?;
        }
        Ok(found)
    }

    fn of(&self, at: usize) -> PathBuf {
        self.names.path().join(format!("chromium{at}"))
    }

    fn give(&self, at: usize) -> Result<()> {
        Ok(symlink(&self.program, self.of(at))?)
    }

    fn take(&self, at: usize) -> Result<()> {
        Ok(fs::remove_file(self.of(at))?)
    }
}

impl TestNodes {
    /// Two nodes that run, of the program `baton`.
    pub async fn start(program: impl Into<PathBuf>, is_shared: bool) -> Result<Self> {
        let program = program.into();
        let folder = is_shared.then(tempfile::tempdir).transpose()?;
        let database = folder.as_ref().map(|folder| folder.path().join("baton.db"));
        let programs = Programs::find()?;
        let test_node = |at| {
            let test_node = TestNode::build(&program)?
                .with("BATON_SESSION_SNAPSHOT_INTERVAL", "3600")
                .with("BATON_BROWSER", programs.of(at));
            let Some(database) = &database else { return Ok(test_node) };
            let test_node = test_node.with("BATON_DATABASE_URL", database);
            let test_node = test_node.with("BATON_MASTER_KEY", MASTER_KEY);
            anyhow::Ok(test_node.with("BATON_LEASE", LEASE.as_secs().to_string()))
        };
        let mut test_nodes = [test_node(0)?, test_node(1)?];
        for test_node in &mut test_nodes {
            test_node.start_node().await?;
            test_node.keep_address()?;
        }
        let clients = [test_nodes[0].client()?.clone(), test_nodes[1].client()?.clone()];
        let store = async |at: usize| {
            let data = test_nodes[at].data();
            let key = match &database {
                Some(_) => MasterKey::from_base64(MASTER_KEY)?,
                None => MasterKey::load(&data.key())?,
            };
            let path = database.clone().unwrap_or_else(|| data.database());
            let (database, limits) = (DatabaseUrl::Sqlite(path), Limits::default());
            anyhow::Ok(Store::open(baton_store::Config { database, key, limits }).await?)
        };
        let stores = [store(0).await?, store(1).await?];
        if !is_shared {
            stage::know(&clients[0], &clients[1], "node1").await?;
            stage::know(&clients[1], &clients[0], "node0").await?;
        }
        let (is_up, frozen) = ([true; 2], Mutex::default());
        Ok(Self {
            sides: test_nodes,
            clients,
            stores,
            is_up,
            frozen,
            is_shared,
            programs,
            _shared: folder,
        })
    }

    fn frozen(&self) -> MutexGuard<'_, Vec<u32>> {
        self.frozen.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn freeze(&self, pid: u32) -> bool {
        let frozen = baton_testing::freeze(pid).is_ok();
        if frozen {
            self.frozen().push(pid);
        }
        frozen
    }

    /// The keeper of a session and its browser.
    async fn holders(&self, at: usize, session: SessionId) -> Option<[(&'static str, u32); 2]> {
        self.sides[at].holders(session).await.ok()
    }
}

/// When a process started.
fn born(pid: u32) -> Option<Instant> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    let (_, fields) = stat.rsplit_once(") ")?;
    let started: f64 = fields.split(' ').nth(19)?.parse().ok()?;
    let uptime = fs::read_to_string("/proc/uptime").ok()?;
    let uptime: f64 = uptime.split(' ').next()?.parse().ok()?;
    let age = Duration::try_from_secs_f64(uptime - started / TICKS).ok()?;
    Instant::now().checked_sub(age)
}

impl Stage for TestNodes {
    fn is_shared(&self) -> bool {
        self.is_shared
    }

    fn has_sandboxes(&self) -> bool {
        true
    }

    fn is_up(&self, at: usize) -> bool {
        self.is_up[at]
    }

    fn client(&self, at: usize) -> Result<Client> {
        Ok(self.clients[at].clone())
    }

    fn store(&self, at: usize) -> &Store {
        &self.stores[at]
    }

    async fn mark(&self, at: usize, session: SessionId, name: &str, host: &str) -> bool {
        real_browser::mark(&self.sides[at], session, name, host).await
    }

    async fn marks(&self, at: usize, session: SessionId) -> Option<BTreeSet<String>> {
        real_browser::marks(&self.sides[at], session).await
    }

    async fn browser(&self, at: usize, session: SessionId) -> Option<(u64, Instant)> {
        let [_, (_, browser)] = self.holders(at, session).await?;
        Some((browser.into(), born(browser)?))
    }

    async fn kill_browser(&self, at: usize, session: SessionId) {
        if let Some(holders) = self.holders(at, session).await {
            // The walk finds out which process lives on.
            let _ = victims::kill_all(&holders).await;
        }
    }

    async fn freeze_keeper(&self, at: usize, session: SessionId) -> bool {
        let holders = self.holders(at, session).await;
        holders.is_some_and(|[(_, keeper), _]| self.freeze(keeper))
    }

    fn freeze_node(&self, at: usize) {
        if let Ok(pid) = self.sides[at].node_pid() {
            self.freeze(pid);
        }
    }

    fn thaw(&self) {
        for pid in self.frozen().drain(..) {
            // It may have been killed.
            let _ = baton_testing::wake(pid);
        }
    }

    async fn kill_node(&mut self, at: usize) -> Result<()> {
        self.is_up[at] = false;
        victims::kill(self.sides[at].node_pid()?);
        self.sides[at].bury_node().await
    }

    fn killer(&self, at: usize) -> Box<dyn FnOnce() + Send> {
        let pid = self.sides[at].node_pid();
        Box::new(move || pid.into_iter().for_each(victims::kill))
    }

    async fn stop_node(&mut self, at: usize) -> Result<()> {
        self.is_up[at] = false;
        self.sides[at].stop_node().await
    }

    async fn start_node(&mut self, at: usize, rehydrates: bool) -> Result<()> {
        let settings = format!("[recovery]\nauto_rehydrate = {rehydrates}\n");
        fs::write(self.sides[at].data().settings(), settings)?;
        let started = self.sides[at].start_node().await;
        started.with_context(|| self.sides[at].log_tail())?;
        self.is_up[at] = true;
        Ok(())
    }

    fn has_program(&self, at: usize, has: bool) -> Result<()> {
        if has { self.programs.give(at) } else { self.programs.take(at) }
    }

    fn lease(&self) -> Duration {
        LEASE
    }

    fn findings(&self) -> Vec<String> {
        Vec::new()
    }
}

impl Drop for TestNodes {
    fn drop(&mut self) {
        // One that stands still would not end.
        self.thaw();
    }
}
