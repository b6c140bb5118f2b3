//! Backups: everything that a node cannot make again, in one sealed file.
//!
//! The one idea: *whole or not at all, in both directions*. A backup is written beside its place, synced and
//! renamed; a restore builds a whole data folder beside the old one, checks it, and then the two change
//! places. A process that dies in the middle leaves what was there before.
//!
//! Inside the seal is a tar archive, compressed with zstd: the database, the master key when a passphrase
//! seals it, the profiles that were asked for, and at last a manifest that names every file with its hash.
//! What a node makes by itself (locks, addresses) stays out; who it is, is in the database, and which of the
//! identities there is its own in the manifest.

mod archive;
mod create;
mod restore;
mod stage;

pub use archive::{LeftOut, Manifest};
pub use baton_store::FileKeyKind;
pub use create::{Backup, Source, create};
pub use restore::{Restored, Unlock, restore};

use baton_store::blocking::Stopping;
use baton_store::data::DataError;
use baton_store::{SealedFileError, SealedReader, StoreError};
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

/// The layout of the archive that this version writes and reads.
const FORMAT: u32 = 1;
/// The most bytes that a backup holds, before compression: 64 GiB.
const BYTES_MAX: u64 = 64 << 30;
/// The most files that a backup holds.
const FILES_MAX: usize = 200_000;
/// The most bytes of a manifest: 64 MiB.
const MANIFEST_MAX: u64 = 64 << 20;

/// The names inside an archive.
const DATABASE: &str = "baton.db";
const KEY: &str = "key";
const MANIFEST: &str = "manifest.json";
const SESSIONS: &str = "sessions";

/// With what the backup at `path` opens.
pub fn kind(path: &Path) -> Result<FileKeyKind, BackupError> {
    let file = File::open(path).map_err(BackupError::file(path))?;
    SealedReader::kind(file).map_err(|error| BackupError::sealed(path, error))
}

/// Whether what is where a backup is to go is one itself, or an empty file, and may be replaced.
fn may_be_replaced(path: &Path) -> bool {
    let empty = path.metadata().is_ok_and(|found| found.is_file() && found.len() == 0);
    let damaged_or_newer = |error: &SealedFileError| {
        matches!(error, SealedFileError::Header | SealedFileError::Newer { .. })
    };
    empty
        || match kind(path) {
            Err(BackupError::Sealed { source, .. }) => damaged_or_newer(&source),
            other => other.is_ok(),
        }
}

/// Why there is no backup, or nothing was restored.
#[derive(Debug, thiserror::Error)]
pub enum BackupError {
    /// The data folder cannot be used, or a node works on it.
    #[error(transparent)]
    Data(#[from] DataError),
    /// The database cannot be read or brought up to date.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The system refused.
    #[error("{}: {source}", path.display())]
    File {
        /// Which file or folder.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// The file does not open with what was given.
    #[error("{}: {source}", path.display())]
    Sealed {
        /// The backup.
        path: PathBuf,
        /// Why.
        source: SealedFileError,
    },
    /// The file opens, but is not a whole backup.
    #[error("expected a whole backup in {}, found that {why}\nnothing was restored; take another backup", path.display())]
    Damaged {
        /// The backup.
        path: PathBuf,
        /// What is wrong.
        why: String,
    },
    /// A newer version of this program made it.
    #[error(
        "expected a backup of version {FORMAT} in {}, found version {found}\ninstall the version \
         of Baton that made it, or a newer one", path.display()
    )]
    Newer {
        /// The backup.
        path: PathBuf,
        /// Its version.
        found: u64,
    },
    /// Something else is where the backup is to go.
    #[error("expected a place for a backup at {}, found another file there\nit was left alone; name another place", .0.display())]
    InTheWay(PathBuf),
    /// Another backup or restore is under way.
    #[error("expected no other backup or restore there, found one that writes {}\nwait until it is done", .0.display())]
    UnderWay(PathBuf),
    /// There is no database yet.
    #[error("expected a database at {0}, found none: there is nothing to back up")]
    NothingThere(String),
    /// It would be larger than what a restore takes.
    #[error(
        "expected at most {BYTES_MAX} bytes in at most {FILES_MAX} files, found more\nleave the profiles out"
    )]
    TooLarge,
    /// The data folder holds something.
    #[error(
        "expected an empty or missing data folder, found files in {}\nname another with --data, or \
         give --force: the old folder is then kept beside it", .0.display()
    )]
    NotEmpty(PathBuf),
    /// The PostgreSQL database that was to take what is restored holds something.
    #[error(transparent)]
    DatabaseNotEmpty(StoreError),
    /// A SQLite file goes nowhere but into the data folder.
    #[error(
        "expected a postgres:// address to restore to, found {0}\nwithout one the database becomes \
         baton.db in the data folder: leave the setting out, or move the file there yourself"
    )]
    OtherFile(String),
    /// The data folder is something else.
    #[error(
        "expected a data folder of Baton, or an empty or missing folder, found other files in {}\n\
         they were left alone; name another folder with --data", .0.display()
    )]
    NotOurs(PathBuf),
    /// A browser of a session runs still.
    #[error(
        "expected no browser to run on {}, found one whose keeper listens at {}\nclose its session \
         first", data.display(), socket.display()
    )]
    BrowserRuns {
        /// The data folder.
        data: PathBuf,
        /// The keeper's socket.
        socket: PathBuf,
    },
    /// The program is stopping.
    #[error("interrupted: the program is stopping")]
    Interrupted,
}

impl BackupError {
    /// What the server said that was to take what is restored.
    fn server(error: StoreError) -> Self {
        match error {
            StoreError::Filled { .. } | StoreError::NotOurs { .. } => Self::DatabaseNotEmpty(error),
            other => Self::Store(other),
        }
    }

    /// An error of the system about `path`.
    fn file(path: impl Into<PathBuf>) -> impl FnOnce(io::Error) -> Self {
        let path = path.into();
        move |source| Self::File { path, source }
    }

    fn sealed(path: &Path, source: SealedFileError) -> Self {
        Self::Sealed { path: path.to_owned(), source }
    }

    fn damaged(path: &Path, why: impl Into<String>) -> Self {
        Self::Damaged { path: path.to_owned(), why: why.into() }
    }
}

impl From<Stopping> for BackupError {
    fn from(_: Stopping) -> Self {
        Self::Interrupted
    }
}
