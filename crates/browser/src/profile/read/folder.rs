//! Which folder is a profile.

use super::ReadError;
use crate::profile::{cookies, local_storage};
use std::fs;
use std::path::{Path, PathBuf};

/// The folder of one profile: `Default`, `Profile 1`, in a user data dir that may have several.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProfileFolder(PathBuf);

/// What only the folder of a profile has.
const SIGNS: [&str; 3] = [local_storage::LEVELDB, local_storage::SQLITE, "Preferences"];

impl ProfileFolder {
    /// The profile at `path`: the folder itself, or its folder `Default`, or the only profile that it
    /// has.
    pub fn find(path: &Path) -> Result<Self, ReadError> {
        if path.join("Default").is_dir() {
            return Ok(Self(path.join("Default")));
        }
        if is_profile(path) {
            return Ok(Self(path.to_owned()));
        }
        let mut all = Self::all(path);
        match all.len() {
            0 => Err(ReadError::NoProfile(path.to_owned())),
            1 => Ok(all.swap_remove(0)),
            _ => {
                let names = all.iter().map(Self::name).collect();
                Err(ReadError::Several { path: path.to_owned(), names })
            }
        }
    }

    /// The profiles of a user data dir, sorted by name.
    pub fn all(user_data: &Path) -> Vec<Self> {
        let entries = fs::read_dir(user_data).into_iter().flatten().flatten();
        let mut all: Vec<_> = entries
            .filter(|entry| {
                let name = entry.file_name();
                let name = name.to_string_lossy();
                (name == "Default" || name.starts_with("Profile ")) && is_profile(&entry.path())
            })
            .map(|entry| Self(entry.path()))
            .collect();
        all.sort_by(|a, b| a.0.cmp(&b.0));
        all
    }

    /// The name of the folder.
    pub fn name(&self) -> String {
        self.0.file_name().unwrap_or_default().to_string_lossy().into_owned()
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.0
    }
}

fn is_profile(path: &Path) -> bool {
    SIGNS.iter().chain(&cookies::PLACES).any(|sign| path.join(sign).exists())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_profile_is_found_in_its_user_data_dir() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        ProfileFolder::find(folder.path()).unwrap_err();
        fs::create_dir_all(at("Profile 2/Local Storage/leveldb")).unwrap();
        fs::create_dir_all(at("Crashpad")).unwrap();
        assert_eq!(ProfileFolder::find(folder.path()).unwrap().name(), "Profile 2");
        assert_eq!(ProfileFolder::find(&at("Profile 2")).unwrap().path(), at("Profile 2"));
        fs::create_dir_all(at("Profile 3")).unwrap();
        fs::write(at("Profile 3/Cookies"), "").unwrap();
        let several = ProfileFolder::find(folder.path()).unwrap_err().to_string();
        assert!(several.ends_with("found Profile 2, Profile 3: name the folder of one of them"));
        fs::create_dir(at("Default")).unwrap();
        assert_eq!(ProfileFolder::find(folder.path()).unwrap().name(), "Default");
    }
}
