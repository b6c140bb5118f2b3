//! Whether a profile is free: Chromium's `SingletonLock`, a symbolic link to `<host>-<pid>`, and our
//! own claim.
//!
//! Chromium removes a dead lock of its own host by itself and refuses one of another host. It does not
//! protect *us*: a launch on a profile in use would hand its work to the living browser and exit. So a
//! lock counts only when its process lives and has this very profile: it was started with it, or has
//! files of it open, as a browser has that a person started without naming one.
//!
//! The claim is a lock of the kernel on a file in the profile. Chromium's own lock names a host and a
//! process. That says nothing of a container that was made anew under another name, and nothing of one beside
//! it, whose processes are not seen from here. This lock is held by the browser's own process, and the kernel
//! frees it when that ends: its holder knows that no browser of ours lives on the profile, in no container of
//! this machine, and on no other machine where the file system passes locks on (NFS does).

use super::options::LaunchError;
use crate::plain;
use std::cell::OnceCell;
use std::ffi::OsStr;
use std::fs::{File, TryLockError};
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::time::Duration;
use std::{fs, io};
use tokio::time::{Instant, sleep};

/// The argument that names a profile.
const PROFILE: &[u8] = b"--user-data-dir=";

/// Who holds a profile.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LockState {
    /// No lock.
    Free,
    /// A lock of this host whose process is gone or is something else.
    DeadSameHost,
    /// A lock of another host: a moved disk, or a container that had another name.
    OtherHost {
        /// The host named in the lock.
        host: String,
        /// The process named in the lock.
        pid: u32,
    },
    /// A living browser of this host.
    InUse {
        /// Its process.
        pid: u32,
    },
}

/// Reads the lock of `profile`.
pub fn check(profile: &Path) -> Result<LockState, LaunchError> {
    let lock = profile.join("SingletonLock");
    let target = match fs::read_link(&lock) {
        Ok(target) => target,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(LockState::Free),
        Err(error) => return Err(LaunchError::file("read", lock)(error)),
    };
    let target = target.to_string_lossy();
    let Some((host, pid)) = target.rsplit_once('-') else {
        return Ok(LockState::DeadSameHost);
    };
    let Ok(pid) = pid.parse::<u32>() else {
        return Ok(LockState::DeadSameHost);
    };
    if host.as_bytes() != rustix::system::uname().nodename().to_bytes() {
        return Ok(LockState::OtherHost { host: host.to_owned(), pid });
    }
    if is_used_by(profile, pid) {
        Ok(LockState::InUse { pid })
    } else {
        Ok(LockState::DeadSameHost)
    }
}

/// Who uses `profile` still: the browser that its lock names, or else any process that was started
/// with it. A browser on its way out gives up the lock before it has written everything, and its
/// helpers, which write as well, outlive it for a moment.
///
/// Looks at every process of the machine: not for threads that others wait for, nor again and again
/// (see [`wait_until_free`](super::wait_until_free)).
pub fn holder(profile: &Path) -> Result<Option<u32>, LaunchError> {
    Ok(users(profile)?.first().copied())
}

/// The browser that the lock names; where it names none, all processes that were started with `profile`.
pub(super) fn users(profile: &Path) -> Result<Vec<u32>, LaunchError> {
    if let LockState::InUse { pid } = check(profile)? {
        return Ok(vec![pid]);
    }
    let wanted = WantedProfile::new(profile);
    let processes = fs::read_dir("/proc").into_iter().flatten().flatten();
    let pids = processes.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    Ok(pids.filter(|pid| wanted.is_of(*pid)).collect())
}

/// Whether a process uses `profile`.
pub(super) fn is_used_by(profile: &Path, pid: u32) -> bool {
    WantedProfile::new(profile).is_of(pid) || has_open(pid, profile)
}

/// Claims a profile, and clears what a dead browser left behind. One in use is refused: by a browser of this
/// machine, which is named by its process, or by one of ours elsewhere.
pub(super) fn claim(profile: &Path, break_foreign: bool) -> Result<Claim, LaunchError> {
    let state = check(profile)?;
    if let LockState::InUse { pid } = state {
        return Err(LaunchError::InUse { profile: profile.to_owned(), pid });
    }
    let claim = Claim::acquire(profile)?;
    if let LockState::OtherHost { host, pid } = state {
        if !break_foreign {
            return Err(LaunchError::OtherHost { profile: profile.to_owned(), host, pid });
        }
        tracing::warn!(host, pid, "removing the lock of another host from a profile");
        for name in ["SingletonLock", "SingletonCookie", "SingletonSocket"] {
            remove(&profile.join(name))?;
        }
    }
    // Left behind, it would name the port of a browser that is gone.
    remove(&profile.join("DevToolsActivePort"))?;
    Ok(claim)
}

fn remove(path: &Path) -> Result<(), LaunchError> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => {
            Err(LaunchError::file("remove", path)(error))
        }
        _ => Ok(()),
    }
}

/// A profile that is looked for among processes.
struct WantedProfile<'a> {
    profile: &'a Path,
    /// Where it really is, once a process names a profile otherwise.
    real: OnceCell<Option<PathBuf>>,
}

impl<'a> WantedProfile<'a> {
    fn new(profile: &'a Path) -> Self {
        Self { profile, real: OnceCell::new() }
    }

    /// Whether process `pid` lives and was started with this profile, or helps a browser on it, as those
    /// do that write cookies and storage. Its command line is read once.
    fn is_of(&self, pid: u32) -> bool {
        let line = CommandLine::of(pid);
        // A thread of the kernel, or one that is gone.
        if line.0.is_empty() {
            return false;
        }
        let mut found = line
            .arguments()
            .filter_map(|argument| argument.strip_prefix(PROFILE))
            .map(|found| Path::new(OsStr::from_bytes(found)));
        if found.any(|found| found == self.profile || self.is_same(found)) {
            return true;
        }
        line.has(&[PROFILE, self.profile.as_os_str().as_bytes()].concat())
    }

    /// Whether a path leads to the same folder.
    fn is_same(&self, found: &Path) -> bool {
        let real = self.real.get_or_init(|| fs::canonicalize(self.profile).ok());
        real.is_some() && fs::canonicalize(found).ok() == *real
    }
}

/// Whether process `pid` has a file of this profile open.
fn has_open(pid: u32, profile: &Path) -> bool {
    let Ok(profile) = fs::canonicalize(profile) else { return false };
    let open = fs::read_dir(format!("/proc/{pid}/fd")).into_iter().flatten().flatten();
    let mut files = open.filter_map(|entry| fs::read_link(entry.path()).ok());
    files.any(|file| file.starts_with(&profile))
}

/// What a process says that it was started with; nothing when it is gone. Chromium writes its arguments
/// anew, joined by spaces: its helpers always do, and the browser does where calls of the kernel are
/// refused to it.
pub(super) struct CommandLine(Vec<u8>);

impl CommandLine {
    pub(super) fn of(pid: u32) -> Self {
        Self(fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default())
    }

    /// Whether it was started with this argument, word by word.
    pub(super) fn has(&self, argument: &[u8]) -> bool {
        let line: Vec<u8> = [b" ", &*self.0, b" "].concat();
        let line: Vec<u8> = line.iter().map(|byte| if *byte == 0 { b' ' } else { *byte }).collect();
        let wanted = [b" ", argument, b" "].concat();
        memchr::memmem::find(&line, &wanted).is_some()
    }

    /// Its arguments, as long as they are apart.
    fn arguments(&self) -> impl Iterator<Item = &[u8]> {
        self.0.split(|byte| *byte == 0)
    }
}

/// How often a claim is looked at that another process holds.
const STEP: Duration = Duration::from_millis(20);

/// A profile that is claimed, for as long as this or what the browser got of it is open.
#[derive(Debug)]
pub(super) struct Claim(File);

impl Claim {
    /// Claims a profile, whose folder is there.
    pub(super) fn acquire(profile: &Path) -> Result<Self, LaunchError> {
        let path = file(profile);
        // Its holder gives the browser what it opened here: that is never where a link of a browser leads.
        let file = plain::open_or_create(&path).map_err(LaunchError::file("open", &path))?;
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
    use std::os::unix::fs::symlink;

    fn locked(target: &str) -> tempfile::TempDir {
        let profile = tempfile::tempdir().unwrap();
        symlink(target, profile.path().join("SingletonLock")).unwrap();
        fs::write(profile.path().join("DevToolsActivePort"), "9222").unwrap();
        profile
    }

    fn this_host() -> String {
        rustix::system::uname().nodename().to_string_lossy().into_owned()
    }

    #[test]
    fn a_profile_without_a_lock_is_free() {
        let profile = tempfile::tempdir().unwrap();
        assert_eq!(check(profile.path()).unwrap(), LockState::Free);
        assert_eq!(check(&profile.path().join("missing")).unwrap(), LockState::Free);
    }

    #[test]
    fn a_living_process_that_is_no_browser_holds_nothing() {
        let profile = locked(&format!("{}-{}", this_host(), std::process::id()));
        assert_eq!(check(profile.path()).unwrap(), LockState::DeadSameHost);
        claim(profile.path(), false).unwrap();
        assert!(!profile.path().join("DevToolsActivePort").exists());
    }

    #[test]
    fn a_process_with_files_of_the_profile_open_holds_it() {
        let pid = std::process::id();
        let profile = locked(&format!("{}-{pid}", this_host()));
        let open = fs::File::create(profile.path().join("History")).unwrap();
        assert_eq!(check(profile.path()).unwrap(), LockState::InUse { pid });
        assert_eq!(holder(profile.path()).unwrap(), Some(pid));
        drop(open);
        assert_eq!(check(profile.path()).unwrap(), LockState::DeadSameHost);
    }

    #[test]
    fn a_lock_of_another_host_goes_only_when_asked() {
        let profile = locked("far-away-42");
        let refused = claim(profile.path(), false).unwrap_err();
        assert!(
            refused.to_string().ends_with("found it locked by process 42 on host \"far-away\""),
            "{refused}"
        );
        claim(profile.path(), true).unwrap();
        assert_eq!(check(profile.path()).unwrap(), LockState::Free);
    }

    #[test]
    fn a_lock_that_names_nobody_is_dead() {
        for target in ["nonsense", "host-abc", "-"] {
            assert_eq!(check(locked(target).path()).unwrap(), LockState::DeadSameHost);
        }
    }

    #[test]
    fn a_profile_is_claimed_once_until_whoever_holds_it_is_gone() {
        let profile = tempfile::tempdir().unwrap();
        expect_unclaimed(profile.path()).unwrap();
        let claim = Claim::acquire(profile.path()).unwrap();
        let shared = claim.share().unwrap();
        drop(claim);
        for refused in [
            Claim::acquire(profile.path()).unwrap_err(),
            expect_unclaimed(profile.path()).unwrap_err(),
        ] {
            assert!(matches!(refused, LaunchError::Claimed { .. }), "{refused}");
        }
        drop(shared);
        expect_unclaimed(profile.path()).unwrap();
        Claim::acquire(profile.path()).unwrap();
    }
}
