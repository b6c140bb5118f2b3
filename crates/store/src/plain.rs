//! Files that another user may have put where they are.
//!
//! The one idea: what is opened is looked at, and not what was there a moment before. Opening does not wait,
//! and what is no plain file is an error: a pipe without a writer would hold its reader, and a device has no
//! end.

use rustix::fs::OFlags;
use rustix::io::Errno;
use std::fs::{File, OpenOptions};
use std::io::{self, Read};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

/// What the files of secrets that settings name may have, in bytes.
const SECRET_MAX: u64 = 64 << 10;

/// Whether the last part of a path may be a link.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Links {
    /// It may lead elsewhere.
    Followed,
    /// It would lead out of where the file has to be.
    Refused,
}

/// Opens a plain file.
pub fn open(path: &Path, links: Links) -> io::Result<File> {
    open_with(OpenOptions::new().read(true), path, links)
}

/// The same with other options.
pub fn open_with(options: &mut OpenOptions, path: &Path, links: Links) -> io::Result<File> {
    let flags = match links {
        Links::Followed => OFlags::NONBLOCK,
        Links::Refused => OFlags::NONBLOCK | OFlags::NOFOLLOW,
    };
    // Flags of the system have few bits, so they fit.
    options.custom_flags(i32::try_from(flags.bits()).unwrap_or_default());
    let wrong = "expected a plain file, found a pipe, a folder, a device or something else";
    let wrong = || io::Error::new(io::ErrorKind::InvalidInput, wrong);
    let file = match options.open(path) {
        // A pipe without a reader, or a socket.
        Err(error) if error.raw_os_error() == Some(Errno::NXIO.raw_os_error()) => {
            return Err(wrong());
        }
        file => file?,
    };
    if file.metadata()?.is_file() { Ok(file) } else { Err(wrong()) }
}

/// The text of a file with a secret that the settings name.
pub async fn secret(path: &Path) -> io::Result<String> {
    let path = path.to_owned();
    let read = crate::blocking::blocking(move || {
        let mut text = String::new();
        open(&path, Links::Followed)?.take(SECRET_MAX).read_to_string(&mut text)?;
        Ok(text)
    });
    read.await?
}

#[cfg(test)]
mod tests {
    use super::*;
    use rustix::fs::{CWD, FileType, Mode, mknodat};
    use std::os::unix::fs::symlink;

    #[test]
    fn only_plain_files_are_opened_and_nothing_is_waited_for() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        std::fs::write(at("file"), "text").unwrap();
        symlink("file", at("link")).unwrap();
        mknodat(CWD, at("pipe"), FileType::Fifo, Mode::RUSR | Mode::WUSR, 0).unwrap();
        let _socket = std::os::unix::net::UnixListener::bind(at("socket")).unwrap();
        assert!(open(&at("file"), Links::Refused).is_ok());
        assert!(open(&at("link"), Links::Followed).is_ok());
        open(&at("link"), Links::Refused).unwrap_err();
        for name in ["pipe", "socket", "/dev/zero", "."] {
            open(&at(name), Links::Followed).unwrap_err();
            let mut writing = OpenOptions::new();
            open_with(writing.write(true).create(true), &at(name), Links::Followed).unwrap_err();
        }
    }
}
