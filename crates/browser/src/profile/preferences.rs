//! The file with the browser's settings in a profile (`Default/Preferences`).
//!
//! The one idea: the file is the browser's. All of it that we do not know stays as it is, one that
//! cannot be read is left alone, and it is only written while no browser runs on the profile: beside
//! its place, synced and renamed.

use super::ProfileError;
use crate::plain;
use baton_session::json;
use serde_json::{Map, Value};
use std::fs::File;
use std::io::ErrorKind;
use std::path::Path;
use std::time::SystemTime;
use std::{fs, io};

/// The file, in the profile.
const NAME: &str = "Default/Preferences";
/// The largest file that is read, in bytes; usual are some ten thousand.
const LARGEST: u64 = 16 << 20;

/// How the file looks: what looks as it did need not be read again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct FileMark {
    modified: SystemTime,
    size: u64,
}

impl FileMark {
    /// Of the file in `profile`; none when there is none yet. Chromium writes it some ten seconds
    /// after a change.
    pub(crate) fn at(profile: &Path) -> Option<Self> {
        let found = fs::metadata(profile.join(NAME)).ok()?;
        Some(Self { modified: found.modified().ok()?, size: found.len() })
    }
}

/// What the file holds.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Preferences(Map<String, Value>);

impl Preferences {
    /// Reads those of `profile`; none when the browser has written none yet.
    pub(super) fn load(profile: &Path) -> Result<Option<Self>, ProfileError> {
        let path = profile.join(NAME);
        // The browser may run, and have put a link there.
        let folder = path.parent().unwrap_or(profile);
        plain::is_folder_below(profile, folder).map_err(ProfileError::new("read", &path))?;
        Self::read(&path)
    }

    /// Reads those in the folder of one of several profiles.
    pub(super) fn load_in(folder: &Path) -> Result<Option<Self>, ProfileError> {
        Self::read(&folder.join("Preferences"))
    }

    /// Reads what a user data dir says of all its profiles.
    pub(super) fn load_of_all(user_data: &Path) -> Result<Option<Self>, ProfileError> {
        Self::read(&user_data.join("Local State"))
    }

    fn read(path: &Path) -> Result<Option<Self>, ProfileError> {
        let failed = |source| ProfileError::new("read", path)(source);
        let bytes = match plain::read(path, LARGEST) {
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
            bytes => bytes.map_err(failed)?,
        };
        let wrong = |why: &str| failed(io::Error::new(ErrorKind::InvalidData, why));
        let damaged = "expected the browser's settings in JSON; they are left as they are";
        serde_json::from_slice(&bytes).map(|all| Some(Self(all))).map_err(|_| wrong(damaged))
    }

    /// Writes them to `profile`; they are on disk when this returns.
    pub(super) fn save(&self, profile: &Path) -> Result<(), ProfileError> {
        self.write(profile, File::sync_all)?;
        let path = profile.join(NAME);
        let folder = path.parent().unwrap_or(profile);
        let synced = File::open(folder).and_then(|folder| folder.sync_all());
        synced.map_err(ProfileError::new("sync", folder))
    }

    /// Writes them to a `profile` that is ours alone and of this moment.
    pub(super) fn write_fresh(&self, profile: &Path) -> Result<(), ProfileError> {
        self.write(profile, |_| Ok(()))
    }

    fn write(
        &self,
        profile: &Path,
        sync: impl FnOnce(&File) -> io::Result<()>,
    ) -> Result<(), ProfileError> {
        let path = profile.join(NAME);
        let folder = path.parent().unwrap_or(profile);
        fs::create_dir_all(folder).map_err(ProfileError::new("create", folder))?;
        // A browser may have put a link there.
        let found = fs::symlink_metadata(folder).map_err(ProfileError::new("look at", folder))?;
        if !found.is_dir() {
            let found = io::Error::new(ErrorKind::NotADirectory, "expected a folder, found a link");
            return Err(ProfileError::new("write", &path)(found));
        }
        plain::replace(&path, &json::bytes(&self.0), sync)
            .map_err(ProfileError::new("write", &path))
    }

    /// The object at a path.
    pub(super) fn object(&self, path: &[&str]) -> Option<&Map<String, Value>> {
        path.iter().try_fold(&self.0, |here, next| here.get(*next)?.as_object())
    }

    /// The object at a path, made when it is not there. Something else in its place the browser would
    /// not read either.
    pub(super) fn object_mut(&mut self, path: &[&str]) -> Option<&mut Map<String, Value>> {
        path.iter().try_fold(&mut self.0, |here, next| {
            let inner = here.entry(*next).or_insert(Value::Null);
            if !inner.is_object() {
                *inner = Value::Object(Map::new());
            }
            inner.as_object_mut()
        })
    }
}

#[cfg(test)]
mod tests {
    use super::Preferences;
    use std::fs;
    use std::os::unix::fs::symlink;

    #[test]
    fn no_link_that_a_browser_made_is_followed() {
        let (profile, other) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let secret = other.path().join("secret");
        fs::write(&secret, r#"{"a":"secret"}"#).unwrap();
        let default = profile.path().join("Default");
        fs::create_dir(&default).unwrap();
        symlink(&secret, default.join("Preferences")).unwrap();
        symlink(&secret, default.join("Preferences.new")).unwrap();
        Preferences::load(profile.path()).unwrap_err();
        Preferences::default().save(profile.path()).unwrap();
        assert_eq!(fs::read_to_string(default.join("Preferences")).unwrap(), "{}");

        fs::rename(&default, profile.path().join("away")).unwrap();
        symlink(other.path(), &default).unwrap();
        fs::write(other.path().join("Preferences"), "{}").unwrap();
        Preferences::load(profile.path()).unwrap_err();
        Preferences::default().save(profile.path()).unwrap_err();
        assert_eq!(fs::read_dir(other.path()).unwrap().count(), 2);
        assert_eq!(fs::read_to_string(&secret).unwrap(), r#"{"a":"secret"}"#);
    }
}
