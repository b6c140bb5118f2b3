//! Who makes sandboxes. One trait, so that containers and clusters can follow.

use crate::command::{Command, Process};
use crate::error::SandboxError;
use crate::spec::SandboxSpec;
use futures_util::future::BoxFuture;
use std::fs::File;
use std::path::PathBuf;

/// An answer that takes a while.
pub type Answer<'a, T> = BoxFuture<'a, Result<T, SandboxError>>;

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

    /// Where its own files are, as its commands know it: [`WORKSPACE`](crate::workspace::WORKSPACE), or a folder of
    /// this machine that every path below that is taken for.
    fn workspace(&self) -> &str;

    /// Starts a command.
    fn start<'a>(&'a self, command: &'a Command) -> Answer<'a, Process>;

    /// Unpacks a tar archive, a file from its beginning, into a folder, which is made; or says why it cannot
    /// be.
    fn unpack<'a>(&'a self, archive: File, path: &'a str) -> Answer<'a, Result<(), String>>;

    /// The command that passes a folder as a tar archive to its output (`pack`), the one that writes a file
    /// whole from its input or not at all (`write`), the one that passes a plain file to its output
    /// (`read`; given one more word, at most so many bytes), and the one that passes its input and output
    /// to a socket and back (`connect`).
    fn tool(&self, verb: &str, path: &str) -> Command;

    /// Asks every command to end, and waits a while for it. Fails when a browser did not end in time: what
    /// it had not written down is lost.
    fn settle(&self) -> Answer<'_, ()>;

    /// Ends all that runs in it and waits until nothing is left.
    fn remove(&self) -> Answer<'_, ()>;

    /// Waits until it has ended, for whatever reason.
    fn ended(&self) -> BoxFuture<'_, ()>;
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
