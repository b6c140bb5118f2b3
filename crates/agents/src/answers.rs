//! What an error of what agents do is for a client.

use super::error::AgentsError;
use crate::gateway::GatewayRefusal;
use crate::sandboxes::SandboxRefusal;
use baton_api::{Answers, ErrorCode, usual_hint};
use baton_browser::profile::compile::CompileError;
use baton_runtime::answers::file;
use baton_sandbox::SandboxError;

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
