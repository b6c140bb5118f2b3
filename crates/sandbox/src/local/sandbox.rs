//! A sandbox of this machine, while it is there.

use super::cgroup::Cgroup;
use super::link::{Link, Watch};
use super::network::Slirp;
use super::timed_out;
use crate::init::{BROWSERS_LIMIT, Order, Start, Unpack};
use crate::provider::{
    Answer, Command, Connections, Ended, Enforced, InitCommand, Input, Output, Process, Sandbox,
    SandboxError, WORKSPACE,
};
use futures_util::future::BoxFuture;
use rustix::pipe::{PipeFlags, fcntl_setpipe_size, pipe_with};
use std::collections::BTreeMap;
use std::fmt;
use std::fs::File;
use std::io::ErrorKind;
use std::os::fd::{AsFd, OwnedFd};
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tempfile::TempDir;
use tokio::net::unix::pipe;
use tokio::process::Child;
use tokio_util::sync::CancellationToken;

/// How much a wide pipe holds, in bytes: what the kernel lets anybody ask for (`pipe(7)`).
const WIDTH: usize = 1 << 20;
/// How long a command may take to start.
const START_LIMIT: Duration = Duration::from_secs(10);
/// How long what runs may take to settle: the sandbox itself waits for 23 s.
const SETTLE_LIMIT: Duration = Duration::from_secs(30);
/// How long a sandbox may take to end by itself before it is killed: the kernel ends it at once, but one
/// without namespaces ends what runs in it one by one.
const END_LIMIT: Duration = Duration::from_secs(10);

/// What has to be ended with a sandbox, in this order.
#[derive(Debug)]
pub(super) struct Held {
    pub(super) process: Child,
    pub(super) slirp: Option<Slirp>,
    pub(super) cgroup: Option<Cgroup>,
    /// The workspace, if it is a folder of this machine.
    pub(super) folder: Option<TempDir>,
}

/// A sandbox of this machine.
pub(super) struct LocalSandbox {
    pub(super) link: Arc<Link>,
    pub(super) held: Mutex<Option<Held>>,
    pub(super) enforced: Enforced,
    pub(super) env: BTreeMap<String, String>,
    /// Where its first program is, as its commands know it, and with which arguments.
    pub(super) init: InitCommand,
    pub(super) workspace: String,
    /// What its programs connect to, until the holder asks for it.
    pub(super) connections: Mutex<Option<Connections>>,
}

impl fmt::Debug for LocalSandbox {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LocalSandbox").field("workspace", &self.workspace).finish_non_exhaustive()
    }
}

impl Sandbox for LocalSandbox {
    fn enforced(&self) -> &Enforced {
        &self.enforced
    }

    fn workspace(&self) -> &str {
        &self.workspace
    }

    fn connections(&self) -> Option<Connections> {
        self.connections.lock().unwrap_or_else(PoisonError::into_inner).take()
    }

    fn start<'a>(&'a self, command: &'a Command) -> Answer<'a, Process> {
        Box::pin(self.run(command))
    }

    fn unpack<'a>(&'a self, archive: File, path: &'a str) -> Answer<'a, Result<(), String>> {
        Box::pin(async move {
            let Watch { id, started, ended } = self.link.watch()?;
            let order = Order::Unpack(Unpack { id, path: self.place(path) });
            let sent = self.link.order(&order, &[archive.as_fd()]).await;
            sent.inspect_err(|_| self.link.forget(id))?;
            // What is not begun does not end either.
            match (ended.await, started.await) {
                (Ok(Ended::Code(0)), _) => Ok(Ok(())),
                (_, Ok(Err(reason))) => Ok(Err(reason)),
                _ => Err(SandboxError::Gone),
            }
        })
    }

    fn tool(&self, verb: &str, path: &str) -> Command {
        let program = self.init.program.display().to_string();
        let words = std::iter::once(program).chain(self.init.args.iter().cloned());
        let command = Command::new(words.chain([verb.to_owned(), self.place(path)]));
        // What runs in the workspace may have closed that.
        Command { directory: "/".to_owned(), ..command }
    }

    fn program(&self) -> &Path {
        &self.init.program
    }

    fn settle(&self) -> Answer<'_, ()> {
        Box::pin(async {
            let settled = tokio::time::timeout(SETTLE_LIMIT, self.link.settle()).await;
            let whole = settled.map_err(|_| timed_out("commands that end", SETTLE_LIMIT))??;
            if whole { Ok(()) } else { Err(timed_out("a browser that ends", BROWSERS_LIMIT)) }
        })
    }

    fn remove(&self) -> Answer<'_, ()> {
        Box::pin(async {
            self.link.close();
            let held = self.held.lock().unwrap_or_else(PoisonError::into_inner).take();
            match held {
                Some(held) => held.end().await,
                None => Ok(()),
            }
        })
    }

    fn ended(&self) -> BoxFuture<'_, ()> {
        Box::pin(self.link.closed.cancelled())
    }
}

impl LocalSandbox {
    async fn run(&self, command: &Command) -> Result<Process, SandboxError> {
        let (input, output, errors) = (Pipe::wide()?, Pipe::new()?, Pipe::new()?);
        let watch = self.link.watch()?;
        let id = watch.id;
        let env = self.env.iter().chain(&command.env);
        let order = Order::Start(Start {
            id,
            words: command.words.clone(),
            env: env.map(|(name, value)| (name.clone(), value.clone())).collect(),
            directory: self.place(&command.directory),
        });
        let theirs = [&input.read, &output.write, &errors.write].map(AsFd::as_fd);
        let started = async {
            self.link.order(&order, &theirs).await?;
            watch.started.await.map_err(|_| SandboxError::Gone)?.map_err(|reason| {
                let command = command.words.first().cloned().unwrap_or_default();
                SandboxError::NotRun { command, reason }
            })
        };
        let started = tokio::time::timeout(START_LIMIT, started).await;
        let started =
            started.unwrap_or_else(|_| Err(timed_out("a command that starts", START_LIMIT)));
        started.inspect_err(|_| self.link.forget(id))?;
        let outputs = [reader(output.read)?, reader(errors.read)?];
        Ok(Process::new(Some(writer(input.write)?), outputs, watch.ended, self.end_with(id)))
    }

    /// Where a path is, from the workspace on, wherever that is.
    fn place(&self, path: &str) -> String {
        let path = Path::new(path);
        let path = path.strip_prefix(WORKSPACE).unwrap_or(path);
        Path::new(&self.workspace).join(path).display().to_string()
    }

    /// Ends a command when what this returns is dropped.
    fn end_with(&self, id: u64) -> tokio_util::sync::DropGuard {
        let (dropped, link) = (CancellationToken::new(), Arc::clone(&self.link));
        let guard = dropped.clone().drop_guard();
        tokio::spawn(async move {
            tokio::select! {
                () = link.closed.cancelled() => {}
                () = dropped.cancelled() => {
                    // Without the sandbox there is no command either.
                    let _ = link.order(&Order::Kill { id }, &[]).await;
                }
            }
        });
        guard
    }
}

impl Drop for LocalSandbox {
    fn drop(&mut self) {
        self.link.close();
    }
}

impl Held {
    /// Ends what is left of a sandbox whose socket is closed, and waits.
    pub(super) async fn end(mut self) -> Result<(), SandboxError> {
        if tokio::time::timeout(END_LIMIT, self.process.wait()).await.is_err() {
            self.process.kill().await.map_err(SandboxError::system("end a sandbox"))?;
        }
        if let Some(slirp) = self.slirp {
            slirp.end().await;
        }
        if let Some(cgroup) = self.cgroup {
            cgroup.remove().await;
        }
        match self.folder.map(TempDir::close) {
            // Its first process removed it.
            Some(Err(error)) if error.kind() == ErrorKind::NotFound => Ok(()),
            Some(Err(error)) => Err(SandboxError::system("remove the folder of a sandbox")(error)),
            None | Some(Ok(())) => Ok(()),
        }
    }
}

fn writer(end: OwnedFd) -> Result<Input, SandboxError> {
    let sender = pipe::Sender::from_owned_fd(end);
    Ok(Box::new(sender.map_err(SandboxError::system("write to a command"))?))
}

fn reader(end: OwnedFd) -> Result<Output, SandboxError> {
    let receiver = pipe::Receiver::from_owned_fd(end);
    Ok(Box::new(receiver.map_err(SandboxError::system("read from a command"))?))
}

/// The two ends of a pipe; neither is passed on to processes that we start.
struct Pipe {
    read: OwnedFd,
    write: OwnedFd,
}

impl Pipe {
    fn new() -> Result<Self, SandboxError> {
        let made = pipe_with(PipeFlags::CLOEXEC).map_err(SandboxError::system("make a pipe"))?;
        Ok(Self { read: made.0, write: made.1 })
    }

    /// One in which each side waits for the other less often; where it may not be so, it is slower.
    fn wide() -> Result<Self, SandboxError> {
        let pipe = Self::new()?;
        let _ = fcntl_setpipe_size(&pipe.write, WIDTH);
        Ok(pipe)
    }
}
