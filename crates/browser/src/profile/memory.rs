//! A profile's files in memory, where no disk has them, and how much of them is taken.
//!
//! The one idea: a small file can say much. Keys that share their beginnings, compressed values, one
//! map with many names: what is made of a file is counted as well, not only its size.

use std::fs::File;
use std::io::{self, Read};
use std::os::unix::fs::FileExt;

/// A new file, in memory. It goes when no process has it open any more.
#[cfg(target_os = "linux")]
pub(crate) fn file() -> io::Result<File> {
    use rustix::fs::MemfdFlags;
    let flags = MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING;
    Ok(rustix::fs::memfd_create("profile", flags)?.into())
}

/// From now on it cannot be changed, whatever gets it.
#[cfg(target_os = "linux")]
pub(super) fn seal(file: File) -> io::Result<File> {
    use rustix::fs::SealFlags;
    let all = SealFlags::WRITE | SealFlags::GROW | SealFlags::SHRINK | SealFlags::SEAL;
    rustix::fs::fcntl_add_seals(&file, all)?;
    Ok(file)
}

/// Files of this system have no seals.
#[cfg(not(target_os = "linux"))]
pub(super) fn seal(file: File) -> io::Result<File> {
    Ok(file)
}

/// A new file without a name: this system has none in memory.
#[cfg(not(target_os = "linux"))]
pub(crate) fn file() -> io::Result<File> {
    tempfile::tempfile()
}

/// The same file once more, at its beginning.
#[cfg(target_os = "linux")]
pub(super) fn again(file: &File) -> io::Result<File> {
    use std::os::fd::AsRawFd;
    File::open(format!("/proc/self/fd/{}", file.as_raw_fd()))
}

/// The same file once more, which nothing else may read meanwhile.
#[cfg(not(target_os = "linux"))]
pub(super) fn again(file: &File) -> io::Result<File> {
    use std::io::Seek;
    let mut file = file.try_clone()?;
    file.rewind()?;
    Ok(file)
}

/// Reads a file from its beginning, whatever else reads it meanwhile.
pub(super) struct FromStart<'a> {
    file: &'a File,
    at: u64,
}

impl<'a> FromStart<'a> {
    pub(super) fn of(file: &'a File) -> Self {
        Self { file, at: 0 }
    }
}

impl Read for FromStart<'_> {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        let read = self.file.read_at(bytes, self.at)?;
        self.at += read as u64;
        Ok(read)
    }
}

/// The most bytes of the files of one database, and of the rows that are made of them.
pub(super) const LARGEST: u64 = 512 << 20;

/// What a row takes in memory beside its bytes, about.
const ROW: usize = 64;

/// How much may still be made of the files of one database.
#[derive(Debug)]
pub(super) struct Budget(usize);

/// More came of a file than is ever wanted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("expected at most 512 MiB of rows, found more")]
pub(super) struct TooMuch;

impl Default for Budget {
    fn default() -> Self {
        Self::new(LARGEST)
    }
}

impl Budget {
    pub(super) fn new(bytes: u64) -> Self {
        Self(usize::try_from(bytes).unwrap_or(usize::MAX))
    }

    /// Takes a row of so many bytes.
    pub(super) fn take_row(&mut self, bytes: usize) -> Result<(), TooMuch> {
        self.spend(bytes.saturating_add(ROW))
    }

    /// Takes so many bytes.
    pub(super) fn spend(&mut self, bytes: usize) -> Result<(), TooMuch> {
        self.0 = self.0.checked_sub(bytes).ok_or(TooMuch)?;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_budget_ends() {
        let mut budget = Budget(100);
        budget.take_row(30).unwrap();
        assert_eq!(budget.take_row(30), Err(TooMuch));
        budget.spend(6).unwrap();
        assert_eq!(budget.spend(1), Err(TooMuch));
    }
}
