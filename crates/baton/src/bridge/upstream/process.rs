//! The other server's process: started, read, and ended with everything that it started itself.
//!
//! It leads a process group of its own, so that a launcher such as `npx` takes nobody's place: who is
//! to end is the group.

use super::secret::Secret;
use super::words;
use crate::bridge::message::LINE_BYTES;
use rustix::process::{Pid, Signal, kill_process_group, test_kill_process_group};
use std::collections::BTreeMap;
use std::io;
use std::process::Stdio;
use std::time::Duration;
use tokio::io::{AsyncBufReadExt as _, AsyncReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::process::{Child, ChildStdin, ChildStdout, Command};
use tokio::sync::mpsc;
use tokio::task::JoinHandle;
use tokio::time::{Instant, sleep};

/// How many messages wait for a server that reads slowly.
const WAITING: usize = 64;
/// What is read of its output at once, in bytes.
const BUFFER: usize = 64 << 10;
/// How often we look whether it has ended.
const STEP: Duration = Duration::from_millis(10);

/// The running process.
pub(super) struct Process {
    child: Child,
    group: Option<Pid>,
    writer: JoinHandle<()>,
}

/// What the process says, without the secret.
pub(super) struct Output {
    lines: BufReader<ChildStdout>,
    secret: Secret,
}

/// How much patience an end has.
#[derive(Debug, Clone, Copy)]
pub(in crate::bridge) enum Patience {
    /// It may end by itself when its input closes, then when it is asked to.
    Long,
    /// It is asked at once.
    Short,
}

impl Process {
    /// Starts it, in an environment of these variables only.
    pub(super) fn start(
        name: &str,
        command: &[String],
        environment: &BTreeMap<String, String>,
        secret: Secret,
    ) -> io::Result<(Self, mpsc::Sender<String>, Output)> {
        let (program, arguments) = command.split_first().ok_or(io::ErrorKind::InvalidInput)?;
        let mut child = Command::new(program)
            .args(arguments)
            .env_clear()
            .envs(environment)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .process_group(0)
            .kill_on_drop(true)
            .spawn()?;
        let group = child.id().and_then(|id| Pid::from_raw(i32::try_from(id).ok()?));
        let missing = || io::Error::other("expected pipes to the process");
        let input = child.stdin.take().ok_or_else(missing)?;
        let output = child.stdout.take().ok_or_else(missing)?;
        let errors = child.stderr.take().ok_or_else(missing)?;
        tokio::spawn(words::pass_on(name.to_owned(), errors, secret.clone()));
        let (lines, waiting) = mpsc::channel(WAITING);
        let writer = tokio::spawn(write(input, waiting));
        let output = Output { lines: BufReader::with_capacity(BUFFER, output), secret };
        Ok((Self { child, group, writer }, lines, output))
    }

    /// Ends it: its input closes, it is asked, it is killed. Returns when nobody of its group is left.
    pub(super) async fn end(mut self, patience: Patience) {
        self.writer.abort();
        let (closed, asked) = match patience {
            Patience::Long => (Duration::from_secs(2), Duration::from_secs(2)),
            Patience::Short => (Duration::ZERO, Duration::from_millis(1200)),
        };
        if self.is_gone_within(closed).await {
            return;
        }
        self.signal(Signal::TERM);
        if self.is_gone_within(asked).await {
            return;
        }
        self.signal(Signal::KILL);
        self.is_gone_within(Duration::from_secs(1)).await;
    }

    async fn is_gone_within(&mut self, limit: Duration) -> bool {
        let end = Instant::now() + limit;
        loop {
            // Who leads the group is ours to bury; the others have somebody else.
            let led = matches!(self.child.try_wait(), Ok(None));
            let left = self.group.is_some_and(|group| test_kill_process_group(group).is_ok());
            if !led && !left {
                self.group = None;
                return true;
            }
            if Instant::now() >= end {
                return false;
            }
            sleep(STEP).await;
        }
    }

    fn signal(&self, signal: Signal) {
        if let Some(group) = self.group {
            // It may have ended just now.
            let _ = kill_process_group(group, signal);
        }
    }
}

impl Drop for Process {
    /// Whoever is not ended in order is killed.
    fn drop(&mut self) {
        self.writer.abort();
        self.signal(Signal::KILL);
    }
}

impl Output {
    /// The next line; none at the end.
    pub(super) async fn next(&mut self) -> io::Result<Option<Vec<u8>>> {
        let mut line = Vec::new();
        let limit = u64::try_from(LINE_BYTES).unwrap_or(u64::MAX);
        if (&mut self.lines).take(limit).read_until(b'\n', &mut line).await? == 0 {
            return Ok(None);
        }
        if line.len() == LINE_BYTES && line.last() != Some(&b'\n') {
            let text =
                format!("expected messages of at most {LINE_BYTES} bytes, found a longer one");
            return Err(io::Error::new(io::ErrorKind::InvalidData, text));
        }
        Ok(Some(self.secret.hide(line)))
    }
}

async fn write(mut input: ChildStdin, mut waiting: mpsc::Receiver<String>) {
    while let Some(mut line) = waiting.recv().await {
        line.push('\n');
        let written = input.write_all(line.as_bytes()).await;
        if written.is_err() || input.flush().await.is_err() {
            return;
        }
    }
}
