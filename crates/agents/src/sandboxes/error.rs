//! Why something of a sandbox is refused.

use baton_browser::profile::compile::CompileError;
use baton_sandbox::SandboxError;
use baton_session::import::ImportError;
use url::Url;

/// Why something of a sandbox is refused.
#[derive(Debug, thiserror::Error)]
pub enum SandboxRefusal {
    /// There is none, or it belongs to someone else.
    #[error("no sandbox {reference}\nbaton sandbox list shows yours")]
    NotFound {
        /// What was asked for.
        reference: String,
    },
    /// More than one fits.
    #[error("expected one sandbox whose id begins with {reference}, found {found}")]
    Ambiguous {
        /// What was asked for.
        reference: String,
        /// How many fit.
        found: usize,
    },
    /// This node makes none.
    #[error("{why}")]
    Unavailable {
        /// What is missing, and what to do.
        why: String,
    },
    /// A sandbox can have no display.
    #[error(
        "expected a display for VNC, found none: {why}\nXtigervnc makes it: the package tigervnc-standalone-server"
    )]
    NoDisplay {
        /// What was found instead.
        why: String,
    },
    /// A display of a sandbox that isolates nothing would be one of this machine.
    #[error(
        "expected a sandbox of its own for a display, found that this node isolates none\ninstall the package bubblewrap, and start the node again"
    )]
    NotIsolated,
    /// The settings know no such flavor.
    #[error(
        "expected a flavor among {known}, found {found:?}\n[[sandboxes.flavors]] in the settings names them"
    )]
    UnknownFlavor {
        /// What was asked for.
        found: String,
        /// What there is.
        known: String,
    },
    /// There are too many.
    #[error("expected at most {most} sandboxes at once, found as many\nend one first")]
    TooMany {
        /// How many there may be.
        most: usize,
    },
    /// What should be handed in is no session.
    #[error("expected browserSession to be {expected}, found {found}")]
    NoSession {
        /// What it may be.
        expected: &'static str,
        /// What it is; never a value of it.
        found: String,
    },
    /// The settings name no such service for the caller.
    #[error(
        "expected a service that the settings name for you, found another one\n[[sandboxes.session_services]] in the settings names them"
    )]
    UnknownService,
    /// A service does not give a session.
    #[error("the session service at {url} gives no session: {why}")]
    Service {
        /// Which one.
        url: Url,
        /// What was found instead.
        why: String,
    },
    /// A service has no such session.
    #[error("the session service has no session {session}")]
    NotThere {
        /// Which one.
        session: String,
    },
    /// What came with the request is no state.
    #[error("in browserSession.storageState, {0}")]
    BadState(#[from] ImportError),
    /// It logs nobody in, and not all of it was taken.
    #[error(
        "expected a login for {place}, found neither a cookie nor anything stored that could be taken; \
         left out: {left_out}"
    )]
    NotTaken {
        /// For which domain, or `any site`.
        place: String,
        /// The first item that was left out, and how many more.
        left_out: String,
    },
    /// No profile could be made of it.
    #[error("the session does not become a profile: {0}")]
    Profile(#[from] CompileError),
    /// It could not be put into the sandbox.
    #[error("the session could not be put into the sandbox: {why}")]
    NotPut {
        /// What the sandbox said.
        why: String,
    },
    /// What it holds of a session could not be read, and that was not the fault of what lies there.
    #[error(
        "expected to read what the sandbox holds of its session, found that this node cannot: {why}\n\
         the sandbox is kept, and so is what it holds: end it again once that is mended"
    )]
    NotRead {
        /// What is in the way.
        why: String,
    },
    /// A file in the sandbox could not be read or written.
    #[error("{why}")]
    Path {
        /// What the sandbox said.
        why: String,
    },
    /// There is no room left in the sandbox.
    #[error("no room left in the sandbox: {why}\nits limit of disk is part of its view")]
    Full {
        /// What the sandbox said.
        why: String,
    },
    /// The sandbox refused or failed.
    #[error(transparent)]
    Sandbox(#[from] SandboxError),
}
