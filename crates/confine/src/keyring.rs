//! Leaves the session keyring behind that was inherited, for an empty one.
//!
//! The kernel keeps keys for users and sessions (`keyrings(7)`), and no namespace covers them: whatever
//! a node's user had put into the session before the node was started, a program below the node could
//! find and read, and what one such program puts there, another one can. Membership is inherited, so a
//! new session keyring, of nobody else, cuts off all children as well.

use keyutils::Keyring;
use std::io::{Error, ErrorKind};

/// What became of the session keyring.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Joined {
    /// The thread, and whatever it starts from now on, has a session keyring of its own.
    Own,
    /// This kernel keeps no keys.
    NoKeys,
    /// A parent of ours refuses the calls, as containers do, and so refuses them to our children too.
    Refused,
}

/// Why a session keyring could not be left.
#[derive(Debug, thiserror::Error)]
pub enum KeyringError {
    /// The user has as many keys as the kernel allows.
    #[error(
        "expected room for one more keyring, found the user's share used up; raise kernel.keys.maxkeys"
    )]
    Full,
    /// Something else.
    #[error("expected a session keyring of its own: {0}")]
    Kernel(#[source] Error),
}

/// Puts the calling thread, and with it what it starts from now on, into a new session keyring without a
/// name, so that no other process can join it.
pub fn join() -> Result<Joined, KeyringError> {
    let error = match Keyring::join_anonymous_session() {
        Ok(_) => return Ok(Joined::Own),
        Err(number) => Error::from_raw_os_error(number.0),
    };
    match (error.raw_os_error(), error.kind()) {
        (Some(libc::ENOSYS), _) => Ok(Joined::NoKeys),
        (Some(libc::EDQUOT), _) => Err(KeyringError::Full),
        (_, ErrorKind::PermissionDenied) => Ok(Joined::Refused),
        _ => Err(KeyringError::Kernel(error)),
    }
}
