//! A folder beside a profile, in which the next one is made before it takes the profile's place.

use crate::profile::ProfileError;
use crate::profile::keep::create_folder;
use rustix::fs::{CWD, RenameFlags, renameat_with};
use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};

/// A folder that goes when nobody puts it in place.
#[derive(Debug)]
pub(super) struct Stage {
    path: PathBuf,
    is_ours: bool,
}

impl Stage {
    /// A new, empty one, which only its owner may read.
    pub(super) fn beside(profile: &Path) -> Result<Self, ProfileError> {
        let name = profile.file_name().unwrap_or_default().to_string_lossy();
        let parent = profile.parent().filter(|parent| *parent != Path::new(""));
        let parent = parent.unwrap_or(Path::new("."));
        let made = tempfile::Builder::new()
            .prefix(&format!(".{name}.baton-"))
            .permissions(fs::Permissions::from_mode(0o700))
            .tempdir_in(parent);
        let path = made.map_err(ProfileError::new("create a folder in", parent))?.keep();
        Ok(Self { path, is_ours: true })
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// It has another name now.
    pub(super) fn took_its_place(mut self) {
        self.is_ours = false;
    }

    /// Changes places with the profile, in one step; what was the profile goes with this one.
    pub(super) fn exchange(&self, profile: &Path) -> Result<(), ProfileError> {
        let failed = ProfileError::new("put in its place", profile);
        renameat_with(CWD, &self.path, CWD, profile, RenameFlags::EXCHANGE)
            .map_err(|error| failed(error.into()))?;
        let parent = profile.parent().filter(|parent| *parent != Path::new(""));
        let parent = parent.unwrap_or(Path::new("."));
        let synced = fs::File::open(parent).and_then(|folder| folder.sync_all());
        synced.map_err(ProfileError::new("sync", parent))
    }
}

impl Drop for Stage {
    fn drop(&mut self) {
        if self.is_ours
            && let Err(error) = fs::remove_dir_all(&self.path)
        {
            tracing::warn!(path = %self.path.display(), %error, "a folder beside a profile was left behind");
        }
    }
}

/// Links every file below `from` into `to`, but for those whose path below `from` is in `but` and what
/// a running browser has there. A file that is linked must not be written, only replaced.
pub(super) fn link(from: &Path, to: &Path, but: &[String]) -> Result<(), ProfileError> {
    link_below(from, to, Path::new(""), but)
}

fn link_below(from: &Path, to: &Path, below: &Path, but: &[String]) -> Result<(), ProfileError> {
    let (source, target) = (from.join(below), to.join(below));
    create_folder(&target)?;
    let failed = |source| ProfileError::new("read", from.join(below))(source);
    let rights = fs::metadata(&source).map_err(failed)?.permissions();
    for entry in fs::read_dir(&source).map_err(failed)? {
        let entry = entry.map_err(failed)?;
        let path = below.join(entry.file_name());
        let (one, other) = (from.join(&path), to.join(&path));
        let kind = entry.file_type().map_err(failed)?;
        if but.iter().any(|name| path == Path::new(name)) || is_lock(&entry.file_name()) {
            continue;
        }
        if kind.is_dir() {
            link_below(from, to, &path, but)?;
        } else if kind.is_symlink() {
            let copied = fs::read_link(&one).and_then(|target| symlink(target, &other));
            copied.map_err(ProfileError::new("copy", one))?;
        } else if kind.is_file() {
            // Where the disk knows no links, a copy does as well.
            let linked = fs::hard_link(&one, &other).or_else(|_| fs::copy(&one, &other).map(drop));
            linked.map_err(ProfileError::new("copy", one))?;
        }
    }
    let mode = fs::Permissions::from_mode(rights.mode());
    fs::set_permissions(&target, mode).map_err(ProfileError::new("set the rights of", target))
}

fn is_lock(name: &std::ffi::OsStr) -> bool {
    ["SingletonLock", "SingletonCookie", "SingletonSocket"].iter().any(|lock| name == *lock)
}

/// Every file and folder of a profile, the profile itself too, for syncing.
pub(super) fn paths(folder: &Path) -> Result<Vec<PathBuf>, ProfileError> {
    let mut paths = vec![folder.to_owned()];
    let mut at = 0;
    while let Some(path) = paths.get(at).cloned() {
        at += 1;
        let failed = |source| ProfileError::new("read", &path)(source);
        if !path.symlink_metadata().map_err(failed)?.is_dir() {
            continue;
        }
        for entry in fs::read_dir(&path).map_err(failed)? {
            let entry = entry.map_err(failed)?;
            let kind = entry.file_type().map_err(failed)?;
            if kind.is_dir() || kind.is_file() {
                paths.push(entry.path());
            }
        }
    }
    Ok(paths)
}
