//! A session's profile folder: what it holds at rest, and the copy that is kept beside it while a
//! browser is tried on it.
//!
//! The one idea: a browser is never started on the only copy of a profile. A start can cost state: a
//! database that does not open is deleted, a cookie store without its key is emptied.
//!
//! Bytes that are bad stay bad, and their writer has lost them. A disk that is full, a file that may not be
//! opened, or a fault of this program says nothing of the bytes: they can be read later. So the two are never
//! one error.

pub mod at_rest;
mod bounds;
pub mod certificates;
pub mod compile;
mod cookies;
pub mod crypt;
#[cfg(feature = "fuzzing")]
pub(crate) mod fuzzing;
mod instant;
mod keep;
pub mod keyring;
mod leveldb;
pub(crate) mod local_storage;
mod memory;
pub mod packed;
pub mod permissions;
pub(crate) mod preferences;
mod protobuf;
pub mod raw;
pub mod read;
mod sqlite;

pub use at_rest::AtRest;
pub use compile::compile;
pub use cookies::CookieStoreError;
pub use keep::{KeptProfile, Note, keep};
pub use local_storage::drop_older;

use std::io;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

/// Whether no browser has written any state to a profile yet, and nothing else has.
pub fn is_blank(profile: &Path) -> bool {
    let state = ["Local Storage", "LocalStorage", "IndexedDB", "WebStorage"];
    let mut state = state.iter().chain(&cookies::PLACES);
    !state.any(|name| profile.join("Default").join(name).exists())
}

/// What went wrong with a profile's files.
#[derive(Debug, thiserror::Error)]
#[error("could not {action} {path}: {source}")]
pub struct ProfileError {
    action: &'static str,
    path: PathBuf,
    /// What the system said; tells a full disk from a missing right.
    pub source: io::Error,
}

impl ProfileError {
    fn new(action: &'static str, path: impl Into<PathBuf>) -> impl FnOnce(io::Error) -> Self {
        let path = path.into();
        move |source| Self { action, path, source }
    }
}

/// Whose fault it is that a profile was not read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Fault {
    /// That of what lies there: it is the same when it is read again.
    #[error("{0}")]
    Bytes(String),
    /// That of this machine or this program: it may be read later.
    #[error("{0}")]
    Ours(String),
}

impl Fault {
    /// One of this kind, with what `error` says.
    fn of(is_ours: bool, error: impl std::fmt::Display) -> Self {
        if is_ours { Self::Ours(error.to_string()) } else { Self::Bytes(error.to_string()) }
    }
}

/// Whether the system failed, and not what was asked of it: names, kinds, sizes and contents of files are
/// those of their writer.
fn is_ours(error: &io::Error) -> bool {
    !matches!(
        error.kind(),
        ErrorKind::AlreadyExists
            | ErrorKind::FileTooLarge
            | ErrorKind::InvalidData
            | ErrorKind::InvalidFilename
            | ErrorKind::InvalidInput
            | ErrorKind::IsADirectory
            | ErrorKind::NotADirectory
            | ErrorKind::NotFound
            | ErrorKind::UnexpectedEof
    )
}

#[cfg(test)]
mod tests {
    use super::is_ours;
    use rustix::io::Errno;
    use std::io::{Error, ErrorKind};

    #[test]
    fn what_a_machine_has_no_more_of_is_not_the_fault_of_bytes() {
        let ours =
            [Errno::NOSPC, Errno::DQUOT, Errno::IO, Errno::MFILE, Errno::ACCESS, Errno::ROFS];
        for errno in ours {
            assert!(is_ours(&errno.into()), "{errno}");
        }
        for errno in [Errno::NAMETOOLONG, Errno::NOTDIR, Errno::EXIST, Errno::NOENT] {
            assert!(!is_ours(&errno.into()), "{errno}");
        }
        assert!(!is_ours(&Error::from(ErrorKind::UnexpectedEof)));
        assert!(!is_ours(&Error::new(ErrorKind::InvalidData, "no archive")));
    }
}
