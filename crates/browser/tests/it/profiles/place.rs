//! A profile that a test damages, and that must be untouched by whoever fails on it.

use super::{losses, read_plain, times};
use baton_browser::profile::compile::{compile, merge};
use baton_session::cookie::{Priority, SourceScheme};
use baton_session::{Cookie, State, StorageKey};
use rusqlite::Connection;
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::SystemTime;
use tempfile::TempDir;

/// Everything below a folder: by path, what it is, when it was written, and what is in it.
pub(crate) type Tree = BTreeMap<PathBuf, (u64, SystemTime, Vec<u8>)>;

pub(crate) fn tree(folder: &Path) -> Tree {
    let (mut tree, mut folders) = (Tree::new(), vec![folder.to_owned()]);
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).unwrap() {
            let path = entry.unwrap().path();
            let found = path.symlink_metadata().unwrap();
            let content = if found.is_file() { fs::read(&path).unwrap() } else { Vec::new() };
            if found.is_dir() {
                folders.push(path.clone());
            }
            let hash = Sha256::digest(&content).to_vec();
            tree.insert(path, (found.len(), found.modified().unwrap(), hash));
        }
    }
    tree
}

/// A plain cookie.
pub(crate) fn cookie(name: &str, value: &str) -> Cookie {
    Cookie {
        name: name.to_owned(),
        value: value.to_owned(),
        domain: "app.test".to_owned(),
        path: "/".to_owned(),
        expires: None,
        http_only: false,
        secure: true,
        same_site: None,
        priority: Priority::Medium,
        source_scheme: SourceScheme::Secure,
        source_port: Some(443),
        partition_key: None,
    }
}

/// A cookie, and one entry of localStorage.
pub(crate) fn state(name: &str, value: &str) -> State {
    let mut state = State { cookies: vec![cookie(name, value)], ..State::default() };
    let origin = state.origins.entry(StorageKey::new("https://app.test/")).or_default();
    origin.local_storage = [(name, value)].into_iter().collect();
    state
}

/// A profile of its own, with the cookie and the entry `old`.
pub(crate) struct Place {
    folder: TempDir,
    pub(crate) profile: PathBuf,
}

impl Place {
    pub(crate) fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let profile = folder.path().join("profile");
        compile(&state("old", "1"), &profile, times()).unwrap();
        Self { folder, profile }
    }

    /// With localStorage in the `LevelDB` alone.
    pub(crate) fn with_leveldb() -> Self {
        let place = Self::new();
        fs::remove_file(place.at("LocalStorage")).unwrap();
        place
    }

    /// A path in the folder `Default`.
    pub(crate) fn at(&self, name: &str) -> PathBuf {
        self.profile.join("Default").join(name)
    }

    /// Changes the bytes of a file.
    pub(crate) fn change(&self, name: &str, change: impl FnOnce(&mut Vec<u8>)) {
        let mut bytes = fs::read(self.at(name)).unwrap();
        change(&mut bytes);
        fs::write(self.at(name), bytes).unwrap();
    }

    /// Runs statements on one of its databases.
    pub(crate) fn run(&self, name: &str, statements: &str) {
        Connection::open(self.at(name)).unwrap().execute_batch(statements).unwrap();
    }

    /// What reading it says that it left out.
    pub(crate) fn read(&self) -> String {
        let before = tree(self.folder.path());
        let read = read_plain(&self.profile);
        assert_eq!(tree(self.folder.path()), before, "the profile is as it was");
        self.told(&losses(&read.left_out).join("\n"))
    }

    /// Why nothing was merged into it.
    pub(crate) fn merge(&self) -> String {
        self.merge_state(&state("new", "2"))
    }

    pub(crate) fn merge_state(&self, state: &State) -> String {
        let before = tree(self.folder.path());
        let refused = merge(state, &self.profile, times()).unwrap_err();
        assert_eq!(tree(self.folder.path()), before, "all is as it was, and nothing is beside it");
        self.told(&refused.to_string())
    }

    /// Both, one a line.
    pub(crate) fn both(&self) -> String {
        format!("{}\n{}", self.read(), self.merge())
    }

    fn told(&self, text: &str) -> String {
        text.replace(self.folder.path().to_str().unwrap(), "here")
    }
}
