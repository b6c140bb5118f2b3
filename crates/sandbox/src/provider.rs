//! Who makes sandboxes, of what, and how commands run in them.
//!
//! One trait for what makes them and one for what that makes, so that containers and clusters can follow.

use crate::network::Network;
use futures_util::future::BoxFuture;
use futures_util::stream::BoxStream;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fmt;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio::sync::oneshot;
use tokio_util::sync::DropGuard;

/// Where a sandbox's own files are, in it.
pub const WORKSPACE: &str = "/workspace";

/// How the archive of a folder says that something in it could not be read, and why: an attribute (POSIX, `pax`) of an
/// empty file in its place.
pub const UNREAD: &str = "BATON.unread";

/// An answer that takes a while.
pub type Answer<'a, T> = BoxFuture<'a, Result<T, SandboxError>>;

/// Connections that programs of a sandbox make, each with the port of the sandbox's loopback to which it was
/// made; it ends with the sandbox.
pub type Connections = BoxStream<'static, (u16, TcpStream)>;

/// Makes sandboxes.
pub trait Provider: Send + Sync + std::fmt::Debug {
    /// Makes a sandbox, which is ready for commands.
    fn create<'a>(&'a self, spec: &'a SandboxSpec) -> Answer<'a, Box<dyn Sandbox>>;

    /// Whether what runs in a sandbox is kept away from this machine.
    fn isolates(&self) -> bool;
}

/// A sandbox that is there. Dropping it removes it without waiting.
pub trait Sandbox: Send + Sync + std::fmt::Debug {
    /// Whether the limits of memory, processes and processors hold.
    fn enforced(&self) -> &Enforced;

    /// Where its own files are, as its commands know it: [`WORKSPACE`], or a folder of
    /// this machine that every path below that is taken for.
    fn workspace(&self) -> &str;

    /// What its programs connect to, where its network is [`Network::Handed`]; told once.
    fn connections(&self) -> Option<Connections> {
        None
    }

    /// Starts a command.
    fn start<'a>(&'a self, command: &'a Command) -> Answer<'a, Process>;

    /// Unpacks a tar archive, a file from its beginning, into a folder, which is made; or says why it cannot
    /// be.
    fn unpack<'a>(&'a self, archive: File, path: &'a str) -> Answer<'a, Result<(), String>>;

    /// The command that passes a folder as a tar archive to its output (`pack`; what of it cannot be read is
    /// [named](UNREAD) there), the one that writes a file whole from its input or not at all (`write`), the one
    /// that passes a plain file to its output (`read`; given one more word, at most so many bytes), and the one
    /// that passes its input and output to a socket and back (`connect`). One that ends with another code than 0
    /// has not done all of it.
    fn tool(&self, verb: &str, path: &str) -> Command;

    /// Where the program is that its first process runs, as its commands know it.
    fn program(&self) -> &Path;

    /// Asks every command to end, and waits a while for it. Fails when a browser did not end in time: what
    /// it had not written down is lost.
    fn settle(&self) -> Answer<'_, ()>;

    /// Ends all that runs in it and waits until nothing is left.
    fn remove(&self) -> Answer<'_, ()>;

    /// Waits until it has ended, for whatever reason.
    fn ended(&self) -> BoxFuture<'_, ()>;
}

/// What a sandbox is made of.
#[derive(Debug, Clone, PartialEq)]
pub struct SandboxSpec {
    /// Its name: letters, digits and dashes, unique among what runs on this machine.
    pub name: String,
    /// What of this machine it sees beside programs and libraries, read-only.
    pub mounts: Vec<Mount>,
    /// The environment of every command in it.
    pub env: BTreeMap<String, String>,
    /// More of it: variables that name a file of the workspace, from there on.
    pub files: BTreeMap<String, String>,
    /// What it may reach.
    pub network: Network,
    /// What it may use.
    pub limits: Limits,
}

/// Something of this machine that a sandbox sees, read-only.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mount {
    /// Where it is on this machine.
    pub source: PathBuf,
    /// Where the sandbox sees it.
    pub target: PathBuf,
}

/// What a sandbox may use. Files are in memory, so they count as memory, too.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Limits {
    /// Memory of all processes and files, in bytes.
    pub memory: u64,
    /// Processes and threads.
    pub processes: u32,
    /// Processors; 0.5 is half of one.
    pub processors: f64,
    /// Files in the workspace, in bytes.
    pub disk: u64,
}

impl Default for Limits {
    fn default() -> Self {
        Self { memory: 2 << 30, processes: 512, processors: 2.0, disk: 1 << 30 }
    }
}

/// Whether the limits of memory, processes and processors hold.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Enforced {
    /// They do.
    Yes,
    /// They do not, because of this.
    No(String),
}

/// The program that a sandbox's first process runs, which has to call `init::run` with what
/// follows `args`: Baton's own, with its hidden subcommand.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InitCommand {
    /// The program. Everybody may read it.
    pub program: PathBuf,
    /// Its arguments.
    pub args: Vec<String>,
}

/// A command that is to run in a sandbox.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Command {
    /// The program, and what it is given.
    pub words: Vec<String>,
    /// Its environment, beside the sandbox's own.
    pub env: BTreeMap<String, String>,
    /// In which folder it runs, from the workspace on.
    pub directory: String,
}

impl Command {
    /// A command in the workspace.
    pub fn new<T: Into<String>>(words: impl IntoIterator<Item = T>) -> Self {
        let words = words.into_iter().map(Into::into).collect();
        Self { words, env: BTreeMap::new(), directory: WORKSPACE.into() }
    }

    /// A line for the shell.
    pub fn shell(line: impl Into<String>) -> Self {
        Self::new(["/bin/sh".to_owned(), "-c".to_owned(), line.into()])
    }

    /// With one more variable.
    #[must_use]
    pub fn env(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.env.insert(name.into(), value.into());
        self
    }
}

/// What a command reads.
pub type Input = Box<dyn AsyncWrite + Send + Unpin>;
/// What a command writes.
pub type Output = Box<dyn AsyncRead + Send + Unpin>;

/// A command that runs. Dropping it ends the command and its process group.
pub struct Process {
    /// What it reads; dropping it is the end of its input.
    pub input: Option<Input>,
    /// What it writes.
    pub output: Output,
    /// What it complains about.
    pub errors: Output,
    pub(crate) ended: oneshot::Receiver<Ended>,
    pub(crate) _end: DropGuard,
}

impl Process {
    /// A command that a provider has started: it says in `ended` how it ended, and ends it when `end` is
    /// dropped.
    pub fn new(
        input: Option<Input>,
        [output, errors]: [Output; 2],
        ended: oneshot::Receiver<Ended>,
        end: DropGuard,
    ) -> Self {
        Self { input, output, errors, ended, _end: end }
    }

    /// Waits until it has ended. What it wrote may still be in the pipes.
    pub async fn ended(&mut self) -> Ended {
        (&mut self.ended).await.unwrap_or(Ended::Gone)
    }
}

impl fmt::Debug for Process {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Process").finish_non_exhaustive()
    }
}

/// How a command has ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Ended {
    /// By itself, with this code.
    Code(i32),
    /// By this signal.
    Signal(i32),
    /// Together with its sandbox.
    Gone,
}

/// Why a sandbox could not be made, or did not do what it was asked.
#[derive(Debug, thiserror::Error)]
pub enum SandboxError {
    /// A program that makes sandboxes is not installed.
    #[error("sandboxes need {program}, which is not installed\n  install it: {hint}")]
    Missing {
        /// Which one.
        program: &'static str,
        /// How to get it.
        hint: &'static str,
    },
    /// The first process of the sandbox did not come up.
    #[error("the sandbox did not start: {reason}")]
    NotStarted {
        /// What the programs said that should have started it.
        reason: String,
    },
    /// The sandbox took longer than it may.
    #[error("expected {what} within {limit:?}")]
    TimedOut {
        /// What we waited for.
        what: &'static str,
        /// For how long.
        limit: Duration,
    },
    /// The sandbox has ended.
    #[error("the sandbox has ended")]
    Gone,
    /// A command could not be started.
    #[error("{command} could not be started in the sandbox: {reason}")]
    NotRun {
        /// The command's first word.
        command: String,
        /// What the system said.
        reason: String,
    },
    /// A command is longer than what can be passed.
    #[error("expected a command and environment of at most {limit} bytes, found more")]
    TooLong {
        /// The limit.
        limit: usize,
    },
    /// So many commands run in the sandbox that there is no room for another.
    #[error("{limit} commands run in the sandbox; wait for one to end")]
    TooMany {
        /// How many may.
        limit: usize,
    },
    /// Nothing of this machine can be shown elsewhere than where it is.
    #[error("{} cannot be shown at {}: without bubblewrap everything is where it is on this machine", from.display(), to.display())]
    NotShown {
        /// Where it is.
        from: PathBuf,
        /// Where the sandbox should see it.
        to: PathBuf,
    },
    /// What runs in the sandbox has the network of this machine.
    #[error(
        "expected a sandbox with a network of its own; without bubblewrap what runs in one has this machine's"
    )]
    NotApart,
    /// The system refused something.
    #[error("could not {doing}: {source}")]
    System {
        /// What.
        doing: String,
        /// Why.
        source: std::io::Error,
    },
    /// A file of this machine that a sandbox is to see cannot be shown.
    #[error("{} cannot be shown to a sandbox: expected an absolute path without `..`", .0.display())]
    InvalidMount(PathBuf),
}

impl SandboxError {
    /// Makes an error of what the system said.
    pub(crate) fn system<E: Into<std::io::Error>>(
        doing: impl Into<String>,
    ) -> impl FnOnce(E) -> Self {
        let doing = doing.into();
        move |source| Self::System { doing, source: source.into() }
    }
}
