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
mod error;
mod restore;
mod stage;

pub use archive::{LeftOut, Manifest};
pub use baton_store::FileKeyKind;
pub use create::{Backup, Source, create};
pub use error::BackupError;
pub use restore::{Restored, Unlock, restore};

use baton_store::{SealedFileError, SealedReader};
use std::fs::File;
use std::path::Path;

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
