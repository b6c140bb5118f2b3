//! Locks that die with their process, and a file that counts only once it is whole.

use super::error::BackupError;
use std::fs::{self, File, OpenOptions, TryLockError};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

/// A file that is held by us alone, for as long as this lives.
#[derive(Debug)]
pub(super) struct Held(File);

impl Held {
    /// Takes the file, which is made with mode 0600, or says that somebody else has it.
    pub(super) fn acquire(path: &Path) -> Result<Self, BackupError> {
        let file = OpenOptions::new()
            .create(true)
            .truncate(false)
            .write(true)
            .mode(0o600)
            .open(path)
            .map_err(BackupError::file(path))?;
        match file.try_lock() {
            Ok(()) if is_at(&file, path) => Ok(Self(file)),
            // Whoever held it has just given it its final name: it is not ours to write to.
            Ok(()) | Err(TryLockError::WouldBlock) => Err(BackupError::UnderWay(path.to_owned())),
            Err(TryLockError::Error(source)) => {
                Err(BackupError::File { path: path.to_owned(), source })
            }
        }
    }
}

fn is_at(file: &File, path: &Path) -> bool {
    let named = fs::metadata(path).map(|found| (found.dev(), found.ino()));
    let ours = file.metadata().map(|found| (found.dev(), found.ino()));
    named.is_ok_and(|named| ours.is_ok_and(|ours| named == ours))
}

/// A file on its way: written beside its place, with `.baton-part` behind its name. What a process that
/// died left there is written over by the next.
#[derive(Debug)]
pub(super) struct Draft {
    held: Held,
    path: PathBuf,
    to: PathBuf,
    done: bool,
}

impl Draft {
    pub(super) fn create(to: &Path) -> Result<Self, BackupError> {
        let path = to.with_added_extension("baton-part");
        let held = Held::acquire(&path)?;
        held.0.set_len(0).map_err(BackupError::file(&path))?;
        Ok(Self { held, path, to: to.to_owned(), done: false })
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// The file to write to.
    pub(super) fn file(&mut self) -> Result<File, BackupError> {
        self.held.0.try_clone().map_err(BackupError::file(&self.path))
    }

    /// Gives the file, which is synced, its name, and returns its size.
    pub(super) fn publish(mut self) -> Result<u64, BackupError> {
        let size = self.held.0.metadata().map_err(BackupError::file(&self.path))?.len();
        fs::rename(&self.path, &self.to).map_err(BackupError::file(&self.to))?;
        self.done = true;
        sync_folder(&self.to)?;
        Ok(size)
    }
}

impl Drop for Draft {
    fn drop(&mut self) {
        if !self.done {
            // What stays is written over by the next backup to this place.
            let _ = fs::remove_file(&self.path);
        }
    }
}

/// Syncs the folder of `path`, so that the name survives a power cut too.
pub(super) fn sync_folder(path: &Path) -> Result<(), BackupError> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    let folder = folder.unwrap_or(Path::new("."));
    File::open(folder).and_then(|folder| folder.sync_all()).map_err(BackupError::file(folder))
}
