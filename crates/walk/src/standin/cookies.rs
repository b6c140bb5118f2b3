//! The cookies of a stand-in browser, and its disk.

use baton_session::json;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

/// Where the disk is in a profile: among what is kept of one while a browser is tried on it.
const DISK: &str = "Default/shared_proto_db/stand-in.json";
/// By this a profile is known to be in use.
const USED: &str = "Default/IndexedDB";

/// `Network.CookieParam`, by name, domain and path.
#[derive(Debug, Default)]
pub(super) struct Cookies(BTreeMap<[String; 3], Value>);

impl Cookies {
    /// What a profile holds.
    pub(super) fn of(profile: &Path) -> Self {
        let text = fs::read(disk(profile)).unwrap_or_default();
        let mut cookies = Self::default();
        let found: Vec<Value> = serde_json::from_slice(&text).unwrap_or_default();
        for cookie in &found {
            cookies.set(cookie);
        }
        cookies
    }

    pub(super) fn set(&mut self, cookie: &Value) {
        let text = |key: &str| cookie[key].as_str().unwrap_or_default().to_owned();
        self.0.insert(["name", "domain", "path"].map(text), cookie.clone());
    }

    pub(super) fn clear(&mut self) {
        self.0.clear();
    }

    /// `Network.Cookie`.
    pub(super) fn told(&self) -> Vec<Value> {
        let told = |cookie: &Value| {
            let mut told = cookie.clone();
            told["session"] = json!(cookie["expires"].is_null());
            told
        };
        self.0.values().map(told).collect()
    }

    pub(super) fn names(&self) -> impl Iterator<Item = &str> {
        self.0.keys().map(|[name, ..]| name.as_str())
    }

    /// Writes all that does not end with the browser.
    pub(super) fn write(&self, profile: &Path) {
        let lasting = self.0.values().filter(|cookie| !cookie["expires"].is_null());
        let text = json::bytes(&lasting.collect::<Vec<_>>());
        let (path, used) = (disk(profile), profile.join(USED));
        let folders = [path.parent().map(Path::to_owned), Some(used)];
        folders.into_iter().flatten().for_each(|folder| drop(fs::create_dir_all(folder)));
        // As with a real browser, nobody hears of a disk that is full.
        let _ = fs::write(path, text);
    }
}

fn disk(profile: &Path) -> PathBuf {
    profile.join(DISK)
}
