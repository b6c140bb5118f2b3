//! What an error of an operation is for a client.

use crate::cocoons::CocoonError;
use crate::data::DataError;
use crate::error::NodeError;
use crate::gateway::GatewayRefusal;
use crate::runtime::answers::file;
use crate::sandboxes::SandboxRefusal;
use baton_api::{Answers, ErrorCode};
use baton_browser::profile::compile::CompileError;
use baton_debug::LookError;
use baton_sandbox::SandboxError;

impl Answers for NodeError {
    fn code(&self) -> ErrorCode {
        match self {
            Self::Runtime(error) => error.code(),
            Self::Sync(error) => error.code(),
            Self::Look(error) => look(error),
            Self::Cocoon(error) => cocoon(error),
            Self::Sandbox(error) => sandbox(error),
            Self::Gateway(error) => gateway(error),
            Self::Exchange(DataError::Io { source, .. }) => file(source),
            // The protocol knows by 404 that it is to begin anew.
            Self::NoMcpSession => ErrorCode::RouteNotFound,
            Self::Token(refusal) if refusal.is_passing() => ErrorCode::ProviderUnavailable,
            Self::Token(_) | Self::Unauthenticated { .. } | Self::BadPairingCode => {
                ErrorCode::Unauthenticated
            }
            Self::KeyOfLimitedPeer { .. } => ErrorCode::Forbidden,
            Self::TooManyRequests { .. }
            | Self::TooManyConnections { .. }
            | Self::TooManyMcpSessions { .. } => ErrorCode::TooManyRequests,
            Self::Exchange(_) => ErrorCode::Internal,
        }
    }

    fn hint(&self) -> Option<&'static str> {
        match self {
            Self::Runtime(error) => error.hint(),
            Self::Sync(error) => error.hint(),
            error => baton_api::usual_hint(error.code()),
        }
    }
}

fn cocoon(error: &CocoonError) -> ErrorCode {
    match error {
        CocoonError::NotFound { .. } => ErrorCode::CocoonNotFound,
        CocoonError::Taken { .. } => ErrorCode::NameTaken,
        CocoonError::InSettings { .. } | CocoonError::NoProxy => ErrorCode::Conflict,
        CocoonError::TooMany { .. } => ErrorCode::StorageFull,
        CocoonError::Invalid { .. } | CocoonError::Open { .. } => ErrorCode::InvalidRequest,
    }
}

fn look(error: &LookError) -> ErrorCode {
    match error {
        LookError::TabGone { .. } => ErrorCode::TabGone,
        LookError::BrowserOffline { .. } => ErrorCode::BrowserOffline,
        LookError::TooManyTabs { .. } => ErrorCode::StorageFull,
        LookError::NotRevealed { .. } => ErrorCode::Conflict,
        LookError::Ask(_) => ErrorCode::InvalidRequest,
    }
}

fn sandbox(error: &SandboxRefusal) -> ErrorCode {
    match error {
        SandboxRefusal::NotFound { .. } => ErrorCode::SandboxNotFound,
        SandboxRefusal::Ambiguous { .. } => ErrorCode::AmbiguousReference,
        SandboxRefusal::Unavailable { .. } => ErrorCode::SandboxUnavailable,
        SandboxRefusal::NoDisplay { .. } | SandboxRefusal::NotIsolated => ErrorCode::VncUnavailable,
        SandboxRefusal::UnknownFlavor { .. } => ErrorCode::UnknownFlavor,
        SandboxRefusal::TooMany { .. } => ErrorCode::TooManyRequests,
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
        SandboxError::Missing { .. } | SandboxError::NotStarted { .. } => {
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
