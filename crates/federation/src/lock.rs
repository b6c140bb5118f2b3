//! One writer at a time: a lock that the system drops with its process.

use crate::error::FederationError;
use crate::error::Tried;
use crate::folder::{Folder, open_plain, open_to_read, options};
use std::fs::{self, File, TryLockError};
use std::io::{self, Read, Seek, Write};
use std::thread::sleep;
use std::time::{Duration, Instant};

/// How long a writer waits for the others.
pub(crate) const LIMIT: Duration = Duration::from_secs(10);
/// The longest pause between two attempts.
const LONGEST_PAUSE: u64 = 8_000;

/// The right to write, as long as it lives.
#[derive(Debug)]
pub(crate) struct Lock {
    _file: File,
}

impl Lock {
    /// Waits for the lock, at most for `limit`.
    pub(crate) fn acquire(
        folder: &Folder,
        limit: Duration,
        random: fn() -> u64,
    ) -> Result<Self, FederationError> {
        let end = Instant::now() + limit;
        let mut longest = 500;
        loop {
            if let Some(lock) = Self::try_acquire(folder)? {
                return Ok(lock);
            }
            if Instant::now() >= end {
                return Err(FederationError::Busy {
                    seconds: limit.as_secs(),
                    holder: holder(folder),
                    path: folder.lock(),
                });
            }
            sleep(Duration::from_micros(200 + random() % longest));
            longest = (longest * 2).min(LONGEST_PAUSE);
        }
    }

    /// The lock, if it is free now.
    pub(crate) fn try_acquire(folder: &Folder) -> Result<Option<Self>, FederationError> {
        let path = folder.lock();
        let mut how = options();
        how.read(true).write(true).create(true).truncate(false);
        let file = open_plain(&path, how).tried("open the lock", &path)?;
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => return Ok(None),
            Err(TryLockError::Error(source)) => return Err(not_locked(folder, source)),
        }
        // Who deletes the lock makes a second one possible: only the file that is there counts.
        match is_same(&file, &path) {
            Ok(true) => Ok(Some(Self { _file: signed(file) })),
            _ => Ok(None),
        }
    }
}

/// Notes who holds it; nothing depends on that.
fn signed(mut file: File) -> File {
    let line = format!("process {}\n", std::process::id());
    let _ =
        file.set_len(0).and_then(|()| file.rewind()).and_then(|()| file.write_all(line.as_bytes()));
    file
}

fn holder(folder: &Folder) -> String {
    let mut text = String::new();
    let read =
        open_to_read(&folder.lock()).and_then(|file| file.take(64).read_to_string(&mut text));
    match read {
        Ok(_) if text.starts_with("process ") => text.trim().to_owned(),
        _ => "another process".to_owned(),
    }
}

#[cfg(unix)]
fn is_same(file: &File, path: &std::path::Path) -> io::Result<bool> {
    use std::os::unix::fs::MetadataExt as _;
    let (ours, there) = (file.metadata()?, fs::metadata(path)?);
    Ok((ours.dev(), ours.ino()) == (there.dev(), there.ino()))
}

#[cfg(not(unix))]
fn is_same(_: &File, path: &std::path::Path) -> io::Result<bool> {
    fs::exists(path)
}

/// A file system that knows no locks says so here.
pub(crate) fn not_locked(folder: &Folder, source: io::Error) -> FederationError {
    use rustix::io::Errno;
    let unknown = [Errno::NOLCK, Errno::NOSYS, Errno::OPNOTSUPP].map(Errno::raw_os_error);
    let is_unknown = source.raw_os_error().is_some_and(|code| unknown.contains(&code));
    if is_unknown || source.kind() == io::ErrorKind::Unsupported {
        let found = format!("a file system without locks ({source})");
        return FederationError::NoLocks { path: folder.root().to_owned(), found };
    }
    FederationError::Io { what: "take the lock", path: folder.lock(), source }
}
