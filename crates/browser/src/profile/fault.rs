//! Whose fault it is that a profile was not read.
//!
//! The one idea: bytes that are bad stay bad, and whoever wrote them has lost them. A disk that is full, a
//! file that may not be opened, or a fault of this program says nothing of the bytes: they can be read
//! later. So the two are never one error.

use std::io::{self, ErrorKind};

/// Whose fault it is that a profile was not read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Fault {
    /// That of what lies there: it is the same when it is read again.
    #[error("{0}")]
    Bytes(String),
    /// That of this machine or this program: it may be read later.
    #[error("{0}")]
    Ours(String),
}

impl Fault {
    /// One of this kind, told as what `error` says.
    pub(super) fn of(is_ours: bool, error: impl std::fmt::Display) -> Self {
        if is_ours { Self::Ours(error.to_string()) } else { Self::Bytes(error.to_string()) }
    }
}

/// Whether the system failed, and not what was asked of it: names, kinds, sizes and contents of files are
/// those of whoever wrote them.
pub(super) fn is_ours(error: &io::Error) -> bool {
    !matches!(
        error.kind(),
        ErrorKind::AlreadyExists
            | ErrorKind::FileTooLarge
            | ErrorKind::InvalidData
            | ErrorKind::InvalidFilename
            | ErrorKind::InvalidInput
            | ErrorKind::IsADirectory
            | ErrorKind::NotADirectory
            | ErrorKind::NotFound
            | ErrorKind::UnexpectedEof
    )
}

#[cfg(test)]
mod tests {
    use super::is_ours;
    use rustix::io::Errno;
    use std::io::{Error, ErrorKind};

    #[test]
    fn what_a_machine_has_no_more_of_is_not_the_fault_of_bytes() {
        let ours =
            [Errno::NOSPC, Errno::DQUOT, Errno::IO, Errno::MFILE, Errno::ACCESS, Errno::ROFS];
        for errno in ours {
            assert!(is_ours(&errno.into()), "{errno}");
        }
        for errno in [Errno::NAMETOOLONG, Errno::NOTDIR, Errno::EXIST, Errno::NOENT] {
            assert!(!is_ours(&errno.into()), "{errno}");
        }
        assert!(!is_ours(&Error::from(ErrorKind::UnexpectedEof)));
        assert!(!is_ours(&Error::new(ErrorKind::InvalidData, "no archive")));
    }
}
