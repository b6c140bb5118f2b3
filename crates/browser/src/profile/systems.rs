//! Whether a profile has any files of sites (those of the origin private file system).
//!
//! The one idea: hardly any site uses them, and Chromium makes their folder when the first one does,
//! before a script gets hold of it. So for as long as there is no folder, nobody has to be asked.

use baton_session::StorageKey;
use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

/// Where in a profile there are files of sites, as far as can be told from outside.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Systems {
    first_parties: bool,
    partitions: bool,
}

impl Systems {
    /// Nothing can be told.
    pub(crate) const UNKNOWN: Self = Self { first_parties: true, partitions: true };

    /// Looks at a profile, if it is known, while a browser runs on it or not.
    pub(crate) async fn look(profile: Option<PathBuf>) -> Self {
        let Some(profile) = profile else { return Self::UNKNOWN };
        let looked = tokio::task::spawn_blocking(move || Self::of(&profile.join("Default"))).await;
        looked.unwrap_or(Self::UNKNOWN)
    }

    /// A first party's lie in one place, those of each partition in a folder with its number.
    fn of(default: &Path) -> Self {
        let partitions = match fs::read_dir(default.join("WebStorage")) {
            Ok(mut entries) => entries.any(|entry| {
                entry.map_or(true, |found| !is_missing(&found.path().join("FileSystem")))
            }),
            Err(error) => error.kind() != ErrorKind::NotFound,
        };
        Self { first_parties: !is_missing(&default.join("File System")), partitions }
    }

    /// Whether a storage key can have files.
    pub(crate) fn may_hold(self, key: &StorageKey) -> bool {
        if key.as_str().contains('^') { self.partitions } else { self.first_parties }
    }
}

/// Whether there is certainly nothing at a path.
fn is_missing(path: &Path) -> bool {
    let missing = |kind| matches!(kind, ErrorKind::NotFound | ErrorKind::NotADirectory);
    fs::symlink_metadata(path).is_err_and(|error| missing(error.kind()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_folder_tells_that_there_may_be_files() {
        let folder = tempfile::tempdir().unwrap();
        let look = || Systems::look(Some(folder.path().to_owned()));
        let none = Systems { first_parties: false, partitions: false };
        assert_eq!(look().await, none, "of a browser that has not started yet");
        let make = |path: &str| fs::create_dir_all(folder.path().join("Default").join(path));
        make("WebStorage/7/IndexedDB").unwrap();
        fs::write(folder.path().join("Default/WebStorage/QuotaManager"), "").unwrap();
        assert_eq!(look().await, none);
        make("WebStorage/12/FileSystem").unwrap();
        assert_eq!(look().await, Systems { partitions: true, ..none });
        make("File System").unwrap();
        assert_eq!(look().await, Systems::UNKNOWN);
        assert_eq!(Systems::look(None).await, Systems::UNKNOWN);
    }

    #[test]
    fn partitions_have_a_place_of_their_own() {
        let own = StorageKey::first_party("https://app.test");
        let partition = StorageKey::new("https://b.test/^0https://app.test");
        let systems = Systems { first_parties: true, partitions: false };
        assert!(systems.may_hold(&own) && !systems.may_hold(&partition));
    }
}
