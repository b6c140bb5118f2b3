//! What can go wrong in the first process of a sandbox.

use baton_confine::calls::CallsError;
use baton_confine::keyring::KeyringError;
use std::path::Path;

/// Why the first process of a sandbox ended otherwise than it was told to.
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
    pub(super) fn file(path: &Path) -> impl FnOnce(std::io::Error) -> Self {
        let path = path.display().to_string();
        move |source| Self::File { path, source }
    }
}
