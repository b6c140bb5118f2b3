//! Why a file is not read: what it is, and what is wanted instead. No value is in it.

use super::form::Form;
use crate::{playwright, wire};

/// A file of no kind that is taken, or a damaged one.
#[derive(Debug, thiserror::Error)]
pub enum ImportError {
    /// It looks like a session file.
    #[error(transparent)]
    Session(#[from] wire::ReadError),
    /// It looks like Playwright's.
    #[error(transparent)]
    StorageState(#[from] playwright::ReadError),
    /// It is something else.
    #[error(
        "this is {form}; expected a session file, a Playwright storageState, a list of cookies in \
         JSON, or a cookies.txt{}", hint(*.form)
    )]
    Other {
        /// What it is.
        form: Form,
    },
    /// It is JSON that breaks off.
    #[error("this is a damaged JSON file; expected JSON to the end, found a fault: {source}")]
    Damaged {
        /// Where.
        source: serde_json::Error,
    },
    /// It is text with bytes that are none.
    #[error(
        "this is a text in an unknown encoding; expected UTF-8 or UTF-16, found byte {at} to be neither"
    )]
    Encoding {
        /// The first one.
        at: usize,
    },
    /// It holds several, and nobody says which.
    #[error(
        "this is a document with several sessions or states in it; expected one, found {}\nsave the one \
         that you want as a file of its own", .places.join(", ")
    )]
    Many {
        /// Under which members.
        places: Vec<String>,
    },
    /// What a node says of a state while it hides what is secret.
    #[error(
        "this is what a node answers about a state, with its secrets hidden; expected them\nask with \
         reveal=true, by a key with the scope reveal"
    )]
    Redacted,
    /// What a node says of a state, but not as it says it.
    #[error(
        "this is what a node answers about a state; expected the state in its form, found another: {0}"
    )]
    Answer(wire::ReadError),
}

impl ImportError {
    /// What a text is that is neither JSON nor a list of cookies.
    pub(super) fn of_text(text: &str, source: serde_json::Error) -> Self {
        match Form::of_text(text) {
            Form::Damaged => Self::Damaged { source },
            form => Self::Other { form },
        }
    }
}

/// What to do about it, where there is something.
fn hint(form: Form) -> &'static str {
    match form {
        Form::SyncFile => "\nbaton import on the node that it was sealed for takes it",
        Form::Sqlite => "\nthe folder of the profile that it lies in is taken: baton import FOLDER",
        Form::Age => "\nbaton import FILE --identity KEYS opens it",
        Form::Archive => "\nunpack it first",
        _ => "",
    }
}
