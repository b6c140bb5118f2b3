//! What can go wrong with a keeper, on either side of its socket.

use crate::cdp::{AddressError, CdpError};
use crate::launch::LaunchError;
use std::io;
use std::path::PathBuf;
use std::time::Duration;

/// Why a keeper does not run, or cannot be spoken to.
#[derive(Debug, thiserror::Error)]
pub enum KeeperError {
    /// No keeper listens there: no socket, or one that a dead keeper left behind.
    #[error("expected a keeper at {}, found none running", socket.display())]
    NotRunning {
        /// The socket.
        socket: PathBuf,
    },
    /// Another keeper of the same session lives.
    #[error("expected a free socket at {}, found a keeper running there", socket.display())]
    AlreadyRunning {
        /// The socket.
        socket: PathBuf,
    },
    /// The system cannot bind such a path.
    #[error(
        "expected a socket path of at most {limit} bytes, found {found}: {}\n\
         use a data folder with a shorter path",
        socket.display()
    )]
    PathTooLong {
        /// The socket.
        socket: PathBuf,
        /// What the system allows.
        limit: usize,
        /// The length of the path.
        found: usize,
    },
    /// The keeper did not let us in.
    #[error("the keeper refused the connection: {reason}")]
    Refused {
        /// The keeper's own words.
        reason: String,
    },
    /// The other side spoke something else.
    #[error("expected {expected}, found {found}")]
    NotUnderstood {
        /// What should have come.
        expected: &'static str,
        /// What came.
        found: String,
    },
    /// Something took too long.
    #[error("expected {what} within {limit:?}, found nothing")]
    TimedOut {
        /// What was awaited.
        what: &'static str,
        /// How long.
        limit: Duration,
    },
    /// The keeper could not start.
    #[error("the keeper did not start: {reason}")]
    NotStarted {
        /// The keeper's own words.
        reason: String,
    },
    /// The browser started and ended, or did not speak.
    #[error("expected a browser that speaks, found {found}")]
    Browser {
        /// What happened instead.
        found: String,
    },
    /// The browser could not be started.
    #[error(transparent)]
    Launch(#[from] LaunchError),
    /// The browser could not be attached to.
    #[error(transparent)]
    Address(#[from] AddressError),
    /// A command to the keeper failed.
    #[error(transparent)]
    Call(#[from] CdpError),
    /// A file or socket could not be used.
    #[error("could not {what} {}: {source}", path.display())]
    File {
        /// What was tried, such as `bind`.
        what: &'static str,
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
}

impl KeeperError {
    /// A closure for `map_err` that names the file.
    pub(super) fn file(
        what: &'static str,
        path: impl Into<PathBuf>,
    ) -> impl FnOnce(io::Error) -> Self {
        let path = path.into();
        move |source| Self::File { what, path, source }
    }
}
