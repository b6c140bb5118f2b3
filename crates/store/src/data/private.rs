//! Writing a private file so that a crash leaves the old one or the new one, never half of one.

use super::error::DataError;
use std::fs::File;
use std::io::Write;
use std::path::Path;

/// Replaces the file at `path` (0600): temporary file, fsync, rename, fsync of the folder.
pub fn write_private(path: &Path, bytes: &[u8]) -> Result<(), DataError> {
    replace(path, bytes).map_err(|source| DataError::Io { path: path.to_owned(), source })
}

fn replace(path: &Path, bytes: &[u8]) -> std::io::Result<()> {
    let folder = path.parent().unwrap_or(Path::new("."));
    // A temporary file is made with mode 0600.
    let mut file = tempfile::NamedTempFile::new_in(folder)?;
    file.write_all(bytes)?;
    file.as_file().sync_all()?;
    file.persist(path).map_err(|error| error.error)?;
    File::open(folder)?.sync_all()
}
