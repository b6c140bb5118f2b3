//! How an operation on cocoons fails, and what that is for a client.

use crate::error::CocoonError;
use baton_api::{Answers, ErrorCode};
use baton_runtime::RuntimeError;
use baton_store::StoreError;

/// Why an operation on cocoons was not done.
#[derive(Debug, thiserror::Error)]
pub enum CocoonsError {
    /// The database or the audit log stands against it.
    #[error(transparent)]
    Runtime(#[from] RuntimeError),
    /// A cocoon is not as the request wants it.
    #[error(transparent)]
    Cocoon(#[from] CocoonError),
}

impl From<StoreError> for CocoonsError {
    fn from(error: StoreError) -> Self {
        RuntimeError::from(error).into()
    }
}

impl Answers for CocoonsError {
    fn code(&self) -> ErrorCode {
        match self {
            Self::Runtime(error) => error.code(),
            Self::Cocoon(error) => error.code(),
        }
    }

    fn hint(&self) -> Option<&'static str> {
        match self {
            Self::Runtime(error) => error.hint(),
            Self::Cocoon(error) => error.hint(),
        }
    }
}
