//! A file that becomes a state: a session file, or a Playwright `storageState`.
//!
//! The one idea: which of them it is shows itself, so nobody has to say it. What may be taken of the
//! state [`admit`](crate::admit) says.

use crate::{Receipt, State, playwright, wire};

/// What a file holds.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Imported {
    /// The session's name; empty when the file has none.
    pub name: String,
    /// Free text for people.
    pub description: String,
    /// What its browser held.
    pub state: State,
    /// What in the file cannot be used, and why.
    pub left_out: Receipt,
}

/// A file of neither kind, or a damaged one. No value is in it.
#[derive(Debug, thiserror::Error)]
pub enum ImportError {
    /// It looks like a session file.
    #[error(transparent)]
    Session(#[from] wire::ReadError),
    /// It does not.
    #[error(transparent)]
    StorageState(#[from] playwright::ReadError),
}

/// Reads a file of either kind.
pub fn read(file: &[u8]) -> Result<Imported, ImportError> {
    if wire::is_session_file(file) {
        let (wire::SessionFile { head, state }, left_out) = wire::read(file)?;
        return Ok(Imported { name: head.name, description: head.description, state, left_out });
    }
    let (state, ignored) = playwright::read(file)?;
    let left_out = ignored.into_iter().map(Into::into).collect();
    Ok(Imported { state, left_out, ..Imported::default() })
}
