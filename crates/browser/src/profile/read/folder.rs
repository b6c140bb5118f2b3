//! Which folder is a profile, and which of several is read.
//!
//! A user data dir may have several profiles, and the one that a person means is the one that the browser
//! would open: the last used. The answer says which one was taken and which ones were not, so that one is not
//! taken for all.

use super::ReadError;
use crate::plain;
use crate::profile::preferences::Preferences;
use crate::profile::{cookies, local_storage};
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

/// The folder of one profile: `Default`, `Profile 1`, in a user data dir that may have several.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProfileFolder(PathBuf);

/// The longest file with a version, in bytes.
const LONGEST_VERSION: u64 = 100;

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

    /// The major version of the browser that ran on it last, as that wrote it beside its profiles
    /// (`chrome/browser/downgrade/downgrade_utils.cc`); none when it did not.
    pub fn last_version(&self) -> Option<u32> {
        let text = plain::read(&self.0.parent()?.join("Last Version"), LONGEST_VERSION).ok()?;
        std::str::from_utf8(&text).ok()?.trim().split('.').next()?.parse().ok()
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

/// A profile, and what its browser shows as its name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NamedProfile {
    /// Its folder.
    pub folder: ProfileFolder,
    /// What people call it; none where the browser has noted none.
    pub name: Option<String>,
}

/// Why a profile was taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reason {
    /// It was named, or is the only one.
    Only,
    /// Of several it is the one that its browser used last.
    LastUsed,
    /// Of several it is the first one, for the browser does not say which was used last.
    First,
}

/// The profile that was taken.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProfileChoice {
    /// The one.
    pub taken: NamedProfile,
    /// Why it.
    pub reason: Reason,
    /// Those that are in the same user data dir, if that was named.
    pub others: Vec<NamedProfile>,
}

impl ProfileChoice {
    /// The profile at `path`: the folder itself; or of a user data dir the one that its browser used last,
    /// the folder `Default`, or the only one that it has. Blocks on the disk.
    pub fn of(path: &Path) -> Result<Self, ReadError> {
        let mut all = ProfileFolder::all(path);
        let Noted { mut names, last_used } = Noted::read(path);
        let mut named = |folder: ProfileFolder| {
            let name = names.remove(&folder.name());
            NamedProfile { folder, name }
        };
        let last = all.iter().position(|one| Some(one.name()) == last_used);
        let (taken, reason) = match last {
            Some(last) if all.len() > 1 => (all.remove(last), Reason::LastUsed),
            _ => {
                let found = ProfileFolder::find(path)?;
                all.retain(|one| *one != found);
                // The folder of a profile has no others in it, whatever their names.
                let is_one_of = found.path() != path && !all.is_empty();
                (found, if is_one_of { Reason::First } else { Reason::Only })
            }
        };
        if reason == Reason::Only {
            all.clear();
        }
        Ok(Self { taken: named(taken), reason, others: all.into_iter().map(named).collect() })
    }
}

/// What a user data dir notes of its profiles.
#[derive(Debug, Default)]
struct Noted {
    /// By folder, as the browser shows them.
    names: BTreeMap<String, String>,
    last_used: Option<String>,
}

impl Noted {
    /// Nothing where the browser has noted nothing, or what it noted cannot be read.
    fn read(user_data: &Path) -> Self {
        let noted = Preferences::load_of_all(user_data).ok().flatten().unwrap_or_default();
        let Some(profile) = noted.object(&["profile"]) else { return Self::default() };
        let known = profile.get("info_cache").and_then(|known| known.as_object());
        let names = known.into_iter().flatten().filter_map(|(folder, noted)| {
            let name = noted.get("name")?.as_str().filter(|name| !name.trim().is_empty())?;
            Some((folder.clone(), name.to_owned()))
        });
        let last_used = profile.get("last_used").and_then(|last| last.as_str()).map(str::to_owned);
        Self { names: names.collect(), last_used }
    }
}

/// The name of each profile of a user data dir, by its folder, as the browser shows it. None where
/// the browser has noted none, or what it noted cannot be read: a name is for people only.
pub fn names(user_data: &Path) -> BTreeMap<String, String> {
    Noted::read(user_data).names
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

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

    /// A user data dir with these profiles.
    fn user_data(folders: &[&str], noted: &str) -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        for name in folders {
            fs::create_dir(folder.path().join(name)).unwrap();
            fs::write(folder.path().join(name).join("Preferences"), "{}").unwrap();
        }
        fs::write(folder.path().join("Local State"), noted).unwrap();
        folder
    }

    fn path_text(path: &Path) -> String {
        let ProfileChoice { taken, reason, others } = match ProfileChoice::of(path) {
            Ok(choice) => choice,
            Err(error) => return error.to_string().split_once("found").unwrap().1.to_owned(),
        };
        let shown = |one: &NamedProfile| {
            format!("{} {}", one.folder.name(), one.name.as_deref().unwrap_or("-"))
        };
        let others: Vec<_> = others.iter().map(shown).collect();
        format!("{} ({reason:?}), not {others:?}", shown(&taken))
    }

    const NOTED: &str = r#"{"profile":{"last_used":"Profile 1","info_cache":{
        "Default":{"name":"Ada"},"Profile 1":{"name":"Work"},"Profile 3":{"name":" "}}}}"#;

    #[test]
    fn of_several_profiles_the_last_used_is_taken_and_the_others_are_named() {
        let three = user_data(&["Default", "Profile 1", "Profile 3"], NOTED);
        let told_of = |name: &str| path_text(&three.path().join(name));
        insta::assert_snapshot!(path_text(three.path()), @r#"Profile 1 Work (LastUsed), not ["Default Ada", "Profile 3 -"]"#);
        insta::assert_snapshot!(told_of("Default"), @"Default - (Only), not []");
        let damaged = user_data(&["Default", "Profile 1"], "{");
        insta::assert_snapshot!(path_text(damaged.path()), @r#"Default - (First), not ["Profile 1 -"]"#);
        let gone = user_data(&["Default", "Profile 3"], NOTED);
        insta::assert_snapshot!(path_text(gone.path()), @r#"Default Ada (First), not ["Profile 3 -"]"#);
        let one = user_data(&["Profile 1"], NOTED);
        insta::assert_snapshot!(path_text(one.path()), @"Profile 1 Work (Only), not []");
        let nameless = user_data(&["Profile 2", "Profile 3"], "{}");
        insta::assert_snapshot!(path_text(nameless.path()), @" Profile 2, Profile 3: name the folder of one of them");
    }

    #[test]
    fn a_profile_is_called_as_its_browser_shows_it() {
        let folder = user_data(
            &[],
            r#"{"profile":{"info_cache":{"Default":{"name":"Ada"},
            "Profile 1":{"name":" "},"Profile 2":{"name":7},"Profile 3":[]}}}"#,
        );
        let found = names(folder.path());
        assert_eq!(found.into_iter().collect::<Vec<_>>(), [("Default".into(), "Ada".into())]);
        fs::write(folder.path().join("Local State"), "{").unwrap();
        assert!(names(folder.path()).is_empty());
        fs::remove_file(folder.path().join("Local State")).unwrap();
        assert!(names(folder.path()).is_empty());
    }
}
