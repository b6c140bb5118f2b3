//! A whole node in a thread of its own: it can be killed in the middle, and stopped as SIGSTOP stops one.
//!
//! The one idea: all that a node does runs on one thread. When that thread's runtime is dropped, nothing
//! of the node goes on; while the thread stands still, the node does, and its sockets take connections
//! that it does not answer. Its sandboxes are folders in which nothing runs.

use super::keeper::StandIns;
use super::street::Street;
use anyhow::{Context, Result, anyhow, bail, ensure};
use baton_api::Client;
use baton_sandbox::{
    Answer, Command, Ended, Enforced, Process, Provider, Sandbox, SandboxError, SandboxSpec,
    WORKSPACE,
};
use baton_server::config::{BrowserChoices, Choices, Surroundings};
use baton_server::{Config, serve};
use baton_store::data::{DataFolder, NodeFile};
use baton_store::{DatabaseUrl, Limits, MasterKey, Store};
use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{self, Cursor};
use std::net::SocketAddr;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;
use tempfile::TempDir;
use tokio::net::TcpListener;
use tokio::runtime::Handle;
use tokio::sync::oneshot;
use tokio::time::{Instant, sleep};
use tokio_util::sync::CancellationToken;
use url::Url;

/// How long a node may take to start, or to end.
const LIMIT: Duration = Duration::from_mins(1);
/// The key of databases that are shared.
pub(crate) const MASTER_KEY: &str = "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=";

/// A data folder, and the node that runs on it.
#[derive(Debug)]
pub struct StandInNode {
    folder: TempDir,
    data: DataFolder,
    street: Street,
    at: usize,
    machine: Handle,
    shared: Option<Shared>,
    address: SocketAddr,
    client: Option<Client>,
    running: Option<Running>,
}

/// What a node shares with others.
#[derive(Debug, Clone)]
pub struct Shared {
    /// Their database.
    pub database: DatabaseUrl,
    /// For how long each holds what it holds.
    pub lease: Duration,
    /// The place of this one in their cluster, if they are one.
    pub member: Option<Member>,
}

/// A node's place in a cluster.
#[derive(Debug, Clone)]
pub struct Member {
    /// What the cluster is called.
    pub cluster: String,
    /// Where the others ask this one.
    pub internal_url: Url,
    /// Its bus, and the file with what it is let in by.
    pub bus: (Url, PathBuf),
}

#[derive(Debug)]
struct Running {
    shutdown: CancellationToken,
    kill: CancellationToken,
    runtime: Handle,
    gate: Arc<Gate>,
    thread: JoinHandle<()>,
}

/// Where a node stands still.
#[derive(Debug, Default)]
struct Gate {
    shut: Mutex<bool>,
    opened: Condvar,
}

impl Gate {
    fn set(&self, shut: bool) {
        *self.shut.lock().unwrap_or_else(PoisonError::into_inner) = shut;
        self.opened.notify_all();
    }

    fn wait(&self) {
        let shut = self.shut.lock().unwrap_or_else(PoisonError::into_inner);
        drop(self.opened.wait_while(shut, |shut| *shut));
    }
}

impl StandInNode {
    /// The node `at` of a street, which does not run yet.
    pub fn new(
        street: &Street,
        at: usize,
        machine: &Handle,
        shared: Option<Shared>,
    ) -> Result<Self> {
        let folder = tempfile::Builder::new().prefix("walk-").tempdir()?;
        let data = DataFolder::at(&folder.path().join("data"))?;
        data.create()?;
        let node = Self {
            folder,
            data,
            street: street.clone(),
            at,
            machine: machine.clone(),
            shared,
            address: ([127, 0, 0, 1], 0).into(),
            client: None,
            running: None,
        };
        node.find_program()?;
        Ok(node)
    }

    /// Its data folder.
    pub fn data(&self) -> &DataFolder {
        &self.data
    }

    /// Where it is asked, once it has run.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Whether it runs.
    pub fn is_up(&self) -> bool {
        self.running.is_some()
    }

    /// A client of it, whether or not it runs.
    pub fn client(&self) -> Result<Client> {
        self.client.clone().context("expected a node that has run")
    }

    fn program(&self) -> PathBuf {
        self.folder.path().join("chromium")
    }

    /// From now on its machine has no browser.
    pub fn lose_program(&self) -> Result<()> {
        Ok(fs::remove_file(self.program())?)
    }

    /// From now on it has.
    pub fn find_program(&self) -> Result<()> {
        fs::write(self.program(), "")?;
        Ok(fs::set_permissions(self.program(), fs::Permissions::from_mode(0o700))?)
    }

    fn config(&self, rehydrates: bool) -> Result<Config> {
        let mut choices = Choices {
            browser: BrowserChoices::started(self.program()),
            auto_rehydrate: Some(rehydrates),
            session_snapshot_interval: Some(Duration::from_hours(1)),
            max_session_snapshots: Some(1000),
            requests_per_minute: Some(u32::MAX),
            ..Choices::default()
        };
        if let Some(shared) = &self.shared {
            choices.database = Some(shared.database.clone());
            choices.lease = Some(shared.lease);
            if let Some(member) = &shared.member {
                choices.node_name = Some(format!("node{}", self.at));
                choices.cluster = Some(member.cluster.clone());
                choices.internal_url = Some(member.internal_url.clone());
                choices.failover = Some(true);
                let (bus, credentials) = member.bus.clone();
                choices.bus_servers = Some(vec![bus]);
                choices.bus_credentials = Some(credentials);
            }
        }
        let around = Surroundings {
            data: self.data.clone(),
            master_key: self.shared.is_some().then(|| MASTER_KEY.into()),
            debug_secret: None,
            client_secret: None,
            keepers: Arc::new(StandIns::new(self.street.clone(), self.at, self.machine.clone())),
            sandbox_init: None,
            inherited: BTreeMap::new(),
            board: None,
            idle_exit: None,
        };
        let mut config = Config::new(choices, around)?;
        config.provider = Some(Arc::new(Rooms));
        Ok(config)
    }

    /// Starts it, and waits until it answers.
    pub async fn start(&mut self, rehydrates: bool) -> Result<()> {
        ensure!(self.running.is_none(), "expected a node that does not run");
        let config = self.config(rehydrates)?;
        let _ = fs::remove_file(self.data.node_file());
        let (shutdown, kill) = (CancellationToken::new(), CancellationToken::new());
        let gate = Arc::<Gate>::default();
        let (told, runtime) = std::sync::mpsc::channel();
        let (address, ending, killed) = (self.address, shutdown.clone(), kill.clone());
        let thread =
            std::thread::Builder::new().name(format!("node {}", self.at)).spawn(move || {
                live(config, address, ending, &killed, &told);
            })?;
        let runtime = runtime.recv().context("expected a runtime")?;
        self.running = Some(Running { shutdown, kill, runtime, gate, thread });
        let end = Instant::now() + LIMIT;
        let file = loop {
            if let Some(file) = NodeFile::read(&self.data)? {
                break file;
            }
            let ended = self.running.as_ref().is_none_or(|running| running.thread.is_finished());
            ensure!(!ended, "the node ended before it was ready");
            ensure!(Instant::now() < end, "expected a node that is ready within {LIMIT:?}");
            sleep(Duration::from_millis(2)).await;
        };
        if self.client.is_none() {
            let key = fs::read_to_string(self.data.admin_key())?;
            self.address = file.url.socket_addrs(|| None)?[0];
            self.client = Some(Client::new(file.url, key.trim().into())?);
        }
        self.street.reach(self.at, true);
        Ok(())
    }

    /// Kills it; its keepers live on.
    pub async fn kill(&mut self) -> Result<()> {
        self.street.reach(self.at, false);
        let Some(running) = self.running.take() else { return Ok(()) };
        running.kill.cancel();
        running.gate.set(false);
        ended(running).await
    }

    /// Whatever kills it, from wherever; [`kill`](Self::kill) waits for its end.
    pub fn killer(&self) -> impl FnOnce() + Send + use<> {
        let running = self.running.as_ref();
        let running = running.map(|running| (running.kill.clone(), Arc::clone(&running.gate)));
        let (street, at) = (self.street.clone(), self.at);
        move || {
            street.reach(at, false);
            let Some((kill, gate)) = running else { return };
            kill.cancel();
            gate.set(false);
        }
    }

    /// The database, as the node opens it.
    pub async fn store(&self) -> Result<Store> {
        let database = match &self.shared {
            Some(shared) => shared.database.clone(),
            None => DatabaseUrl::Sqlite(self.data.database()),
        };
        let key = match &self.shared {
            Some(_) => MasterKey::from_base64(MASTER_KEY)?,
            None => MasterKey::load(&self.data.key())?,
        };
        let limits = Limits::default();
        Ok(Store::open(baton_store::Config { database, key, limits }).await?)
    }

    /// Ends it as it should be ended.
    pub async fn stop(&mut self) -> Result<()> {
        self.street.reach(self.at, false);
        let Some(running) = self.running.take() else { return Ok(()) };
        running.shutdown.cancel();
        running.gate.set(false);
        ended(running).await
    }

    /// Lets it stand still, or go on.
    pub fn freeze(&self, frozen: bool) {
        let Some(running) = &self.running else { return };
        running.gate.set(frozen);
        if frozen {
            let gate = Arc::clone(&running.gate);
            running.runtime.spawn(async move { gate.wait() });
        }
        self.street.reach(self.at, !frozen);
    }
}

impl Drop for StandInNode {
    fn drop(&mut self) {
        let Some(running) = self.running.take() else { return };
        running.kill.cancel();
        running.gate.set(false);
        // Its owner dropped it, and does not ask how it ended.
        let _ = running.thread.join();
    }
}

/// Waits for the end of a node that was stopped or killed.
async fn ended(running: Running) -> Result<()> {
    let end = Instant::now() + LIMIT;
    while !running.thread.is_finished() {
        if Instant::now() >= end {
            running.kill.cancel();
            bail!("the node did not end within {LIMIT:?}");
        }
        sleep(Duration::from_millis(2)).await;
    }
    running.thread.join().map_err(|_| anyhow!("the node's thread panicked"))
}

/// The life of a node, on this thread.
fn live(
    config: Config,
    address: SocketAddr,
    shutdown: CancellationToken,
    kill: &CancellationToken,
    told: &std::sync::mpsc::Sender<Handle>,
) {
    let Ok(runtime) = tokio::runtime::Builder::new_current_thread().enable_all().build() else {
        return;
    };
    let _ = told.send(runtime.handle().clone());
    let served = runtime.block_on(async {
        let listener = match TcpListener::bind(address).await {
            Ok(listener) => listener,
            Err(error) => return Some(error.to_string()),
        };
        let served = kill.run_until_cancelled(Box::pin(serve(config, listener, shutdown))).await;
        served.and_then(Result::err).map(|error| error.to_string())
    });
    if let Some(error) = served {
        tracing::error!(error, "a node ended");
    }
    // What a dead process had begun on its disk is done; nothing else goes on.
    runtime.shutdown_timeout(LIMIT);
}

/// Makes sandboxes that are folders in which nothing runs. They stand for sandboxes where sessions are handed
/// in by the hundred: a profile that is put there is what comes back.
#[derive(Debug)]
struct Rooms;

/// One of them.
#[derive(Debug)]
struct Room {
    folder: TempDir,
    enforced: Enforced,
    ended: CancellationToken,
}

fn failed(error: &io::Error) -> SandboxError {
    SandboxError::NotStarted { reason: error.to_string() }
}

impl Provider for Rooms {
    fn create<'a>(&'a self, _: &'a SandboxSpec) -> Answer<'a, Box<dyn Sandbox>> {
        async {
            let folder = tempfile::tempdir().map_err(|error| failed(&error))?;
            let enforced = Enforced::No("nothing runs here".to_owned());
            let room = Room { folder, enforced, ended: CancellationToken::new() };
            Ok(Box::new(room) as Box<dyn Sandbox>)
        }
        .boxed()
    }

    fn isolates(&self) -> bool {
        true
    }
}

impl Room {
    fn place(&self, path: &str) -> PathBuf {
        let inside = path.strip_prefix(WORKSPACE).unwrap_or(path);
        self.folder.path().join(inside.trim_start_matches('/'))
    }

    fn pack(&self, path: &str) -> Result<Vec<u8>, SandboxError> {
        let mut archive = tar::Builder::new(Vec::new());
        archive.append_dir_all("", self.place(path)).map_err(|error| failed(&error))?;
        archive.into_inner().map_err(|error| failed(&error))
    }
}

impl Sandbox for Room {
    fn enforced(&self) -> &Enforced {
        &self.enforced
    }

    fn workspace(&self) -> &str {
        WORKSPACE
    }

    fn start<'a>(&'a self, command: &'a Command) -> Answer<'a, Process> {
        async {
            let output = match command.words.as_slice() {
                [verb, path] if verb == "pack" => self.pack(path)?,
                _ => Vec::new(),
            };
            let (ends, ended) = oneshot::channel();
            // The caller that started it may have left.
            let _ = ends.send(Ended::Code(0));
            let end = CancellationToken::new().drop_guard();
            let outputs = [Cursor::new(output), Cursor::new(Vec::new())];
            let outputs = outputs.map(|output| Box::new(output) as baton_sandbox::Output);
            Ok(Process::new(None, outputs, ended, end))
        }
        .boxed()
    }

    fn unpack<'a>(&'a self, archive: File, path: &'a str) -> Answer<'a, Result<(), String>> {
        let unpacked = tar::Archive::new(archive).unpack(self.place(path));
        async { Ok(unpacked.map_err(|error| error.to_string())) }.boxed()
    }

    fn tool(&self, verb: &str, path: &str) -> Command {
        Command::new([verb, path])
    }

    fn program(&self) -> &Path {
        Path::new("baton")
    }

    fn settle(&self) -> Answer<'_, ()> {
        async { Ok(()) }.boxed()
    }

    fn remove(&self) -> Answer<'_, ()> {
        self.ended.cancel();
        async { Ok(()) }.boxed()
    }

    fn ended(&self) -> BoxFuture<'_, ()> {
        self.ended.cancelled().boxed()
    }
}
