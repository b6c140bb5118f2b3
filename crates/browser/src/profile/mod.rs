//! A session's profile folder: what it holds at rest, and the copy that is kept beside it while a
//! browser is tried on it.
//!
//! The one idea: a browser is never started on the only copy of a profile. A start can cost state:
//! a database that does not open is deleted, a cookie store without its key is emptied.

pub mod at_rest;
mod bounds;
pub mod certificates;
pub mod compile;
mod cookies;
pub mod crypt;
#[cfg(test)]
mod crypt_tests;
mod fault;
#[cfg(feature = "fuzzing")]
pub(crate) mod fuzzing;
mod instant;
mod keep;
pub mod keyring;
mod leveldb;
pub(crate) mod local_storage;
mod memory;
mod note;
pub mod packed;
pub mod permissions;
#[cfg(test)]
mod permissions_tests;
pub(crate) mod preferences;
mod protobuf;
pub mod raw;
pub mod read;
mod sqlite;
pub(crate) mod systems;

pub use at_rest::AtRest;
pub use compile::compile;
pub use cookies::CookieStoreError;
pub use fault::Fault;
pub use keep::{KeptProfile, keep};
pub use local_storage::drop_older;
pub use note::Note;

use std::io;
use std::path::{Path, PathBuf};

/// Whether no browser has written any state to a profile yet, and nobody else has.
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
