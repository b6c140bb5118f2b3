//! Why a sandbox could not be made, or did not do what it was told.

use std::path::PathBuf;
use std::time::Duration;

/// Why a sandbox could not be made, or did not do what it was told.
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
