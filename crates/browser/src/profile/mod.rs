//! A session's profile folder: what it holds at rest, and the copy that is kept beside it while a
//! browser is tried on it.
//!
//! The one idea: a browser is never started on the only copy of a profile. A start can cost state: a
//! database that does not open is deleted, a cookie store without its key is emptied.
//!
//! Bytes that are bad stay bad, and their writer has lost them. A disk that is full, a file that may not be
//! opened, or a fault of this program says nothing of the bytes: they can be read later. So the two are never
//! one error.
//!
//! The copy is of the state-bearing files, with a note of whose state they hold; it is put back when a resume
//! fails. It counts only under its final name: it is written beside, synced and renamed, so a
//! half-written copy is never mistaken for a whole one; and while a whole one is there, an earlier resume did
//! not end well, so the copy is the truth and goes back first.
//!
//! A profile and a snapshot can only be compared when one came from the other. The note names the term
//! in which the profile's browser runs and the snapshot that it was made equal to; a snapshot of
//! another term, say one that another machine took, has nothing to do with this profile.

pub mod at_rest;
pub mod certificates;
pub mod compile;
mod cookies;
pub mod crypt;
pub(crate) mod databases;
mod formats;
#[cfg(feature = "fuzzing")]
pub(crate) mod fuzzing;
pub mod keyring;
pub mod languages;
mod leveldb;
pub(crate) mod local_storage;
pub(crate) mod memory;
pub mod packed;
pub mod permissions;
pub(crate) mod preferences;
pub mod raw;
pub mod read;
mod sqlite;

pub use at_rest::AtRest;
pub use compile::compile;
pub use cookies::CookieStoreError;
pub use local_storage::drop_older;

use crate::plain;
use baton_session::{SnapshotId, Term, json};
use serde::{Deserialize, Serialize};
use std::ffi::OsString;
use std::fs::File;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::{fs, io, thread};

/// Whether no browser has written any state to a profile yet, and nothing else has.
pub fn is_blank(profile: &Path) -> bool {
    let state = ["Local Storage", "LocalStorage", "IndexedDB", "WebStorage"];
    let mut state = state.iter().chain(&cookies::PLACES);
    !state.any(|name| profile.join("Default").join(name).exists())
}

/// What went wrong with a profile's files.
#[derive(Debug, thiserror::Error)]
#[error("could not {action} {path}: {source}")]
pub struct ProfileError {
    action: &'static str,
    path: PathBuf,
    /// What the system said, by which a caller knows a full disk from a missing right.
    pub source: io::Error,
}

impl ProfileError {
    fn new(action: &'static str, path: impl Into<PathBuf>) -> impl FnOnce(io::Error) -> Self {
        let path = path.into();
        move |source| Self { action, path, source }
    }
}

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
    /// One of this kind, with what `error` says.
    fn of(is_ours: bool, error: impl std::fmt::Display) -> Self {
        if is_ours { Self::Ours(error.to_string()) } else { Self::Bytes(error.to_string()) }
    }
}

/// Whether the system failed, and not what was asked of it: names, kinds, sizes and contents of files are
/// those of their writer.
fn is_ours(error: &io::Error) -> bool {
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

/// Files and folders below the profile that hold state; all else is cache and can be made again.
const STATE: [&str; 22] = [
    NOTE,
    "Local State",
    "Default/Cookies",
    "Default/Cookies-journal",
    "Default/Network",
    "Default/Preferences",
    "Default/Secure Preferences",
    "Default/ServerCertificate",
    "Default/ServerCertificate-journal",
    "Default/Local Storage",
    "Default/LocalStorage",
    "Default/LocalStorage-journal",
    "Default/LocalStorage-wal",
    "Default/Session Storage",
    "Default/SessionStorage",
    "Default/SessionStorage-journal",
    "Default/SessionStorage-wal",
    "Default/IndexedDB",
    "Default/Service Worker",
    "Default/File System",
    "Default/WebStorage",
    "Default/shared_proto_db",
];

/// Files that a `LevelDB` makes anew: its lock, and what it logs of itself.
const NO_STATE: [&str; 3] = ["LOCK", "LOG", "LOG.old"];

/// How many files are synced at once.
const SYNCS_AT_ONCE: usize = 8;

/// The copy beside a profile while a browser is tried on it.
#[derive(Debug)]
#[must_use = "discard it once the browser is verified, or put it back"]
pub struct KeptProfile {
    profile: PathBuf,
    copy: PathBuf,
}

/// Keeps a copy of the profile's state-bearing files. If a copy from an earlier try is there still, that try
/// did not end well: its files are put back first. No browser may be running on it. Blocks on the disk; a
/// profile that does not exist yet is an empty one.
pub fn keep(profile: &Path) -> Result<KeptProfile, ProfileError> {
    remove_links(profile)?;
    let kept = KeptProfile { profile: profile.to_owned(), copy: beside(profile, ".kept") };
    if kept.copy.exists() {
        tracing::warn!(profile = %profile.display(), "an earlier resume did not end: its copy is put back");
        return kept.put_back().map(|()| kept);
    }
    let unfinished = beside(profile, ".keeping");
    remove(&unfinished)?;
    copy_state(profile, &unfinished)?;
    rename(&unfinished, &kept.copy)?;
    Ok(kept)
}

impl KeptProfile {
    /// Puts the copy back in place of what the browser made of it. The copy stays until it is
    /// discarded, so a crash in the middle costs nothing.
    pub fn put_back(&self) -> Result<(), ProfileError> {
        remove_links(&self.profile)?;
        for name in STATE {
            remove(&self.profile.join(name))?;
        }
        copy_state(&self.copy, &self.profile)
    }

    /// Removes the copy: the browser is verified.
    pub fn discard(self) -> Result<(), ProfileError> {
        let doomed = beside(&self.profile, ".discarded");
        remove(&doomed)?;
        rename(&self.copy, &doomed)?;
        remove(&doomed)
    }
}

/// What is read and written of a profile from here on is in it, wherever a browser would have it lead.
fn remove_links(profile: &Path) -> Result<(), ProfileError> {
    plain::remove_links(profile).map_err(ProfileError::new("look through", profile))
}

fn beside(profile: &Path, suffix: &str) -> PathBuf {
    let mut name = OsString::from(profile);
    name.push(suffix);
    PathBuf::from(name)
}

fn copy_state(from: &Path, to: &Path) -> Result<(), ProfileError> {
    create_folder(to)?;
    let mut copied = vec![to.to_owned()];
    for name in STATE {
        let (source, target) = (from.join(name), to.join(name));
        if let Some(parent) = target.parent() {
            create_folder(parent)?;
        }
        copy(&source, &target, &mut copied)?;
    }
    sync_all(&copied)
}

/// Copies a file or folder, by reflink where the disk can, and notes what is to be synced. What does
/// not exist is not copied.
fn copy(from: &Path, to: &Path, copied: &mut Vec<PathBuf>) -> Result<(), ProfileError> {
    let Ok(kind) = fs::symlink_metadata(from) else {
        return Ok(());
    };
    if kind.is_dir() {
        create_folder(to)?;
        let entries = fs::read_dir(from).map_err(ProfileError::new("read", from))?;
        for entry in entries {
            let name = entry.map_err(ProfileError::new("read", from))?.file_name();
            if !NO_STATE.iter().any(|no_state| name == *no_state) {
                copy(&from.join(&name), &to.join(&name), copied)?;
            }
        }
    } else if kind.is_file() {
        reflink_copy::reflink_or_copy(from, to).map_err(ProfileError::new("copy", from))?;
        keep_instant(from, to).map_err(ProfileError::new("copy", from))?;
    } else {
        // Sockets and links (`SingletonLock`) belong to a running browser, not to its state.
        return Ok(());
    }
    copied.push(to.to_owned());
    Ok(())
}

/// When they were written decides which of two databases counts: a copy is as old as its file.
fn keep_instant(from: &Path, to: &Path) -> io::Result<()> {
    File::open(to)?.set_modified(fs::metadata(from)?.modified()?)
}

/// Syncs files and folders, several at once: each waits for the disk, which can write for many with
/// one commit.
fn sync_all(paths: &[PathBuf]) -> Result<(), ProfileError> {
    let each = paths.len().div_ceil(SYNCS_AT_ONCE).max(1);
    thread::scope(|scope| {
        let sync_some = |some: &[PathBuf]| some.iter().try_for_each(|path| sync(path));
        let threads: Vec<_> =
            paths.chunks(each).map(|some| scope.spawn(move || sync_some(some))).collect();
        let stopped = || ProfileError::new("sync", &paths[0])(ErrorKind::Interrupted.into());
        threads.into_iter().try_for_each(|one| one.join().unwrap_or_else(|_| Err(stopped())))
    })
}

fn create_folder(path: &Path) -> Result<(), ProfileError> {
    fs::create_dir_all(path).map_err(ProfileError::new("create", path))
}

fn sync(path: &Path) -> Result<(), ProfileError> {
    File::open(path).and_then(|file| file.sync_all()).map_err(ProfileError::new("sync", path))
}

fn rename(from: &Path, to: &Path) -> Result<(), ProfileError> {
    fs::rename(from, to).map_err(ProfileError::new("rename", from))?;
    to.parent().map_or(Ok(()), sync)
}

fn remove(path: &Path) -> Result<(), ProfileError> {
    let removed = match fs::symlink_metadata(path) {
        Ok(kind) if kind.is_dir() => fs::remove_dir_all(path),
        Ok(_) => fs::remove_file(path),
        Err(error) => Err(error),
    };
    match removed {
        Err(error) if error.kind() != ErrorKind::NotFound => {
            Err(ProfileError::new("remove", path)(error))
        }
        _ => Ok(()),
    }
}

/// The note's name in the profile.
const NOTE: &str = "baton.json";
/// The longest note, in bytes; a browser may write into its profile what it likes.
const LARGEST: u64 = 64 << 10;

/// Changes with every start of the machine (`random(4)`).
const BOOT_ID: &str = "/proc/sys/kernel/random/boot_id";

/// Whose state a profile holds.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Note {
    /// The term in which its browser runs.
    pub term: Term,
    /// The snapshot that it was made equal to; none for a session that was just opened.
    #[serde(default)]
    pub from: Option<SnapshotId>,
    /// During which run of the machine; empty where that is not known.
    boot: String,
}

impl Note {
    /// A note of now.
    pub fn new(term: Term, from: Option<SnapshotId>) -> Self {
        Self { term, from, boot: boot() }
    }

    /// The note in a profile; none when there is none that can be read.
    pub fn read(profile: &Path) -> Option<Self> {
        serde_json::from_slice(&plain::read(&profile.join(NOTE), LARGEST).ok()?).ok()
    }

    /// Puts the note into a profile. It is not synced: one that a power cut took is no note, and then
    /// the snapshot counts.
    pub fn write(&self, profile: &Path) -> Result<(), ProfileError> {
        // The browser runs, and may have put a link there.
        let path = profile.join(NOTE);
        plain::replace(&path, &json::bytes(self), |_| Ok(()))
            .map_err(ProfileError::new("write", &path))
    }

    /// Whether the machine has run ever since.
    pub fn is_of_this_boot(&self) -> bool {
        !self.boot.is_empty() && self.boot == boot()
    }
}

fn boot() -> String {
    fs::read_to_string(BOOT_ID).map(|id| id.trim().to_owned()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
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

    fn profile() -> (tempfile::TempDir, PathBuf) {
        let folder = tempfile::tempdir().unwrap();
        let profile = folder.path().join("profile");
        fs::create_dir_all(profile.join("Default/IndexedDB/a")).unwrap();
        fs::write(profile.join("Default/Cookies"), "good").unwrap();
        fs::write(profile.join("Default/IndexedDB/a/log"), "records").unwrap();
        fs::create_dir_all(profile.join("Default/Cache")).unwrap();
        (folder, profile)
    }

    fn read(profile: &Path, name: &str) -> String {
        fs::read_to_string(profile.join(name)).unwrap_or_default()
    }

    #[test]
    fn a_failed_try_is_undone() {
        let (_folder, profile) = profile();
        let kept = keep(&profile).unwrap();
        fs::write(profile.join("Default/Cookies"), "razed").unwrap();
        fs::remove_dir_all(profile.join("Default/IndexedDB")).unwrap();
        kept.put_back().unwrap();
        assert_eq!(read(&profile, "Default/Cookies"), "good");
        assert_eq!(read(&profile, "Default/IndexedDB/a/log"), "records");
    }

    #[test]
    fn a_file_that_goes_back_is_as_old_as_it_was() {
        let (_folder, profile) = profile();
        let written = || fs::metadata(profile.join("Default/Cookies")).unwrap().modified().unwrap();
        let long_ago = written() - std::time::Duration::from_hours(1);
        File::open(profile.join("Default/Cookies")).unwrap().set_modified(long_ago).unwrap();
        let kept = keep(&profile).unwrap();
        fs::write(profile.join("Default/Cookies"), "razed").unwrap();
        kept.put_back().unwrap();
        assert_eq!(written(), long_ago);
    }

    #[test]
    fn a_copy_that_was_never_discarded_goes_back_first() {
        let (_folder, profile) = profile();
        let _killed_here = keep(&profile).unwrap();
        fs::write(profile.join("Default/Cookies"), "razed").unwrap();
        keep(&profile).unwrap().discard().unwrap();
        assert_eq!(read(&profile, "Default/Cookies"), "good");
    }

    #[test]
    fn a_half_written_copy_is_never_put_back() {
        let (_folder, profile) = profile();
        fs::create_dir_all(beside(&profile, ".keeping").join("Default")).unwrap();
        fs::write(beside(&profile, ".keeping").join("Default/Cookies"), "ha").unwrap();
        let kept = keep(&profile).unwrap();
        assert_eq!(read(&profile, "Default/Cookies"), "good");
        kept.discard().unwrap();
        assert_eq!(fs::read_dir(profile.parent().unwrap()).unwrap().count(), 1);
    }

    #[test]
    fn a_profile_that_does_not_exist_yet_is_an_empty_one() {
        let folder = tempfile::tempdir().unwrap();
        keep(&folder.path().join("new")).unwrap().discard().unwrap();
    }

    #[test]
    fn a_note_is_read_back_and_a_damaged_one_is_none() {
        let folder = tempfile::tempdir().unwrap();
        assert_eq!(Note::read(folder.path()), None);
        let note = Note::new(Term::from_i64(3), None);
        note.write(folder.path()).unwrap();
        let found = Note::read(folder.path()).unwrap();
        assert_eq!(found, note);
        assert!(found.is_of_this_boot());
        fs::write(folder.path().join(NOTE), "{").unwrap();
        assert_eq!(Note::read(folder.path()), None);
    }
}
