//! What other nodes have against an operation, told to those who know nothing of other nodes.

use baton_api::{Answers, ErrorCode};
use std::error::Error;
use std::fmt;

/// How a session stands with the nodes that were asked for it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stand {
    /// One of them keeps it.
    Kept,
    /// One of them did not answer.
    Unanswered,
    /// Something else is the matter.
    Other,
}

/// What other nodes have against an operation.
#[derive(Debug)]
pub struct Elsewhere {
    stand: Stand,
    code: ErrorCode,
    hint: Option<&'static str>,
    error: Box<dyn Error + Send + Sync>,
}

impl Elsewhere {
    /// What `error` says.
    pub fn new(stand: Stand, error: impl Answers + Send + Sync + 'static) -> Self {
        Self { stand, code: error.code(), hint: error.hint(), error: Box::new(error) }
    }

    /// How the session stands.
    pub fn stand(&self) -> Stand {
        self.stand
    }

    /// The word that programs rely on.
    pub(super) fn code(&self) -> ErrorCode {
        self.code
    }

    /// What to do, where the text does not say it.
    pub(super) fn hint(&self) -> Option<&'static str> {
        self.hint
    }

    /// The error itself, for those who know its type.
    ///
    /// # Errors
    ///
    /// It is of another type.
    pub fn downcast<E: Error + 'static>(self) -> Result<Box<E>, Self> {
        let Self { stand, code, hint, error } = self;
        error.downcast().map_err(|error| Self { stand, code, hint, error })
    }
}

impl fmt::Display for Elsewhere {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.error.fmt(f)
    }
}

impl Error for Elsewhere {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        self.error.source()
    }
}
