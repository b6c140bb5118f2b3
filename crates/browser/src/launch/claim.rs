//! The claim of a browser of ours on its profile: a lock of the kernel on a file in there.
//!
//! Chromium's own lock names a host and a process. That says nothing of a container that was made anew
//! under another name, and nothing of one beside it, whose processes nobody here sees. This lock is held by
//! the browser's own process, and the kernel frees it when that ends: whoever has it knows that no browser of
//! ours lives on the profile, in no container of this machine, and on no other machine where the file system
//! passes locks on (NFS does).

use super::error::LaunchError;
use std::fs::{File, OpenOptions, TryLockError};
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::time::Duration;
use tokio::time::{Instant, sleep};

/// How often a claim is looked at that somebody else holds.
const STEP: Duration = Duration::from_millis(20);

/// A profile that is claimed, for as long as this or what the browser got of it is open.
#[derive(Debug)]
pub(super) struct Claim(File);

impl Claim {
    /// Claims a profile, whose folder is there.
    pub(super) fn take(profile: &Path) -> Result<Self, LaunchError> {
        let path = file(profile);
        let mut options = OpenOptions::new();
        options.create(true).truncate(false).write(true).mode(0o600);
        let file = options.open(&path).map_err(LaunchError::file("open", &path))?;
        match file.try_lock() {
            Ok(()) => Ok(Self(file)),
            Err(TryLockError::WouldBlock) => {
                Err(LaunchError::Claimed { profile: profile.to_owned() })
            }
            Err(TryLockError::Error(error)) => Err(LaunchError::file("lock", path)(error)),
        }
    }

    /// What the browser holds of it.
    pub(super) fn share(&self) -> io::Result<OwnedFd> {
        Ok(self.0.try_clone()?.into())
    }
}

/// Waits until no browser of ours has the profile, wherever it runs, at most for `limit`; refuses it then.
/// A process that ends is out of sight a moment before its files are closed.
pub async fn wait_until_unclaimed(profile: &Path, limit: Duration) -> Result<(), LaunchError> {
    let deadline = Instant::now() + limit;
    loop {
        match expect_unclaimed(profile) {
            Err(LaunchError::Claimed { .. }) if Instant::now() < deadline => sleep(STEP).await,
            looked => return looked,
        }
    }
}

fn expect_unclaimed(profile: &Path) -> Result<(), LaunchError> {
    let path = file(profile);
    let found = match File::open(&path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        found => found.map_err(LaunchError::file("open", &path))?,
    };
    match found.try_lock_shared() {
        Ok(()) => Ok(()),
        Err(TryLockError::WouldBlock) => Err(LaunchError::Claimed { profile: profile.to_owned() }),
        Err(TryLockError::Error(error)) => Err(LaunchError::file("lock", path)(error)),
    }
}

fn file(profile: &Path) -> PathBuf {
    profile.join("baton.lock")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_profile_is_claimed_once_until_whoever_holds_it_is_gone() {
        let profile = tempfile::tempdir().unwrap();
        expect_unclaimed(profile.path()).unwrap();
        let claim = Claim::take(profile.path()).unwrap();
        let shared = claim.share().unwrap();
        drop(claim);
        for refused in [
            Claim::take(profile.path()).unwrap_err(),
            expect_unclaimed(profile.path()).unwrap_err(),
        ] {
            assert!(matches!(refused, LaunchError::Claimed { .. }), "{refused}");
        }
        drop(shared);
        expect_unclaimed(profile.path()).unwrap();
        Claim::take(profile.path()).unwrap();
    }
}
