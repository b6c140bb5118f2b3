//! What an error is for a client.

use crate::code::ErrorCode;
use crate::problem::Problem;
use std::error::Error;

/// An error that says what it is for a client. The first line of its text is the detail of a [`Problem`], the
/// others are what to do.
pub trait Answers: Error {
    /// The word that programs rely on.
    fn code(&self) -> ErrorCode;

    /// What to do, where the text does not say it.
    fn hint(&self) -> Option<&'static str> {
        usual_hint(self.code())
    }

    /// The body of the answer.
    fn problem(&self) -> Problem {
        let text = self.to_string();
        let (detail, hint) = match text.split_once('\n') {
            Some((detail, hint)) => (detail, Some(hint)),
            None => (text.as_str(), None),
        };
        let problem = Problem::new(self.code(), detail);
        match hint.or(self.hint()) {
            Some(hint) => problem.hint(hint),
            None => problem,
        }
    }
}

/// Errors that become one of a crate above by way of another one:
/// `by_way_of!(NodeError: RuntimeError { StoreError, LiveError });`.
#[macro_export]
macro_rules! by_way_of {
    ($into:ty: $($way:ty { $($error:ty),+ $(,)? })+) => {$($(
        impl From<$error> for $into {
            fn from(error: $error) -> Self {
                <$way>::from(error).into()
            }
        }
    )+)+};
}

/// What to do about an error with this code, where nothing else is said.
pub fn usual_hint(code: ErrorCode) -> Option<&'static str> {
    match code {
        ErrorCode::SessionNotFound => Some("baton sessions list shows the sessions there are"),
        ErrorCode::NoSnapshot => Some("baton sessions capture takes one while a session is active"),
        ErrorCode::BrowserUnavailable => Some("baton doctor says what is missing"),
        ErrorCode::Forbidden => Some("baton keys create makes a key with other scopes"),
        _ => None,
    }
}
