//! How an operation is told which session it is about.

use baton_session::Session;

/// Which session an operation is about.
pub enum Reference<'a> {
    /// One that is to be found by its id, the start of that, or its name.
    Words(&'a str),
    /// One that the caller has found.
    Found(Box<Session>),
}

impl<'a> From<&'a str> for Reference<'a> {
    fn from(words: &'a str) -> Self {
        Self::Words(words)
    }
}

impl<'a> From<&'a String> for Reference<'a> {
    fn from(words: &'a String) -> Self {
        Self::Words(words)
    }
}

impl From<Session> for Reference<'_> {
    fn from(session: Session) -> Self {
        Self::Found(Box::new(session))
    }
}
