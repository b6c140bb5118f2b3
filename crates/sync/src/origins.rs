//! Errors that become one of what moves.

use super::error::SyncError;
use baton_api::Invalid;
use baton_runtime::RuntimeError;
use baton_runtime::live::LiveError;
use baton_session::login::NoLogin;
use baton_store::StoreError;
use baton_store::blocking::Stopping;

impl From<RuntimeError> for SyncError {
    fn from(error: RuntimeError) -> Self {
        match error {
            // It went through those who know nothing of other nodes, and is what it was.
            RuntimeError::Elsewhere(elsewhere) => match elsewhere.downcast::<Self>() {
                Ok(error) => *error,
                Err(other) => Self::Runtime(RuntimeError::Elsewhere(other)),
            },
            error => Self::Runtime(error),
        }
    }
}

/// Those that come by way of an error of the session itself.
macro_rules! of_session {
    ($($error:ty),+) => {$(
        impl From<$error> for SyncError {
            fn from(error: $error) -> Self {
                RuntimeError::from(error).into()
            }
        }
    )+};
}

of_session!(StoreError, LiveError, Invalid, NoLogin, Stopping);
