//! A command in a sandbox, while it runs and when it has ended.

use crate::workspace::WORKSPACE;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fmt;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::sync::oneshot;
use tokio_util::sync::DropGuard;

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
