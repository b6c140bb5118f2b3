//! What an error of an operation is for a client.

use crate::error::NodeError;
use baton_api::{Answers, ErrorCode};
use baton_debug::LookError;
use baton_runtime::answers::file;
use baton_store::data::DataError;

impl Answers for NodeError {
    fn code(&self) -> ErrorCode {
        match self {
            Self::Runtime(error) => error.code(),
            Self::Sync(error) => error.code(),
            Self::Look(error) => look(error),
            Self::Cocoon(error) => error.code(),
            Self::Agents(error) => error.code(),
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
            Self::Cocoon(error) => error.hint(),
            Self::Agents(error) => error.hint(),
            error => baton_api::usual_hint(error.code()),
        }
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
