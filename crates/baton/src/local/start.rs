//! Starts a node in the background, one at a time, and waits until it is ready.

use super::find::find;
use crate::output::Output;
use anyhow::{Context as _, bail};
use baton_api::{Client, Exit};
use baton_store::data::DataFolder;
use std::fs::{File, OpenOptions, TryLockError};
use std::os::unix::fs::OpenOptionsExt;
use std::process::{Child, Command, Stdio};
use std::time::Duration;
use tokio::time::{Instant, sleep};

/// How long a node may take to be ready; at its start it looks at every session.
const START_LIMIT: Duration = Duration::from_mins(1);
/// How often we look whether it is.
const STEP: Duration = Duration::from_millis(25);
/// A node that a command started ends itself after so long without use.
const IDLE_EXIT: &str = "10m";
/// The log is begun anew when it is larger than this, in bytes; one older log is kept.
const LOG_BYTES: u64 = 4 << 20;

/// The node of this data folder; started, detached, when none runs.
pub(crate) async fn find_or_start(data: &DataFolder, output: Output) -> anyhow::Result<Client> {
    if let Some(found) = find(data).await? {
        return Ok(found.client);
    }
    data.create()?;
    let end = Instant::now() + START_LIMIT;
    let _lock = lock(data, end).await?;
    // Whoever had the lock before us may have started one.
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
