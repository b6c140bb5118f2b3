//! Files and folders to which anybody may write: no link is followed, what changes while it is read is
//! read later, and what is written is whole or not there.

use baton_store::plain;
use baton_store::plain::Links;
use rustix::fs::{Mode, OFlags};
use std::collections::BTreeMap;
use std::fs::{self, DirBuilder, File, Metadata, OpenOptions};
use std::io::{self, Read, Write};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// How the names of files begin that are being written.
const BEGUN: &str = ".baton-";
/// How long it waits for another writer.
const LOCK_LIMIT: Duration = Duration::from_secs(10);
const LOCK_PAUSE: Duration = Duration::from_millis(20);
/// How many files are looked at; a folder with more holds something else.
const FILES_MAX: usize = 100_000;

/// Something in a sync directory that is not as it must be.
#[derive(Debug, thiserror::Error)]
pub enum DirectoryError {
    /// The system says no.
    #[error("{}: {source}", path.display())]
    Io {
        /// Where.
        path: PathBuf,
        /// What it says.
        source: io::Error,
    },
    /// A link, which may lead anywhere.
    #[error("{}: expected a {expected}, found a link or something else\nreplace it by the {expected} itself", path.display())]
    NotPlain {
        /// Where.
        path: PathBuf,
        /// What should be there.
        expected: &'static str,
    },
    /// It changed while it was read.
    #[error("{}: expected a file that stands still, found one that is being written", path.display())]
    Moving {
        /// Which one.
        path: PathBuf,
    },
    /// It is larger than anything that is read.
    #[error("{}: expected at most {limit} bytes, found {found}", path.display())]
    TooLarge {
        /// Which one.
        path: PathBuf,
        /// How large it may be.
        limit: u64,
        /// How large it is.
        found: u64,
    },
    /// It is no sync file.
    #[error("{}: {reason}", path.display())]
    Invalid {
        /// Which one.
        path: PathBuf,
        /// Why.
        reason: String,
    },
    /// Another node writes and does not end.
    #[error("{}: expected to write within {LOCK_LIMIT:?}, found another node writing", path.display())]
    Locked {
        /// The lock.
        path: PathBuf,
    },
}

/// How a file looks from outside: a change to it changes this.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Mark {
    /// How long it is.
    pub bytes: u64,
    inode: u64,
    modified: (i64, i64),
}

impl Mark {
    fn of(metadata: &Metadata) -> Self {
        let modified = (metadata.mtime(), metadata.mtime_nsec());
        Self { bytes: metadata.len(), inode: metadata.ino(), modified }
    }
}

/// The right to write, until it is dropped.
pub(super) struct Lock {
    _file: File,
}

impl Lock {
    pub(super) fn acquire(root: &Path) -> Result<Self, DirectoryError> {
        let path = root.join(".lock");
        let mut options = OpenOptions::new();
        options.write(true).create(true).mode(0o600);
        let file = plain::open_with(&mut options, &path, Links::Refused);
        let file = file.map_err(|source| io_at(&path, source))?;
        let end = Instant::now() + LOCK_LIMIT;
        loop {
            match file.try_lock() {
                Ok(()) => return Ok(Self { _file: file }),
                Err(fs::TryLockError::Error(source)) => return Err(io_at(&path, source)),
                Err(fs::TryLockError::WouldBlock) if Instant::now() >= end => {
                    return Err(DirectoryError::Locked { path });
                }
                Err(fs::TryLockError::WouldBlock) => std::thread::sleep(LOCK_PAUSE),
            }
        }
    }
}

/// Makes a folder (0700) where none is.
pub(super) fn make_folder(path: &Path) -> Result<(), DirectoryError> {
    match fs::symlink_metadata(path) {
        Ok(found) if found.is_dir() => Ok(()),
        Ok(_) => Err(DirectoryError::NotPlain { path: path.to_owned(), expected: "folder" }),
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            let made = DirBuilder::new().recursive(true).mode(0o700).create(path);
            made.map_err(|source| io_at(path, source))
        }
        Err(source) => Err(io_at(path, source)),
    }
}

/// All of a file that is not changed meanwhile; none when there is none.
pub(super) fn read_whole(path: &Path, limit: u64) -> Result<Option<Vec<u8>>, DirectoryError> {
    let fault = |source| io_at(path, source);
    let found = match fs::symlink_metadata(path) {
        Ok(found) => found,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(source) => return Err(fault(source)),
    };
    if !found.is_file() {
        return Err(DirectoryError::NotPlain { path: path.to_owned(), expected: "file" });
    }
    match plain::open(path, Links::Refused) {
        Ok(file) => read_still(path, file, limit, |file| read_up_to(file, limit)).map(Some),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(source) => Err(fault(source)),
    }
}

/// All of an open file, if it looks after it was read as it did before.
fn read_still(
    path: &Path,
    mut file: File,
    limit: u64,
    read: impl FnOnce(&mut File) -> io::Result<Vec<u8>>,
) -> Result<Vec<u8>, DirectoryError> {
    let fault = |source| io_at(path, source);
    let before = Mark::of(&file.metadata().map_err(fault)?);
    if before.bytes > limit {
        let (path, found) = (path.to_owned(), before.bytes);
        return Err(DirectoryError::TooLarge { path, limit, found });
    }
    let bytes = read(&mut file).map_err(fault)?;
    let after = Mark::of(&file.metadata().map_err(fault)?);
    if before != after || bytes.len() as u64 != after.bytes {
        return Err(DirectoryError::Moving { path: path.to_owned() });
    }
    Ok(bytes)
}

/// A file that has grown is read one byte beyond the limit, and is longer than it looked then.
fn read_up_to(file: &mut File, limit: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    file.take(limit + 1).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// Writes beside the place, syncs, renames, and syncs the folder.
pub(super) fn write_whole(path: &Path, bytes: &[u8]) -> Result<Mark, DirectoryError> {
    let fault = |source| io_at(path, source);
    let folder = path.parent().unwrap_or(Path::new("."));
    let mut file = tempfile::Builder::new().prefix(BEGUN).tempfile_in(folder).map_err(fault)?;
    file.write_all(bytes).map_err(fault)?;
    file.as_file().sync_all().map_err(fault)?;
    let file = file.persist(path).map_err(|error| fault(error.error))?;
    sync_folder(folder)?;
    Ok(Mark::of(&file.metadata().map_err(fault)?))
}

pub(super) fn remove(path: &Path) -> Result<(), DirectoryError> {
    match fs::remove_file(path) {
        Ok(()) => sync_folder(path.parent().unwrap_or(Path::new("."))),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        Err(source) => Err(io_at(path, source)),
    }
}

/// Moves a file into `aside` under a name of its own; the oldest there go, so that at most `most` stay.
pub(super) fn set_aside(path: &Path, aside: &Path, most: usize) -> Result<(), DirectoryError> {
    let mut there: Vec<_> = list(aside)?.into_iter().collect();
    there.sort_by_key(|(_, mark)| mark.modified);
    for (name, _) in there.iter().rev().skip(most.saturating_sub(1)) {
        remove(&aside.join(name))?;
    }
    let name = path.file_stem().unwrap_or_default().to_string_lossy();
    let taken = tempfile::Builder::new()
        .prefix(&format!("{name}."))
        .suffix(".json")
        .tempfile_in(aside)
        .and_then(|file| file.keep().map_err(|error| error.error));
    let (_, target) = taken.map_err(|source| io_at(aside, source))?;
    fs::rename(path, &target).map_err(|source| io_at(path, source))?;
    sync_folder(aside)
}

/// Files whose names end in `.json`; a link is none.
pub(super) fn list(folder: &Path) -> Result<BTreeMap<String, Mark>, DirectoryError> {
    let mut files = BTreeMap::new();
    for entry in fs::read_dir(folder).map_err(|source| io_at(folder, source))?.take(FILES_MAX) {
        let entry = entry.map_err(|source| io_at(folder, source))?;
        let Ok(name) = entry.file_name().into_string() else { continue };
        // One that goes while it is looked at is not there.
        let Ok(found) = entry.metadata() else { continue };
        if found.is_file() && is_json(&name) {
            files.insert(name, Mark::of(&found));
        }
    }
    Ok(files)
}

fn is_json(name: &str) -> bool {
    Path::new(name).extension().is_some_and(|extension| extension == "json")
        && !name.starts_with('.')
}

/// Removes what a writer left that was killed. The caller holds the lock.
pub(super) fn remove_leftovers(folder: &Path) -> Result<(), DirectoryError> {
    for entry in fs::read_dir(folder).map_err(|source| io_at(folder, source))? {
        let entry = entry.map_err(|source| io_at(folder, source))?;
        if entry.file_name().to_string_lossy().starts_with(BEGUN) {
            remove(&entry.path())?;
        }
    }
    Ok(())
}

fn sync_folder(folder: &Path) -> Result<(), DirectoryError> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let opened = rustix::fs::open(folder, flags, Mode::empty()).map(File::from);
    let synced = opened.map_err(io::Error::from).and_then(|folder| folder.sync_all());
    synced.map_err(|source| io_at(folder, source))
}

fn io_at(path: &Path, source: io::Error) -> DirectoryError {
    DirectoryError::Io { path: path.to_owned(), source }
}

#[cfg(test)]
mod tests {
    use super::{DirectoryError, read_still, read_up_to, read_whole};
    use std::fs::{self, File, OpenOptions};
    use std::io::Write;
    use std::path::Path;

    const LIMIT: u64 = 16;

    /// Something that is done to a file.
    type Change<'a> = &'a dyn Fn(&Path);

    /// Reads a file to which this is done once half of what it looked like is read.
    fn read_while(path: &Path, change: impl FnOnce(&Path)) -> Result<Vec<u8>, DirectoryError> {
        let file = File::open(path).unwrap();
        read_still(path, file, LIMIT, |file| {
            let mut bytes = read_up_to(file, 3)?;
            change(path);
            bytes.extend(read_up_to(file, LIMIT)?);
            Ok(bytes)
        })
    }

    fn write(path: &Path, bytes: &[u8]) {
        fs::write(path, bytes).unwrap();
    }

    #[test]
    fn what_changes_while_it_is_read_is_read_later() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.json");
        let append = |path: &Path, bytes: &[u8]| {
            OpenOptions::new().append(true).open(path).unwrap().write_all(bytes).unwrap();
        };
        let cut =
            |path: &Path| OpenOptions::new().write(true).open(path).unwrap().set_len(2).unwrap();
        let changes: [(&str, Change<'_>); 4] = [
            ("grows", &|path| append(path, b"more")),
            ("grows beyond the limit", &|path| append(path, &[b'x'; 100])),
            ("is truncated", &cut),
            ("is written anew", &|path| write(path, b"else")),
        ];
        for (what, change) in changes {
            write(&path, b"whole file");
            let moving = read_while(&path, change).unwrap_err();
            assert!(matches!(moving, DirectoryError::Moving { .. }), "{what}: {moving}");
        }
    }

    #[test]
    fn what_is_replaced_or_removed_while_it_is_read_is_read_as_it_was() {
        let folder = tempfile::tempdir().unwrap();
        let (path, beside) = (folder.path().join("a.json"), folder.path().join("b.json"));
        write(&path, b"whole file");
        write(&beside, b"another");
        let read = read_while(&path, |path| fs::rename(&beside, path).unwrap()).unwrap();
        assert_eq!(read, b"whole file", "not a mixture of both");
        assert_eq!(read_whole(&path, LIMIT).unwrap().unwrap(), b"another", "at the next look");
        let read = read_while(&path, |path| fs::remove_file(path).unwrap()).unwrap();
        assert_eq!(read, b"another");
        assert_eq!(read_whole(&path, LIMIT).unwrap(), None);
    }
}
