//! How an operation on agents, and on the sandboxes in which they run, fails, and what that is for a client.

use baton_api::{Answers, ErrorCode, Invalid, by_way_of, usual_hint};
use baton_browser::profile::compile::CompileError;
use baton_net::WayError;
use baton_runtime::RuntimeError;
use baton_runtime::error::file;
use baton_runtime::live::LiveError;
use baton_sandbox::SandboxError;
use baton_session::import::ImportError;
use baton_session::login::NoLogin;
use baton_store::StoreError;
use baton_store::blocking::Stopping;
use std::time::Duration;
use url::Url;

/// Why an operation on agents was not done.
#[derive(Debug, thiserror::Error)]
pub enum AgentsError {
    /// The session does not allow it.
    #[error(transparent)]
    Runtime(#[from] RuntimeError),
    /// No service is asked there.
    #[error(transparent)]
    Way(#[from] WayError),
    /// A sandbox is not made, or does not do what the request wants.
    #[error(transparent)]
    Sandbox(#[from] SandboxRefusal),
    /// An agent does not answer.
    #[error(transparent)]
    Gateway(#[from] GatewayRefusal),
}

by_way_of! {
    AgentsError: RuntimeError { StoreError, LiveError, Invalid, NoLogin, Stopping }
}

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
    /// The sandbox was made without a display.
    #[error(
        "expected a sandbox with a display, found one without\nbaton sandbox create --vnc makes one with a display"
    )]
    HasNoDisplay,
    /// As many look at the display as may.
    #[error("expected at most {most} viewers of a display, found more\nclose one of them")]
    TooManyViewers {
        /// How many there may be.
        most: usize,
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
    #[error(
        "expected room for one sandbox more on this node, found {most} of {most}\n\
         end one that nobody needs, or ask again later; sandboxes.most in the settings says how many there may be"
    )]
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
    /// It holds no login, and not all of it was taken.
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

/// Why an agent does not answer.
#[derive(Debug, thiserror::Error)]
pub enum GatewayRefusal {
    /// There is no such agent.
    #[error(
        "expected a model among {known}, found {found:?}\n[gateway] in the settings names agents"
    )]
    UnknownModel {
        /// What was asked for.
        found: String,
        /// What there is.
        known: String,
    },
    /// The agent's command did not end well.
    #[error("expected agent {name} to end with code 0, found that it {how}{complaint}")]
    Agent {
        /// Which agent.
        name: String,
        /// How it ended.
        how: String,
        /// The end of what it complained about, behind a colon, or nothing.
        complaint: String,
    },
    /// The model of the agent that is built in does not answer as expected.
    #[error("the model of [gateway.upstream] gives no answer: {why}")]
    Upstream {
        /// What was found instead; never a secret.
        why: String,
    },
    /// The agent took too long.
    #[error(
        "expected an answer within {limit:?}, found none\ngateway.limit says how long an agent may take"
    )]
    TooSlow {
        /// How long it may take.
        limit: Duration,
    },
}

impl Answers for AgentsError {
    fn code(&self) -> ErrorCode {
        match self {
            Self::Runtime(error) => error.code(),
            Self::Way(error) => error.code(),
            Self::Sandbox(error) => sandbox(error),
            Self::Gateway(error) => gateway(error),
        }
    }

    fn hint(&self) -> Option<&'static str> {
        match self {
            Self::Runtime(error) => error.hint(),
            Self::Way(error) => error.hint(),
            error => usual_hint(error.code()),
        }
    }
}

fn sandbox(error: &SandboxRefusal) -> ErrorCode {
    match error {
        SandboxRefusal::NotFound { .. } => ErrorCode::SandboxNotFound,
        SandboxRefusal::Ambiguous { .. } => ErrorCode::AmbiguousReference,
        SandboxRefusal::Unavailable { .. } => ErrorCode::SandboxUnavailable,
        SandboxRefusal::NoDisplay { .. } | SandboxRefusal::NotIsolated => ErrorCode::VncUnavailable,
        SandboxRefusal::HasNoDisplay => ErrorCode::Conflict,
        SandboxRefusal::UnknownFlavor { .. } => ErrorCode::UnknownFlavor,
        SandboxRefusal::TooMany { .. } => ErrorCode::NoRoom,
        SandboxRefusal::TooManyViewers { .. } => ErrorCode::TooManyRequests,
        SandboxRefusal::UnknownService => ErrorCode::AddressNotAllowed,
        SandboxRefusal::Service { .. } => ErrorCode::SessionServiceFailed,
        SandboxRefusal::NotThere { .. } => ErrorCode::SessionNotFound,
        SandboxRefusal::NoSession { .. } | SandboxRefusal::BadState(_) => ErrorCode::InvalidSession,
        SandboxRefusal::NotTaken { .. } => ErrorCode::LoginMissing,
        SandboxRefusal::Profile(CompileError::Profile(error)) => file(&error.source),
        SandboxRefusal::Profile(_)
        | SandboxRefusal::NotPut { .. }
        | SandboxRefusal::NotRead { .. } => ErrorCode::Internal,
        SandboxRefusal::Path { .. } => ErrorCode::InvalidRequest,
        SandboxRefusal::Full { .. } => ErrorCode::StorageFull,
        SandboxRefusal::Sandbox(error) => provider(error),
    }
}

fn gateway(error: &GatewayRefusal) -> ErrorCode {
    match error {
        GatewayRefusal::UnknownModel { .. } => ErrorCode::ModelNotFound,
        GatewayRefusal::Agent { .. } => ErrorCode::AgentFailed,
        GatewayRefusal::Upstream { .. } => ErrorCode::UpstreamFailed,
        GatewayRefusal::TooSlow { .. } => ErrorCode::TimedOut,
    }
}

fn provider(error: &SandboxError) -> ErrorCode {
    match error {
        SandboxError::Missing { .. } | SandboxError::NotStarted { .. } | SandboxError::NotApart => {
            ErrorCode::SandboxUnavailable
        }
        SandboxError::TimedOut { .. } => ErrorCode::TimedOut,
        SandboxError::Gone => ErrorCode::SandboxNotFound,
        SandboxError::NotRun { .. } | SandboxError::TooLong { .. } => ErrorCode::InvalidRequest,
        SandboxError::TooMany { .. } => ErrorCode::TooManyRequests,
        SandboxError::System { source, .. } => file(source),
        SandboxError::InvalidMount(_) | SandboxError::NotShown { .. } => ErrorCode::Internal,
    }
}
