//! The data folder of a command and its node: found, or started when none runs, one at a time.

use crate::output::Output;
use anyhow::{Context as _, bail};
use baton_api::{Client, ClientError, Exit};
use baton_server::inspect;
use baton_session::AgentName;
use baton_store::data::{DataError, DataFolder, NodeFile};
use etcetera::BaseStrategy as _;
use std::fs::{File, OpenOptions, TryLockError};
use std::os::unix::fs::OpenOptionsExt;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::Duration;
use tokio::time::{Instant, sleep};
use url::Url;

/// The surroundings of a command.
#[derive(Debug, Clone)]
pub(crate) struct Context {
    /// The node's folder.
    pub(crate) data: DataFolder,
    /// Whether the caller named that folder.
    pub(crate) named: bool,
    /// As which agent to ask.
    pub(crate) agent: Option<AgentName>,
    /// How to answer.
    pub(crate) output: Output,
}

impl Context {
    /// The data folder is the one named, or `baton` in the platform's folder for data.
    pub(crate) fn new(
        data: Option<PathBuf>,
        agent: Option<AgentName>,
        output: Output,
    ) -> anyhow::Result<Self> {
        let named = data.is_some();
        let path = match data {
            Some(path) => path,
            None => default_folder()?,
        };
        Ok(Self { data: DataFolder::at(&path)?, named, agent, output })
    }

    /// A client of the data folder's node, which is started when none runs.
    pub(crate) async fn client(&self) -> anyhow::Result<Client> {
        let client = find_or_start(&self.data, self.output).await?;
        Ok(client.as_agent(self.agent.clone()))
    }
}

fn default_folder() -> anyhow::Result<PathBuf> {
    let strategy = etcetera::base_strategy::choose_native_strategy()
        .context("expected a home folder, found none\nname a folder with --data")?;
    Ok(strategy.data_dir().join("baton"))
}

/// How long a node may take to say that it lives.
const HEALTH_LIMIT: Duration = Duration::from_secs(5);

/// A node that answers.
#[derive(Debug)]
pub(crate) struct LocalNode {
    /// Asks it.
    pub(crate) client: Client,
}

/// A node answers under the id of this folder, and does not hold it.
#[derive(Debug, thiserror::Error)]
#[error(
    "expected the node at {url} to work on {}, found that it has the same id and works on another \
     folder: one of the two is a copy\nremove node.json and node.id from the copy; to copy a node, \
     use baton backup and baton restore", data.display()
)]
pub(crate) struct Elsewhere {
    url: Url,
    data: PathBuf,
}

/// The node of this data folder; `None` when none runs. A file left behind by a dead node, or a
/// port that another program took over, is no node.
pub(crate) async fn find(data: &DataFolder) -> anyhow::Result<Option<LocalNode>> {
    let file = match NodeFile::read(data) {
        Ok(Some(file)) => file,
        Ok(None) | Err(DataError::NotANodeFile { .. }) => return Ok(None),
        Err(error) => return Err(error.into()),
    };
    let path = data.admin_key();
    let key = match std::fs::read_to_string(&path) {
        Ok(key) => key,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => String::new(),
        Err(error) => {
            return Err(error).with_context(|| format!("could not read {}", path.display()));
        }
    };
    let client = Client::new(file.url.clone(), key.trim().into())?;
    if !answers(&client, &file).await? {
        return Ok(None);
    }
    // A node that is ending gives up its folder, and then does not answer any more.
    if !inspect::is_held(data) && answers(&client, &file).await? {
        return Err(Elsewhere { url: file.url, data: data.path().to_owned() }.into());
    }
    Ok(Some(LocalNode { client }))
}

/// Whether `client` asks the node that holds this folder now. The port of a node that has ended may be
/// anybody's, and must not hear the key.
pub(crate) fn is_current(data: &DataFolder, client: &Client) -> bool {
    let file = NodeFile::read(data).ok().flatten();
    file.is_some_and(|file| file.url == *client.base()) && inspect::is_held(data)
}

async fn answers(client: &Client, file: &NodeFile) -> anyhow::Result<bool> {
    match tokio::time::timeout(HEALTH_LIMIT, client.health()).await {
        Ok(Ok(health)) => Ok(health.node_id == file.node_id),
        Ok(Err(error @ ClientError::NotBuilt(_))) => Err(error.into()),
        _ => Ok(false),
    }
}

/// How long a node may take to be ready; at its start it looks at every session.
const START_LIMIT: Duration = Duration::from_mins(1);
/// How often we look whether it is.
const STEP: Duration = Duration::from_millis(25);
/// A node that a command started ends itself after so long without use.
const IDLE_EXIT: &str = "10m";
/// The log is begun anew when it is larger than this, in bytes; one older log is kept.
const LOG_BYTES: u64 = 4 << 20;

/// The node of this data folder; started, detached, when none runs.
async fn find_or_start(data: &DataFolder, output: Output) -> anyhow::Result<Client> {
    if let Some(found) = find(data).await? {
        return Ok(found.client);
    }
    data.create()?;
    let end = Instant::now() + START_LIMIT;
    let _lock = lock(data, end).await?;
    // The command that had the lock before us may have started one.
    if let Some(found) = find(data).await? {
        return Ok(found.client);
    }
    let log = data.node_log();
    output.note(&format!("starting a node in the background, its log is {}", log.display()));
    let progress = output.progress("starting a node");
    let client = start(data, end).await;
    progress.end();
    client
}

/// Takes turns with other commands that want to start a node.
async fn lock(data: &DataFolder, end: Instant) -> anyhow::Result<File> {
    let path = data.start_lock();
    let file = OpenOptions::new()
        .create(true)
        .truncate(false)
        .write(true)
        .mode(0o600)
        .open(&path)
        .with_context(|| format!("could not open {}", path.display()))?;
    loop {
        match file.try_lock() {
            Ok(()) => return Ok(file),
            Err(TryLockError::WouldBlock) if Instant::now() < end => sleep(STEP).await,
            Err(error) => return Err(error).context("another command starts a node and hangs"),
        }
    }
}

async fn start(data: &DataFolder, end: Instant) -> anyhow::Result<Client> {
    let mut child = spawn(data)?;
    loop {
        if let Some(found) = find(data).await? {
            return Ok(found.client);
        }
        if let Some(status) = child.try_wait()? {
            // A node that was about to end held the folder: the next attempt gets it.
            let held = status.code() == Some(i32::from(Exit::Conflict.code()));
            if !held || Instant::now() >= end {
                bail!("the node ended with {status}: {}", last_words(data));
            }
            sleep(STEP * 10).await;
            child = spawn(data)?;
        }
        if Instant::now() >= end {
            bail!("expected the node to be ready within {START_LIMIT:?}: {}", last_words(data));
        }
        sleep(STEP).await;
    }
}

fn spawn(data: &DataFolder) -> anyhow::Result<Child> {
    let program = std::env::current_exe().context("expected to know this program's own file")?;
    let log = open_log(data)?;
    Command::new(&program)
        .arg("--data")
        .arg(data.path())
        .args(["serve", "--detached", "--idle-exit", IDLE_EXIT])
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(log)
        .spawn()
        .with_context(|| format!("could not start {}", program.display()))
}

fn open_log(data: &DataFolder) -> anyhow::Result<File> {
    let path = data.node_log();
    if std::fs::metadata(&path).is_ok_and(|found| found.len() > LOG_BYTES) {
        std::fs::rename(&path, path.with_extension("log.1"))?;
    }
    OpenOptions::new()
        .create(true)
        .append(true)
        .mode(0o600)
        .open(&path)
        .with_context(|| format!("could not open {}", path.display()))
}

/// The end of the node's log, which says why it did not start.
fn last_words(data: &DataFolder) -> String {
    let log = std::fs::read_to_string(data.node_log()).unwrap_or_default();
    let lines: Vec<&str> = log.lines().collect();
    let end = lines[lines.len().saturating_sub(4)..].join("\n");
    format!("its log {} ends with\n{end}", data.node_log().display())
}
