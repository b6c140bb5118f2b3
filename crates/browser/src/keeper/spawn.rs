//! Starting a keeper as a process that outlives its parent.

use super::beats::{Beats, tell};
use super::protocol::{KeeperError, KeeperSpec, Ready, Report};
use super::{browser, connect};
use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fmt;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::process::{Child, ChildStdin, ChildStdout, Command};
use tokio_util::task::AbortOnDropHandle;

/// How long a keeper may take until its browser speaks.
const START_LIMIT: Duration = Duration::from_secs(30);
/// The longest report that is read, in bytes.
const REPORT_LIMIT: u64 = 64 * 1024;

/// How a node comes by keepers, and by what it ends one that does not answer. All else is said over the
/// keeper's socket.
pub trait Keepers: fmt::Debug + Send + Sync {
    /// Starts a keeper and waits, at most 30 s, until clients can connect. From its start on it hears the `beats`
    /// of its node, where that shares its database.
    fn spawn<'a>(
        &'a self,
        spec: &'a KeeperSpec,
        beats: Option<Beats>,
    ) -> BoxFuture<'a, Result<StartedKeeper, KeeperError>>;

    /// Kills the keeper that listens at `socket`, whether it answers or not, and waits until it is gone;
    /// false when none listens.
    fn force<'a>(&'a self, socket: &'a Path) -> BoxFuture<'a, Result<bool, KeeperError>>;
}

/// A keeper that listens and whose browser speaks.
#[derive(Debug)]
pub struct StartedKeeper {
    /// What it says of itself.
    pub ready: Ready,
    /// What tells it of the beats of its node, until this is dropped: whoever connects gives it time from then
    /// on.
    pub told: Option<AbortOnDropHandle<()>>,
}

/// Keepers are processes.
impl Keepers for KeeperCommand {
    fn spawn<'a>(
        &'a self,
        spec: &'a KeeperSpec,
        beats: Option<Beats>,
    ) -> BoxFuture<'a, Result<StartedKeeper, KeeperError>> {
        spawn(self, spec, beats).boxed()
    }

    fn force<'a>(&'a self, socket: &'a Path) -> BoxFuture<'a, Result<bool, KeeperError>> {
        connect::force(socket).boxed()
    }
}

/// The program that calls [`run`](super::run): Baton's own, with its hidden subcommand.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeeperCommand {
    /// The program.
    pub program: PathBuf,
    /// Its arguments.
    pub args: Vec<OsString>,
    /// All of its environment.
    pub environment: BTreeMap<String, String>,
}

/// Starts a keeper and waits, at most 30 s, until clients can connect. The keeper logs to
/// `spec.log`. Needs a tokio runtime, which reaps the process as long as it lives, and tells it of the `beats`.
pub async fn spawn(
    command: &KeeperCommand,
    spec: &KeeperSpec,
    beats: Option<Beats>,
) -> Result<StartedKeeper, KeeperError> {
    let mut child = start(command, spec)?;
    let waiting = talk(child.stdin.take(), child.stdout.take(), spec, beats);
    let outcome =
        tokio::time::timeout(START_LIMIT, waiting).await.unwrap_or(Err(KeeperError::TimedOut {
            what: "a keeper that is ready",
            limit: START_LIMIT,
        }));
    if outcome.is_err() {
        // It may be gone already.
        let _ = child.start_kill();
    }
    tokio::spawn(async move {
        match child.wait().await {
            Ok(status) => tracing::debug!(%status, "a keeper ended"),
            Err(error) => tracing::warn!(%error, "a keeper could not be waited for"),
        }
    });
    outcome
}

fn start(command: &KeeperCommand, spec: &KeeperSpec) -> Result<Child, KeeperError> {
    let log = browser::open(&spec.log)?;
    Command::new(&command.program)
        .args(&command.args)
        // It outlives the node, and its environment may be read as long as it lives: what the node was
        // given there, such as the master key, stays with the node.
        .env_clear()
        .envs(&command.environment)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(log)
        .spawn()
        .map_err(KeeperError::file("start", &command.program))
}

async fn talk(
    stdin: Option<ChildStdin>,
    stdout: Option<ChildStdout>,
    spec: &KeeperSpec,
    beats: Option<Beats>,
) -> Result<StartedKeeper, KeeperError> {
    let not_started = |reason: String| KeeperError::NotStarted { reason };
    let (Some(mut stdin), Some(stdout)) = (stdin, stdout) else {
        return Err(not_started("expected its standard input and output, found none".to_owned()));
    };
    let mut spec_line = serde_json::to_vec(spec).map_err(|error| not_started(error.to_string()))?;
    spec_line.push(b'\n');
    // A keeper that does not read its input says why in its report, or in its log.
    let _ = stdin.write_all(&spec_line).await;
    // Where there are no beats, its input ends here.
    let told = beats.map(move |beats| AbortOnDropHandle::new(tokio::spawn(tell(stdin, beats))));
    let mut line = String::new();
    let read = BufReader::new(stdout.take(REPORT_LIMIT)).read_line(&mut line).await;
    read.map_err(|error| not_started(error.to_string()))?;
    match serde_json::from_str(&line) {
        Ok(Report::Ready(ready)) => Ok(StartedKeeper { ready, told }),
        Ok(Report::Error(reason)) => Err(not_started(reason)),
        Err(_) => {
            let word = browser::last_line(&spec.log).unwrap_or_else(|| "nothing".to_owned());
            Err(not_started(format!("expected a report, found none; its last word: {word}")))
        }
    }
}
