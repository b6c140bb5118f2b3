//! Files that no disk has.

use std::fs::File;
use std::io::{self, Read};
use std::os::unix::fs::FileExt;

/// A new file, in memory. It goes when no process has it open any more.
#[cfg(target_os = "linux")]
pub(super) fn file() -> io::Result<File> {
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
pub(super) fn file() -> io::Result<File> {
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
