//! `LevelDB`, as far as a profile needs it: a whole database is read at once, or written anew.
//!
//! The one idea: what is on a disk is trusted by nobody. A file is read into memory, so that nothing of
//! it is ever touched; every length is checked before it is believed, and every checksum is compared.
//! Behind what is damaged one reads on, as a browser does, and tells what was passed over; damage to what
//! says which files are the database is an error that names the file. A database is written as one sorted
//! table, so that a browser has nothing to recover when it opens it.

mod bytes;
mod log;
mod lost;
mod manifest;
mod read;
mod table;
#[cfg(test)]
mod tests;
mod write;

pub(super) use lost::Lost;
pub(super) use read::read;
pub(super) use write::{LAST_WRITTEN, write};

use super::bounds::TooMuch;
use super::fault::is_ours;
use std::collections::BTreeMap;
use std::io;
use std::path::PathBuf;

/// Every key and its value, in the order of the bytes of the keys.
pub(super) type Rows = BTreeMap<Vec<u8>, Vec<u8>>;

/// What a database holds.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub(super) struct Found {
    pub(super) rows: Rows,
    pub(super) lost: Lost,
}

/// What of a file is not as it should be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Damage {
    /// Bytes that one can pass over.
    Bytes(&'static str),
    /// More than is wanted, and no damage that one could read behind.
    TooMuch,
}

impl Damage {
    fn what(self) -> &'static str {
        match self {
            Self::Bytes(what) => what,
            Self::TooMuch => "more than 512 MiB of rows",
        }
    }
}

impl From<TooMuch> for Damage {
    fn from(_: TooMuch) -> Self {
        Self::TooMuch
    }
}

/// Why a database could not be read or written.
#[derive(Debug, thiserror::Error)]
pub(super) enum LevelDbError {
    #[error("could not read or write {}: {source}", path.display())]
    File { path: PathBuf, source: io::Error },
    #[error("expected a whole LevelDB, found in {} {what}", path.display())]
    Damaged { path: PathBuf, what: &'static str },
    #[error("expected a whole LevelDB in {}, found one without the file CURRENT, which names its parts", path.display())]
    NoCurrent { path: PathBuf },
    #[error("expected {} to stay as it is while it is read, found it changed all the time", path.display())]
    Busy { path: PathBuf },
}

impl LevelDbError {
    /// Whether that is the fault of this machine, and not of the database.
    pub(super) fn is_ours(&self) -> bool {
        match self {
            Self::File { source, .. } => is_ours(source),
            Self::Busy { .. } => true,
            Self::Damaged { .. } | Self::NoCurrent { .. } => false,
        }
    }
}

/// The kinds of rows (`db/dbformat.h`).
const DELETION: u8 = 0;
const VALUE: u8 = 1;
