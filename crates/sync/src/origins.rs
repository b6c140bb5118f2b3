//! Errors that become one of what moves.

use super::error::SyncError;
use baton_api::{Invalid, by_way_of};
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

by_way_of! {
    SyncError: RuntimeError { StoreError, LiveError, Invalid, NoLogin, Stopping }
}
