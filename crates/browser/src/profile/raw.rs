//! The browser's own folders of what sites store: those of IndexedDB, byte by byte, and whether there
//! are any files.
//!
//! The one idea: what no script can read, a key that its site marked as not extractable, is in these folders
//! in the clear. Chromium adopts them in any profile, so they can be carried to another machine; a caller
//! that asks for that carries the key too. Only first parties have folders of their own; those of partitions
//! are named by numbers of the profile.
//!
//! Hardly any site uses files (those of the origin private file system), and Chromium makes their folder when
//! the first one does, before a script gets hold of it. So for as long as there is no folder, no page has to
//! be asked.

use super::ProfileError;
use super::at_rest::folder_name;
use crate::plain;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use baton_egress::blocking;
use baton_session::StorageKey;
use baton_session::stored::{FileContent, FileEntry};
use std::io::ErrorKind;
use std::path::{Component, Path, PathBuf};
use std::{fs, io};

/// The most that is read of one storage key, in bytes.
const LARGEST: u64 = 64 << 20;

/// What an origin's folders are called behind its name.
const ENDS: [&str; 2] = ["leveldb", "blob"];

/// Reads the folders of a key, on which no browser works; nothing when it has none. What is larger
/// than 64 MB together is an error.
pub fn read(profile: &Path, key: &StorageKey) -> Result<Vec<FileEntry>, ProfileError> {
    let mut files = Vec::new();
    let mut left = LARGEST;
    for (name, folder) in folders(profile, key) {
        let is_there = plain::is_folder_below(profile, &folder);
        if is_there.map_err(ProfileError::new("read", &folder))? {
            read_folder(&folder, &[name], &mut left, &mut files)?;
        }
    }
    Ok(files)
}

fn read_folder(
    folder: &Path,
    path: &[String],
    left: &mut u64,
    files: &mut Vec<FileEntry>,
) -> Result<(), ProfileError> {
    let failed = ProfileError::new("read", folder);
    for entry in fs::read_dir(folder).map_err(failed)? {
        let entry = entry.map_err(ProfileError::new("read", folder))?;
        let Ok(name) = entry.file_name().into_string() else { continue };
        if matches!(&*name, "LOCK" | "LOG" | "LOG.old") {
            continue;
        }
        let (from, path) = (entry.path(), [path, &[name]].concat());
        // Not where a link leads: a browser makes none.
        if entry.file_type().map_err(ProfileError::new("read", &from))?.is_dir() {
            read_folder(&from, &path, left, files)?;
            continue;
        }
        let bytes = plain::read(&from, *left).map_err(ProfileError::new("read", &from))?;
        *left = left.saturating_sub(bytes.len() as u64);
        let content = FileContent::File { bytes: STANDARD.encode(bytes) };
        files.push(FileEntry { path, content });
    }
    Ok(())
}

/// Writes the folders of a key into a profile that has none of them, and on which no browser runs;
/// says whether it did. What does not belong into them is an error, and then nothing is written.
pub fn write(profile: &Path, key: &StorageKey, raw: &[FileEntry]) -> Result<bool, ProfileError> {
    let folders: Vec<_> = folders(profile, key).collect();
    if folders.iter().any(|(_, folder)| folder.symlink_metadata().is_ok()) {
        return Ok(false);
    }
    let mut files = Vec::with_capacity(raw.len());
    for FileEntry { path, content } in raw {
        let place = path.join("/");
        let wrong = |why: &str| {
            let source = io::Error::new(ErrorKind::InvalidData, why.to_owned());
            ProfileError::new("write", &place)(source)
        };
        let known = path.first().is_some_and(|first| folders.iter().any(|(name, _)| name == first));
        if !known || path.len() < 2 || !path.iter().all(|name| is_plain(name)) {
            return Err(wrong("expected a file in the folder of its own origin"));
        }
        let FileContent::File { bytes } = content else { continue };
        let bytes = STANDARD.decode(bytes).map_err(|_| wrong("expected base64"))?;
        files.push((profile.join("Default/IndexedDB").join(place), bytes));
    }
    let base = profile.join("Default/IndexedDB");
    plain::is_folder_below(profile, &base).map_err(ProfileError::new("write", &base))?;
    for (path, bytes) in files {
        let folder = path.parent().unwrap_or(profile);
        fs::create_dir_all(folder).map_err(ProfileError::new("create", folder))?;
        fs::write(&path, bytes).map_err(ProfileError::new("write", &path))?;
    }
    Ok(true)
}

/// The folders of a key, with their names.
fn folders(profile: &Path, key: &StorageKey) -> impl Iterator<Item = (String, PathBuf)> {
    let first_party = !key.as_str().contains('^');
    let owner = folder_name(key.origin()).filter(|_| first_party);
    let base = profile.join("Default/IndexedDB");
    owner.into_iter().flat_map(move |owner| {
        let base = base.clone();
        ENDS.into_iter().map(move |end| {
            let name = format!("{owner}.indexeddb.{end}");
            (name.clone(), base.join(name))
        })
    })
}

fn is_plain(name: &str) -> bool {
    let mut parts = Path::new(name).components();
    matches!((parts.next(), parts.next()), (Some(Component::Normal(only)), None) if only == name)
}

/// Where in a profile there are files of sites, as far as its folders show from outside.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Systems {
    first_parties: bool,
    partitions: bool,
}

impl Systems {
    /// Nothing is known of the profile.
    pub(crate) const UNKNOWN: Self = Self { first_parties: true, partitions: true };

    /// Looks at a profile, if it is known, while a browser runs on it or not.
    pub(crate) async fn of_profile(profile: Option<PathBuf>) -> Self {
        let Some(profile) = profile else { return Self::UNKNOWN };
        blocking(move || Self::of(&profile.join("Default"))).await
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

    fn key() -> StorageKey {
        StorageKey::first_party("https://app.test:8443")
    }

    #[test]
    fn folders_travel_from_one_profile_to_another() {
        let [from, to] = [(); 2].map(|()| tempfile::tempdir().unwrap());
        let base = from.path().join("Default/IndexedDB/https_app.test_8443.indexeddb.leveldb");
        fs::create_dir_all(base.with_extension("blob").join("1/00")).unwrap();
        fs::create_dir_all(&base).unwrap();
        fs::write(base.join("CURRENT"), "MANIFEST-000001").unwrap();
        fs::write(base.join("LOCK"), "").unwrap();
        fs::write(base.with_extension("blob").join("1/00/3"), [0, 255]).unwrap();
        let raw = read(from.path(), &key()).unwrap();
        assert_eq!(raw.len(), 2, "{raw:?}");
        assert!(write(to.path(), &key(), &raw).unwrap());
        let mut again = read(to.path(), &key()).unwrap();
        again.sort_by(|a, b| a.path.cmp(&b.path));
        let mut raw = raw;
        raw.sort_by(|a, b| a.path.cmp(&b.path));
        assert_eq!(again, raw);
        assert!(!write(to.path(), &key(), &raw).unwrap(), "what is there stays");
    }

    #[test]
    fn nothing_is_written_outside_of_the_folder_of_the_origin() {
        let to = tempfile::tempdir().unwrap();
        let own = "https_app.test_8443.indexeddb.leveldb";
        for path in [
            vec!["https_other.test_0.indexeddb.leveldb", "CURRENT"],
            vec![own],
            vec![own, "..", "..", "Cookies"],
            vec![own, "a/b"],
            vec![own, ""],
        ] {
            let path = path.into_iter().map(str::to_owned).collect();
            let content = FileContent::File { bytes: String::new() };
            write(to.path(), &key(), &[FileEntry { path, content }]).unwrap_err();
        }
        assert_eq!(fs::read_dir(to.path()).unwrap().count(), 0);
    }

    #[tokio::test]
    async fn a_folder_tells_that_there_may_be_files() {
        let folder = tempfile::tempdir().unwrap();
        let look = || Systems::of_profile(Some(folder.path().to_owned()));
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
        assert_eq!(Systems::of_profile(None).await, Systems::UNKNOWN);
    }

    #[test]
    fn partitions_have_a_place_of_their_own() {
        let own = StorageKey::first_party("https://app.test");
        let partition = StorageKey::new("https://b.test/^0https://app.test");
        let systems = Systems { first_parties: true, partitions: false };
        assert!(systems.may_hold(&own) && !systems.may_hold(&partition));
    }
}
