//! How an operation on agents, and on the sandboxes in which they run, fails.

use crate::gateway::GatewayRefusal;
use crate::live::LiveError;
use crate::runtime::RuntimeError;
use crate::sandboxes::SandboxRefusal;
use crate::sync::SyncError;
use baton_api::Invalid;
use baton_net::WayError;
use baton_session::login::NoLogin;
use baton_store::StoreError;

/// Why an operation on agents was not done.
#[derive(Debug, thiserror::Error)]
pub enum AgentsError {
    /// Something of a session stands against it.
    #[error(transparent)]
    Runtime(RuntimeError),
    /// A session did not move.
    #[error(transparent)]
    Sync(SyncError),
    /// A sandbox is not made, or does not do what the request wants.
    #[error(transparent)]
    Sandbox(#[from] SandboxRefusal),
    /// An agent does not answer.
    #[error(transparent)]
    Gateway(#[from] GatewayRefusal),
}

impl From<RuntimeError> for AgentsError {
    fn from(error: RuntimeError) -> Self {
        match error {
            RuntimeError::Elsewhere(elsewhere) => match elsewhere.downcast::<SyncError>() {
                Ok(error) => Self::Sync(*error),
                Err(other) => Self::Runtime(RuntimeError::Elsewhere(other)),
            },
            error => Self::Runtime(error),
        }
    }
}

impl From<SyncError> for AgentsError {
    fn from(error: SyncError) -> Self {
        match error {
            SyncError::Runtime(error) => error.into(),
            error => Self::Sync(error),
        }
    }
}

/// Those that come by way of another one.
macro_rules! by_way_of {
    ($($way:ident: $($error:ty),+;)*) => {$($(
        impl From<$error> for AgentsError {
            fn from(error: $error) -> Self {
                $way::from(error).into()
            }
        }
    )+)*};
}

by_way_of! {
    RuntimeError: StoreError, LiveError, Invalid, NoLogin, crate::blocking::Stopping;
    SyncError: WayError;
}
