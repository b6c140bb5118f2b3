//! Why no profile was imported, and what to say instead.

use crate::browsers::Browser;
use baton_runtime::sessions::FILE_LIMIT;
use std::path::PathBuf;

/// Why no profile was imported.
#[derive(Debug, thiserror::Error)]
pub(in crate::cli) enum NotImported {
    /// A profile has a name for its person, not for a session.
    #[error(
        "expected a name for the session, found none, for a profile has none that fits\n\
         give one with --name"
    )]
    NoName,
    /// A session that moves between nodes has the name that it has there.
    #[error(
        "expected no --name and no --description for a file of a peer, found one: it becomes the same \
         session as there"
    )]
    KeepsItsName,
    /// A file is taken as a whole.
    #[error("expected the folder of a profile together with {option}, found another file at {}\n\
         leave {option} away: a file is imported as a whole", path.display())]
    NoFolder {
        /// What was given beside it.
        option: &'static str,
        /// What it is.
        path: PathBuf,
    },
    /// The browser was never used here.
    #[error(
        "expected a profile of {browser} in {looked}, found none\n\
         give the folder of a profile that is elsewhere: baton import DIR"
    )]
    NoneFound {
        /// Which browser.
        browser: Browser,
        /// Where it was looked for.
        looked: String,
    },
    /// None is called like that, or more than one.
    #[error(
        "expected one profile of {browser} that is called {wanted:?}, found {found}\n\
         name one with --profile, by its name or its folder:\n{there}"
    )]
    NoneCalled {
        /// Which browser.
        browser: Browser,
        /// What was typed.
        wanted: String,
        /// How many are called so.
        found: usize,
        /// What there is, a line each.
        there: String,
    },
    /// Nobody said which.
    #[error(
        "expected to be told which profile of {browser} is meant, found {found}\n\
         name one with --profile, by its name or its folder:\n{there}"
    )]
    Several {
        /// Which browser.
        browser: Browser,
        /// How many there are.
        found: usize,
        /// What there is, a line each.
        there: String,
    },
    /// More than a file may have.
    #[error(
        "expected at most {FILE_LIMIT} bytes of session file, found {0}\n\
         take less with --domain"
    )]
    TooLarge(usize),
}
