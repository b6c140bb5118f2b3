//! What counts only once it is whole: the file that becomes a backup, and the folder beside the data folder in
//! which a restore builds, until the two change places. Locks that die with their process keep others away.

use super::BackupError;
use baton_store::data::{DataFolder, NodeLock};
use rustix::fs::{CWD, RenameFlags, renameat_with};
use std::fs::{DirBuilder, File, OpenOptions, TryLockError};
use std::io::ErrorKind;
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::{fs, io};

/// A file that is held by us alone, for as long as this lives.
#[derive(Debug)]
pub(super) struct Held(File);

impl Held {
    /// Takes the file, which is made with mode 0600, or says that another process has it.
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
            // Its holder has just given it its final name: it is not ours to write to.
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
fn sync_folder(path: &Path) -> Result<(), BackupError> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    let folder = folder.unwrap_or(Path::new("."));
    File::open(folder).and_then(|folder| folder.sync_all()).map_err(BackupError::file(folder))
}

/// The name of the lock inside.
const LOCK: &str = "restore.lock";

/// The old data folder, held so that no node starts on it.
#[derive(Debug)]
pub(super) enum Old {
    /// Nothing is there, or nothing is in it.
    Empty,
    /// Something is there, and no node runs on it.
    Held(#[expect(dead_code, reason = "the lock lasts as long as this")] NodeLock),
}

impl Old {
    /// Looks at the data folder; what is in it may go only with `force`, and never while it is used.
    pub(super) fn inspect(data: &DataFolder, force: bool) -> Result<Self, BackupError> {
        if is_empty(data.path()).map_err(BackupError::file(data.path()))? {
            return Ok(Self::Empty);
        }
        // To take the lock makes its file, and nothing is made in a folder that is not ours.
        if !is_ours(data) {
            return Err(BackupError::NotOurs(data.path().to_owned()));
        }
        let lock = NodeLock::acquire(data)?;
        if !force {
            return Err(BackupError::NotEmpty(data.path().to_owned()));
        }
        refuse_browsers(data)?;
        Ok(Self::Held(lock))
    }
}

fn is_empty(path: &Path) -> io::Result<bool> {
    match fs::read_dir(path) {
        Ok(mut entries) => Ok(entries.next().is_none()),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(true),
        Err(error) => Err(error),
    }
}

fn is_ours(data: &DataFolder) -> bool {
    [data.lock(), data.id_file(), data.database()].iter().any(|file| file.exists())
}

/// A keeper outlives its node; its browser would write into a folder that has gone.
fn refuse_browsers(data: &DataFolder) -> Result<(), BackupError> {
    for entry in fs::read_dir(data.run()).into_iter().flatten().flatten() {
        let socket = entry.path();
        if UnixStream::connect(&socket).is_ok() {
            return Err(BackupError::BrowserRuns { data: data.path().to_owned(), socket });
        }
    }
    Ok(())
}

/// A folder that is being built. Dropped before it took its place, it goes.
#[derive(Debug)]
pub(super) struct Stage {
    held: Option<Held>,
    path: PathBuf,
}

impl Stage {
    /// Makes the folder `<data>.restoring`. What a process that died left there goes first.
    pub(super) fn create(data: &DataFolder) -> Result<Self, BackupError> {
        let path = beside(data.path(), "restoring");
        let made = DirBuilder::new().recursive(true).mode(0o700).create(&path);
        made.map_err(BackupError::file(&path))?;
        let held = Held::acquire(&path.join(LOCK))?;
        for entry in fs::read_dir(&path).map_err(BackupError::file(&path))?.flatten() {
            if entry.file_name() != LOCK {
                remove(&entry.path()).map_err(BackupError::file(entry.path()))?;
            }
        }
        Ok(Self { held: Some(held), path })
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// Puts the folder in the place of `data`, in one step. Returns where the old one is now.
    pub(super) fn take_place(mut self, data: &DataFolder) -> Result<Option<PathBuf>, BackupError> {
        let place = data.path();
        sync_all(&self.path).map_err(BackupError::file(&self.path))?;
        let old = if is_empty(place).map_err(BackupError::file(place))? {
            fs::rename(&self.path, place).map_err(BackupError::file(place))?;
            None
        } else {
            Some(self.exchange(place)?)
        };
        // From here on the path is not ours to clear, but our lock is still on what is in place.
        let held = self.held.take();
        sync_folder(place)?;
        let lock = place.join(LOCK);
        fs::remove_file(&lock).map_err(BackupError::file(&lock))?;
        drop(held);
        Ok(old)
    }

    /// The new folder first takes the name that the old one shall have: so what is under that name is the old
    /// one from the moment of the exchange on, whichever process dies when.
    fn exchange(&mut self, place: &Path) -> Result<PathBuf, BackupError> {
        let at = baton_store::clock::now().strftime("%Y%m%dT%H%M%S%3fZ");
        let old = beside(place, &format!("before-{at}"));
        fs::rename(&self.path, &old).map_err(BackupError::file(&old))?;
        self.path.clone_from(&old);
        renameat_with(CWD, &old, CWD, place, RenameFlags::EXCHANGE)
            .map_err(|error| BackupError::file(place)(error.into()))?;
        Ok(old)
    }
}

impl Drop for Stage {
    fn drop(&mut self) {
        // Without the lock it is no stage any more.
        if self.held.take().is_some() {
            let _ = fs::remove_dir_all(&self.path);
        }
    }
}

fn beside(path: &Path, end: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(".");
    name.push(end);
    name.into()
}

fn remove(path: &Path) -> io::Result<()> {
    if path.symlink_metadata()?.is_dir() { fs::remove_dir_all(path) } else { fs::remove_file(path) }
}

/// Syncs a folder and all folders below it; their files are synced already.
fn sync_all(folder: &Path) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        if entry.file_type()?.is_dir() {
            sync_all(&entry.path())?;
        }
    }
    File::open(folder)?.sync_all()
}
