//! Why no browser was installed, and what to do about it.

use super::libraries::MissingLibraries;
use crate::launch::{BrowserVersion, LaunchError, OLDEST};
use std::fmt;
use std::io;
use std::path::PathBuf;
use url::Url;

/// A number of bytes, for people.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Bytes(pub u64);

impl fmt::Display for Bytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self(bytes) = *self;
        match bytes {
            0..1024 => write!(f, "{bytes} bytes"),
            1024..0x10_0000 => write!(f, "{} KiB", bytes.div_ceil(1024)),
            _ => write!(f, "{} MiB", bytes.div_ceil(0x10_0000)),
        }
    }
}

/// Why no browser was installed.
#[derive(Debug, thiserror::Error)]
pub enum InstallError {
    /// There is no build for this machine.
    #[error(
        "expected Linux on x86-64, found {os} on {arch}: Chrome for Testing has no build for it\n\
         on Debian: apt-get install chromium; elsewhere a Chromium of the system, or one in browser.program"
    )]
    NoBuild {
        /// The system.
        os: &'static str,
        /// The processor.
        arch: &'static str,
    },
    /// An address that is not asked.
    #[error(
        "expected an address with https, or with http one of this machine such as http://127.0.0.1:8000/, \
         found {0}"
    )]
    NotAsked(Url),
    /// Nobody answered.
    #[error(
        "expected an answer of {}, found: {why}\n\
         HTTPS_PROXY names a proxy; for a machine without a network, load the ZIP of Chrome for Testing \
         elsewhere and type: baton browser install --from-file ZIP",
        url.host_str().unwrap_or_default()
    )]
    Unreachable {
        /// Where.
        url: Url,
        /// What went wrong.
        why: String,
    },
    /// Somebody answered, and gave nothing.
    #[error(
        "expected {url} to be there, found the answer {status}\n\
         a ZIP file that is here is installed with: baton browser install --from-file ZIP"
    )]
    Answer {
        /// What was asked for.
        url: Url,
        /// The answer.
        status: u16,
    },
    /// What answered is no index of Chrome for Testing.
    #[error("expected an index of Chrome for Testing at {url}, found something else: {why}")]
    NotAnIndex {
        /// What was asked for.
        url: Url,
        /// What is wrong.
        why: String,
    },
    /// The index does not have the version.
    #[error(
        "expected version {wanted} in the index of Chrome for Testing, found none for this machine\n\
         baton browser install takes the stable one"
    )]
    NoSuchVersion {
        /// What was wanted.
        wanted: String,
    },
    /// Baton does not work with the version.
    #[error(
        "expected version {OLDEST} or newer, found {0}: Baton does not work with older ones\n\
         baton browser install takes the stable one"
    )]
    TooOld(BrowserVersion),
    /// Another command installs one.
    #[error(
        "another command installs a browser in {} right now\nwait until it has ended",
        .0.display()
    )]
    UnderWay(PathBuf),
    /// A download ended before its end, again and again.
    #[error(
        "expected {total} of {url}, found the connection cut after {done}: {why}\n\
         type the same again: the download {}",
        if *goes_on { "goes on from there" } else { "begins anew, for the server does not let it go on" }
    )]
    CutOff {
        /// The address of what was loaded.
        url: String,
        /// How much came.
        done: Bytes,
        /// How much there is, as text.
        total: String,
        /// Whether what came is of use to the next command.
        goes_on: bool,
        /// What went wrong.
        why: String,
    },
    /// The disk has no room.
    #[error(
        "expected {needed} free for {what} in {}, found {free}\n\
         make room there, or name another cache in XDG_CACHE_HOME",
        folder.display()
    )]
    NoSpace {
        /// For what.
        what: &'static str,
        /// How much is needed.
        needed: Bytes,
        /// How much there is.
        free: Bytes,
        /// Where.
        folder: PathBuf,
    },
    /// The file is another one than it should be.
    #[error(
        "expected a file with the {what} {expected}, found {found}: it is damaged, or another one\n\
         nothing was installed; type the same again to load it anew"
    )]
    Damaged {
        /// What differs, such as `SHA-256`.
        what: &'static str,
        /// What was said.
        expected: String,
        /// What it is.
        found: String,
    },
    /// It is too large.
    #[error("expected {what} of at most {most}, found {found}: that is no browser")]
    TooLarge {
        /// What.
        what: &'static str,
        /// The bound.
        most: String,
        /// What it is.
        found: String,
    },
    /// The file is no ZIP, or a damaged one.
    #[error("expected a whole ZIP file, found: {0}\nnothing was installed; load it anew")]
    NotAZip(String),
    /// An entry of the ZIP would go where it must not.
    #[error(
        "expected files and folders in one folder, found {name:?}: {why}\n\
         nothing was installed; take the ZIP from where Chrome for Testing is published"
    )]
    Refused {
        /// The entry.
        name: String,
        /// What is wrong with it.
        why: &'static str,
    },
    /// There is no browser in the ZIP.
    #[error(
        "expected a ZIP with one folder and the program chrome in it, found {0}\n\
         the one for this machine is called chrome-linux64.zip"
    )]
    NoProgram(String),
    /// The program says another version.
    #[error(
        "expected version {expected}, found a program that says {found}\nnothing was installed"
    )]
    OtherVersion {
        /// What was wanted.
        expected: BrowserVersion,
        /// What it says of itself.
        found: String,
    },
    /// The program does not say its version.
    #[error("{0}\nnothing was installed: it does not run here")]
    NotRunnable(LaunchError),
    /// The program cannot start, and its version is not known.
    #[error("{0}\nnothing was installed: it could not say its version; name that with --version")]
    NotStarted(MissingLibraries),
    /// A file could not be read or written.
    #[error("could not {what} {}: {source}", path.display())]
    File {
        /// What was tried, such as `create`.
        what: &'static str,
        /// The file or folder.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
}

impl InstallError {
    /// A closure for `map_err` that names the file.
    pub(super) fn file(
        what: &'static str,
        path: impl Into<PathBuf>,
    ) -> impl FnOnce(io::Error) -> Self {
        let path = path.into();
        move |source| Self::File { what, path, source }
    }

    /// Nobody answered, down to the cause; the address is known.
    pub(super) fn unreachable(url: &Url, error: reqwest::Error) -> Self {
        Self::Unreachable { url: url.clone(), why: cause(error) }
    }
}

/// What went wrong, down to the cause, without the address.
pub(super) fn cause(error: reqwest::Error) -> String {
    let error = error.without_url();
    if error.is_timeout() {
        return "it took too long".to_owned();
    }
    let mut cause: &dyn std::error::Error = &error;
    while let Some(deeper) = cause.source() {
        cause = deeper;
    }
    cause.to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_for_people_and_never_too_small() {
        let texts =
            [0, 1023, 1024, 1025, 0x10_0000, 0x10_0001].map(|bytes| Bytes(bytes).to_string());
        assert_eq!(texts, ["0 bytes", "1023 bytes", "1 KiB", "2 KiB", "1 MiB", "2 MiB"]);
    }
}
