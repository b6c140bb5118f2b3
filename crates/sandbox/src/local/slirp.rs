//! The network of a sandbox: slirp4netns passes its packets on, as connections of this machine.

use super::tools::Tools;
use super::{drain, timed_out};
use crate::error::SandboxError;
use std::process::Stdio;
use std::time::Duration;
use tokio::io::AsyncReadExt;
use tokio::process::{Child, ChildStdin, Command};

/// How long the network may take to come up.
const LIMIT: Duration = Duration::from_secs(10);

/// The process that passes on the packets of a sandbox.
#[derive(Debug)]
pub(super) struct Slirp {
    process: Child,
    /// It ends when this closes, with us at the latest.
    _alive: Option<ChildStdin>,
}

impl Slirp {
    /// Gives the network namespace of a process a network; `reaches_host` tells whether that has this
    /// machine's loopback, too, which is then for the rules to forbid.
    pub(super) async fn start(
        tools: &Tools,
        name: &str,
        pid: u32,
        reaches_host: bool,
    ) -> Result<Self, SandboxError> {
        let namespace = |kind| format!("/proc/{pid}/ns/{kind}");
        let mut command = Command::new(&tools.slirp);
        // Its input and output tell when it has to end, and that it is ready.
        command.args(["--configure", "--mtu=65520", "--enable-seccomp"]);
        command.args(["--exit-fd=0", "--ready-fd=1"]);
        if !reaches_host {
            command.arg("--disable-host-loopback");
        }
        command.arg(format!("--userns-path={}", namespace("user")));
        command.args(["--netns-type=path".to_owned(), namespace("net"), "tap0".into()]);
        let mut process = command
            .env_clear()
            // For whoever looks at what runs on the machine.
            .env("BATON_SANDBOX", name)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .kill_on_drop(true)
            .spawn()
            .map_err(SandboxError::system("start slirp4netns"))?;
        let alive = process.stdin.take();
        let ready = tokio::time::timeout(LIMIT, is_ready(&mut process)).await;
        ready.map_err(|_| timed_out("a network for the sandbox", LIMIT))??;
        drain(process.stderr.take());
        Ok(Self { process, _alive: alive })
    }

    /// Ends it and waits.
    pub(super) async fn end(mut self) {
        if let Err(error) = self.process.kill().await {
            tracing::debug!(%error, "slirp4netns had ended");
        }
    }
}

async fn is_ready(process: &mut Child) -> Result<(), SandboxError> {
    let mut byte = [0];
    let read = match &mut process.stdout {
        Some(output) => output.read(&mut byte).await,
        None => Ok(0),
    };
    if read.is_ok_and(|read| read == 1) {
        return Ok(());
    }
    let mut reason = String::new();
    if let Some(errors) = &mut process.stderr {
        // What it says is told as far as it can be read.
        let _ = errors.take(4096).read_to_string(&mut reason).await;
    }
    Err(SandboxError::NotStarted { reason: format!("no network: {}", reason.trim()) })
}
