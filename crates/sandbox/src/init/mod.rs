//! The first process in a sandbox: it starts what it is asked to, and gives up everything when the socket
//! that it was born with closes.
//!
//! The one idea: whatever runs in a sandbox is a child of process 1, and the kernel ends them all when that
//! one ends. So nothing can outlive the holder of the other end of the socket.

mod channel;
mod processes;
mod serve;
mod tool;

pub(crate) use channel::{Begin, MESSAGE_MAX, Notice, Order, Start, Unpack, pair, receive, send};
pub(crate) use processes::BROWSERS_LIMIT;
pub(crate) use serve::BARE;

use baton_confine::calls::CallsError;
use baton_confine::keyring::KeyringError;
use std::path::Path;

/// Why the first process of a sandbox ended otherwise than it was asked to.
#[derive(Debug, thiserror::Error)]
pub enum InitError {
    /// It was not started by a provider.
    #[error("expected the socket of a sandbox as standard input")]
    NoSocket(#[source] std::io::Error),
    /// The other end said something that is no order.
    #[error("expected an order from the node: {0}")]
    NoOrder(#[source] std::io::Error),
    /// A file could not be written or read.
    #[error("{path}: {source}")]
    File {
        /// Which one.
        path: String,
        /// Why.
        source: std::io::Error,
    },
    /// It could not leave the keys of the node's user.
    #[error(transparent)]
    Keyring(#[from] KeyringError),
    /// It could not give up calls of the kernel.
    #[error(transparent)]
    Calls(#[from] CallsError),
    /// It could not keep what it starts away from itself.
    #[error("expected a first process that no other one can read: {0}")]
    Readable(#[source] std::io::Error),
    /// It could not hear a signal that its node ignores.
    #[error("expected to hear what the node was told to ignore: {0}")]
    Deaf(#[source] std::io::Error),
    /// It could not pass on what connects to ports of the machine.
    #[error("expected to pass on what connects to ports of the machine: {0}")]
    Loopback(#[source] std::io::Error),
    /// A tool that there is not.
    #[error("expected bare, read, write, pack or connect, and a path")]
    NoTool,
}

impl InitError {
    /// Makes an error about a file.
    fn file(path: &Path) -> impl FnOnce(std::io::Error) -> Self {
        let path = path.display().to_string();
        move |source| Self::File { path, source }
    }
}

/// Runs as the first process of a sandbox until the socket on standard input closes: in namespaces that the
/// kernel takes away with it, or, given `bare PATH`, without any, in that folder. Given other words, runs
/// as one of the tools that move files: `read PATH [BYTES]`, `write PATH`, `pack PATH`; or as the one that
/// reaches a socket: `connect PATH`.
pub fn run(words: &[String]) -> Result<(), InitError> {
    match words {
        [] => serve::serve(),
        [verb, path] if verb == serve::BARE => serve::hold(Path::new(path)),
        [verb, path] => tool::run(verb, Path::new(path), None),
        [verb, path, more] => tool::run(verb, Path::new(path), Some(more)),
        _ => Err(InitError::NoTool),
    }
}
