//! What only pages made, of a profile that comes back: the folders of databases, caches, files and service
//! workers, each within a bound of its own.
//!
//! The one idea: such a folder may be anything, and costs itself only. One that is too large, or cannot be
//! written here, is left out whole and named; what its key held before stays.

use super::written::write;
use crate::profile::at_rest::key_of;
use crate::profile::compile::{DEFAULT, PAGES};
use crate::profile::{Fault, ProfileError, is_ours, leveldb};
use baton_session::receipt::ItemKind;
use baton_session::{Site, StorageKey};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

/// The most that is taken of one folder, in bytes: of the databases of an origin, of a partition, of all
/// caches.
const LARGEST: u64 = 64 << 20;
/// The most that is taken of all, in bytes and in files.
const MOST_BYTES: u64 = 256 << 20;
const MOST_FILES: usize = 50_000;
/// How many folders of a kind are named that were left out. Whoever wrote the profile says how many there are.
const MOST_NAMED: usize = 1_000;
/// The name of what stands for those of a kind that are not named. No folder is called so.
const OTHERS: &str = "/";
/// What a `LevelDB` makes anew.
const NO_STATE: [&str; 3] = ["LOCK", "LOG", "LOG.old"];
/// How the folders of an origin's databases go on behind its name.
const DATABASES: &str = ".indexeddb.";

/// A folder that is taken whole or not at all.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct PageFolder {
    /// Which of [`PAGES`].
    kind: &'static str,
    /// The one in it: of an origin's databases its name there, of partitions a number.
    name: String,
}

impl PageFolder {
    fn of(names: &[&str]) -> Option<Self> {
        let (kind, name) = (names.first()?, names.get(1)?);
        let kind = PAGES.into_iter().find(|known| known == kind)?;
        // What caches hold, and what says which there are, are of no use without one another.
        let name = match kind {
            "Service Worker" | "File System" => "",
            // And beside the partitions, what says whose they are.
            "WebStorage" if name.parse::<u64>().is_err() => "",
            _ => name.split(DATABASES).next().unwrap_or_default(),
        };
        Some(Self { kind, name: name.to_owned() })
    }

    /// Of a whole kind: all of them where each is a folder of its own.
    fn whole(kind: &'static str) -> Self {
        match kind {
            "Service Worker" | "File System" => Self { kind, name: String::new() },
            _ => Self::others(kind),
        }
    }

    /// What stands for the folders of a kind that are not named.
    fn others(kind: &'static str) -> Self {
        Self { kind, name: OTHERS.to_owned() }
    }

    fn is_others(&self) -> bool {
        self.name == OTHERS
    }

    /// Whether it is that of the databases of this key.
    fn is_of_databases(&self, key: &StorageKey) -> bool {
        self.kind == "IndexedDB" && key_of(&self.name).is_some_and(|owner| owner == *key)
    }

    /// Whether databases of this key may be in it.
    pub fn may_hold_databases(&self, key: &StorageKey) -> bool {
        match self.kind {
            "IndexedDB" => self.is_of_databases(key) || (self.is_others() && key.is_first_party()),
            _ => self.may_be_a_partition(key),
        }
    }

    /// Whether caches or service workers of this key may be in it.
    pub fn may_hold_workers(&self, key: &StorageKey) -> bool {
        self.kind == "Service Worker" || self.may_be_a_partition(key)
    }

    /// Whether files of this key may be in it.
    pub fn may_hold_files(&self, key: &StorageKey) -> bool {
        self.kind == "File System" || self.may_be_a_partition(key)
    }

    fn may_be_a_partition(&self, key: &StorageKey) -> bool {
        self.kind == "WebStorage" && !key.is_first_party()
    }

    /// What a receipt calls that which was in it.
    pub fn kind(&self) -> ItemKind {
        match self.kind {
            "Service Worker" => ItemKind::ServiceWorker,
            "File System" => ItemKind::Files,
            _ => ItemKind::IndexedDb,
        }
    }

    /// Whether anything of this key may be in it.
    pub fn may_hold(&self, key: &StorageKey) -> bool {
        self.may_hold_databases(key) || self.may_hold_workers(key) || self.may_hold_files(key)
    }

    /// How a person calls it.
    pub fn place(&self) -> String {
        match key_of(&self.name).filter(|_| self.kind == "IndexedDB") {
            Some(key) => key.to_string(),
            None if self.is_others() => format!("other folders in {}", self.kind),
            None if self.name.is_empty() => format!("the folder {}", self.kind),
            None => format!("the folder {}/{}", self.kind, self.name),
        }
    }
}

/// How much something is.
#[derive(Debug, Clone, Copy, Default)]
struct Size {
    bytes: u64,
    files: usize,
}

impl Size {
    /// With one more file.
    fn and(self, bytes: u64) -> Self {
        Self { bytes: self.bytes.saturating_add(bytes), files: self.files + 1 }
    }
}

/// What was taken of a folder.
#[derive(Debug, Default)]
struct TakenFolder {
    size: Size,
    /// What lies of it beside the others of its kind, by its names there.
    entries: BTreeSet<String>,
}

/// Where such folders are put, in a profile of their own.
#[derive(Debug)]
pub struct PageFolders {
    profile: PathBuf,
    /// The sites whose databases are wanted; none: of all.
    sites: Option<BTreeSet<Site>>,
    /// How much is there of all that was taken.
    all: Size,
    taken: BTreeMap<PageFolder, TakenFolder>,
    /// At most so many of a kind, and what stands for its others.
    left_out: BTreeMap<PageFolder, String>,
    /// The keys that have databases which nobody wants.
    unwanted: BTreeSet<StorageKey>,
}

impl PageFolders {
    /// They are put into this profile, which is not there yet.
    pub fn new(profile: PathBuf) -> Self {
        let (taken, left_out) = (BTreeMap::new(), BTreeMap::new());
        let (all, unwanted) = (Size::default(), BTreeSet::new());
        Self { profile, sites: None, all, taken, left_out, unwanted }
    }

    /// The same, where databases of these sites alone are wanted: others are passed over, and take no room.
    #[must_use]
    pub fn of_sites(self, sites: BTreeSet<Site>) -> Self {
        Self { sites: Some(sites), ..self }
    }

    /// The profile.
    pub fn profile(&self) -> &Path {
        &self.profile
    }

    /// What was left out, and why.
    pub fn left_out(&self) -> impl Iterator<Item = (&PageFolder, &str)> {
        self.left_out.iter().map(|(folder, why)| (folder, why.as_str()))
    }

    /// The first-party keys that have databases, also those that were passed over.
    pub fn keys(&self) -> BTreeSet<StorageKey> {
        let databases = self.taken.keys().filter(|folder| folder.kind == "IndexedDB");
        let taken = databases.filter_map(|folder| key_of(&folder.name));
        taken.chain(self.unwanted.iter().cloned()).collect()
    }

    /// Whether databases of this key may have been left out. A first party has one folder: where that was taken, it
    /// is none of those that are not named.
    pub fn lacks_databases(&self, key: &StorageKey) -> bool {
        let is_taken = self.taken.keys().any(|folder| folder.is_of_databases(key));
        let mut left = self.left_out.keys();
        left.any(|left| left.may_hold_databases(key) && !(is_taken && left.is_others()))
    }

    /// Whether nothing came back, and nothing was left out.
    pub fn is_empty(&self) -> bool {
        self.taken.is_empty() && self.left_out.is_empty() && self.unwanted.is_empty()
    }

    /// Whether caches, service workers or files of any site are in it.
    pub fn has_stored(&self) -> bool {
        self.taken.keys().any(|folder| folder.kind != "IndexedDB")
    }

    /// Leaves out what is damaged of the databases of these keys, of partitions, and of what says which
    /// service workers there are: a browser would begin anew where it is, as if the site had deleted all of
    /// it. Blocks on the disk.
    pub fn leave_damaged(&mut self, keys: &BTreeSet<StorageKey>) -> Result<(), Fault> {
        let taken: Vec<PageFolder> = self.taken.keys().cloned().collect();
        for folder in taken {
            let default = self.profile.join(DEFAULT).join(folder.kind);
            let database = match folder.kind {
                "IndexedDB" if key_of(&folder.name).is_some_and(|key| keys.contains(&key)) => {
                    default.join(format!("{}{DATABASES}leveldb", folder.name))
                }
                "WebStorage" if !folder.name.is_empty() => {
                    default.join(&folder.name).join("IndexedDB/indexeddb.leveldb")
                }
                "Service Worker" => default.join("Database"),
                _ => continue,
            };
            let why = match leveldb::read(&database) {
                Ok(found) => {
                    found.filter(|found| !found.lost.is_none()).map(|found| found.lost.to_string())
                }
                Err(error) if error.is_ours() => return Err(Fault::Ours(error.to_string())),
                Err(error) => Some(error.to_string()),
            };
            if let Some(why) = why {
                let below = self.profile.display().to_string();
                self.leave(folder, &why.replace(&below, ""))?;
            }
        }
        Ok(())
    }

    /// Takes a file, if it is one of such a folder: its place below `Default`, how large it is, and when it
    /// was written. Fails only when this machine does.
    pub(super) fn take(
        &mut self,
        from: &mut impl Read,
        names: &[&str],
        size: u64,
        at: Option<SystemTime>,
    ) -> Result<(), Fault> {
        let Some(folder) = PageFolder::of(names) else { return Ok(()) };
        let is_no_state = names.last().is_some_and(|name| NO_STATE.contains(name));
        if is_no_state || !self.wants(&folder) || self.is_left_out(&folder) {
            return Ok(());
        }
        let used = self.taken.get(&folder).map(|taken| taken.size).unwrap_or_default().and(size);
        if used.bytes > LARGEST {
            return self.leave(folder, &format!("expected at most {LARGEST} bytes, found more"));
        }
        let all = self.all.and(size);
        if all.bytes > MOST_BYTES || all.files > MOST_FILES {
            return self.leave(folder, "there was no room for it beside the others");
        }
        self.all = all;
        let taken = self.taken.entry(folder.clone()).or_default();
        taken.size = used;
        taken.entries.extend(names.get(1).map(|name| (*name).to_owned()));
        let path = names.iter().fold(self.profile.join(DEFAULT), |path, name| path.join(name));
        match write(from, &path, at) {
            Err(Fault::Bytes(why)) => self.leave(folder, &why),
            written => written,
        }
    }

    /// Leaves out a folder of which something could not be read where it comes from, by its place below `Default`. Fails
    /// only when this machine does.
    pub(super) fn leave_unread(&mut self, names: &[&str], why: &str) -> Result<(), Fault> {
        let folder = match names {
            [kind] => PAGES.into_iter().find(|known| known == kind).map(PageFolder::whole),
            [.., last] if NO_STATE.contains(last) => None,
            _ => PageFolder::of(names),
        };
        let Some(folder) = folder else { return Ok(()) };
        let is_wanted = folder.is_others() || self.wants(&folder);
        if !is_wanted || self.is_left_out(&folder) {
            return Ok(());
        }
        self.leave(folder, &format!("it cannot be read: {why}"))
    }

    /// Whether a folder may hold anything that is wanted; whose databases are not is remembered.
    fn wants(&mut self, folder: &PageFolder) -> bool {
        let Some(sites) = self.sites.as_ref().filter(|_| folder.kind == "IndexedDB") else {
            return true;
        };
        let key = key_of(&folder.name);
        let is_wanted = key.as_ref().is_some_and(|key| sites.contains(&key.site()));
        if let Some(key) = key.filter(|_| !is_wanted && self.unwanted.len() < MOST_FILES) {
            self.unwanted.insert(key);
        }
        is_wanted
    }

    /// Whether nothing more is taken of a folder: once not all of a kind can be named, that is so of each of which
    /// nothing was.
    fn is_left_out(&self, folder: &PageFolder) -> bool {
        let is_among_others = || {
            self.left_out.contains_key(&PageFolder::others(folder.kind))
                && !self.taken.contains_key(folder)
        };
        self.left_out.contains_key(folder) || is_among_others()
    }

    /// Leaves a folder out, with what was taken of it already: others have the room. It costs no more than that was,
    /// however many there are beside it.
    fn leave(&mut self, folder: PageFolder, why: &str) -> Result<(), Fault> {
        let TakenFolder { size, entries } = self.taken.remove(&folder).unwrap_or_default();
        self.all.bytes -= size.bytes;
        self.all.files -= size.files;
        let beside = self.profile.join(DEFAULT).join(folder.kind);
        for entry in entries {
            let path = beside.join(entry);
            // What could not be written may not be there.
            let Ok(found) = fs::symlink_metadata(&path) else { continue };
            let gone =
                if found.is_dir() { fs::remove_dir_all(&path) } else { fs::remove_file(&path) };
            gone.map_err(|error| {
                Fault::of(is_ours(&error), ProfileError::new("remove", path)(error))
            })?;
        }
        let named = self.left_out.keys().filter(|left| left.kind == folder.kind).count();
        if named < MOST_NAMED {
            self.left_out.insert(folder, why.to_owned());
        } else {
            let why = format!("expected at most {MOST_NAMED} folders to be left out, found more");
            self.left_out.insert(PageFolder::others(folder.kind), why);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn take(folders: &mut PageFolders, path: &str, size: u64) {
        let names: Vec<&str> = path.split('/').collect();
        folders.take(&mut std::io::repeat(7).take(size.min(9)), &names, size, None).unwrap();
    }

    #[test]
    fn a_folder_that_is_too_large_costs_itself_only() {
        let scratch = tempfile::tempdir().unwrap();
        let mut folders = PageFolders::new(scratch.path().join("pages"));
        take(&mut folders, "IndexedDB/https_app.test_0.indexeddb.leveldb/CURRENT", 9);
        take(&mut folders, "IndexedDB/https_big.test_0.indexeddb.leveldb/CURRENT", 9);
        take(&mut folders, "IndexedDB/https_big.test_0.indexeddb.blob/1/00/1", LARGEST);
        take(&mut folders, "IndexedDB/https_big.test_0.indexeddb.leveldb/1.log", 9);
        take(&mut folders, "Service Worker/Database/CURRENT", 9);
        take(&mut folders, "Service Worker/CacheStorage/x/y", LARGEST);
        take(&mut folders, "WebStorage/QuotaManager", 9);
        take(&mut folders, "WebStorage/7/IndexedDB/LOCK", 9);
        take(&mut folders, "History/x", 9);
        let left: Vec<_> = folders.left_out().map(|(folder, _)| folder.place()).collect();
        assert_eq!(left, ["https://big.test/", "the folder Service Worker"]);
        assert_eq!(folders.keys().len(), 1);
        let there = |path: &str| folders.profile().join(DEFAULT).join(path).exists();
        assert!(there("IndexedDB/https_app.test_0.indexeddb.leveldb/CURRENT"));
        assert!(there("WebStorage/QuotaManager"));
        assert!(!there("IndexedDB/https_big.test_0.indexeddb.leveldb"));
        assert!(!there("Service Worker/Database") && !there("WebStorage/7") && !there("History"));
        let (big, partition) = (
            StorageKey::first_party("https://big.test"),
            StorageKey::new("https://big.test/^0https://app.test"),
        );
        let left: Vec<_> = folders.left_out().map(|(folder, _)| folder).collect();
        assert!(left[0].may_hold_databases(&big) && !left[0].may_hold_databases(&partition));
        assert!(left[1].may_hold_workers(&big) && !left[1].may_hold_files(&big));
    }

    #[test]
    fn what_is_left_out_takes_no_room_from_what_comes_later() {
        let scratch = tempfile::tempdir().unwrap();
        let mut folders = PageFolders::new(scratch.path().join("pages"));
        let of = |name: &str, file: &str| format!("IndexedDB/https_{name}.test_0.{file}");
        let large = |name: &str| of(name, "indexeddb.leveldb/1.log");
        for name in ["a", "b", "c", "d"] {
            take(&mut folders, &large(name), 60 << 20);
        }
        take(&mut folders, &large("late"), 9 << 20);
        take(&mut folders, &of("late", "indexeddb.blob/1/00/1"), 40 << 20);
        take(&mut folders, &large("small"), 9);
        take(&mut folders, &large("d"), 60 << 20);
        take(&mut folders, &large("last"), 60 << 20);
        let left: Vec<_> = folders.left_out().map(|(folder, _)| folder.place()).collect();
        assert_eq!(left, ["https://d.test/", "https://late.test/"]);
        let keys: Vec<_> = folders.keys().iter().map(ToString::to_string).collect();
        let expected = ["a", "b", "c", "last", "small"].map(|name| format!("https://{name}.test/"));
        assert_eq!(keys, expected);
        assert_eq!((folders.all.bytes, folders.all.files), ((240 << 20) + 9, 5));
    }

    #[test]
    fn databases_of_sites_that_are_not_wanted_are_passed_over_and_named() {
        let scratch = tempfile::tempdir().unwrap();
        let sites = BTreeSet::from([Site::of_origin("https://app.test")]);
        let mut folders = PageFolders::new(scratch.path().join("pages")).of_sites(sites);
        take(&mut folders, "IndexedDB/https_other.test_0.indexeddb.leveldb/CURRENT", 60 << 20);
        take(&mut folders, "IndexedDB/no key.indexeddb.leveldb/CURRENT", 60 << 20);
        take(&mut folders, "IndexedDB/https_www.app.test_0.indexeddb.leveldb/CURRENT", 9);
        take(&mut folders, "WebStorage/7/IndexedDB/indexeddb.leveldb/CURRENT", 9);
        assert_eq!(folders.left_out().count(), 0);
        assert_eq!((folders.all.bytes, folders.all.files), (18, 2));
        let keys: Vec<_> = folders.keys().iter().map(ToString::to_string).collect();
        assert_eq!(keys, ["https://other.test/", "https://www.app.test/"]);
        let there = |path: &str| folders.profile().join(DEFAULT).join(path).exists();
        assert!(there("IndexedDB/https_www.app.test_0.indexeddb.leveldb/CURRENT"));
        assert!(!there("IndexedDB/https_other.test_0.indexeddb.leveldb"));
    }

    #[test]
    fn of_very_many_folders_that_find_no_room_the_first_are_named() {
        let scratch = tempfile::tempdir().unwrap();
        let mut folders = PageFolders::new(scratch.path().join("pages"));
        for number in 0..3 * MOST_NAMED {
            take(&mut folders, &format!("WebStorage/{number}/a"), 60 << 20);
        }
        assert_eq!(folders.left_out().count(), MOST_NAMED + 1);
        // None of the others is taken in part, and what was taken before goes on.
        take(&mut folders, &format!("WebStorage/{}/b", 2 * MOST_NAMED), 9);
        take(&mut folders, "WebStorage/3/b", 9);
        let all = folders.profile().join(DEFAULT).join("WebStorage");
        assert_eq!(fs::read_dir(&all).unwrap().count(), 4);
        assert!(all.join("3/b").exists());
        let (others, _) = folders.left_out().next().unwrap();
        assert_eq!(others.place(), "other folders in WebStorage");
        let partition = StorageKey::new("https://big.test/^0https://app.test");
        assert!(others.may_hold_databases(&partition) && others.may_hold_workers(&partition));
        assert!(others.may_hold_files(&partition));
        // What is no partition is not there.
        assert!(!others.may_hold(&StorageKey::first_party("https://app.test")));
    }

    #[test]
    fn very_many_folders_that_find_no_room_cost_those_alone_that_are_among_them() {
        let scratch = tempfile::tempdir().unwrap();
        let mut folders = PageFolders::new(scratch.path().join("pages"));
        let of = |host: &str| format!("IndexedDB/https_{host}.test_0.indexeddb.leveldb/CURRENT");
        let key = |host: &str| StorageKey::first_party(&format!("https://{host}.test"));
        let partition = StorageKey::new("https://big.test/^0https://app.test");
        take(&mut folders, &of("app"), 9);
        for number in 0..2 * MOST_NAMED {
            take(&mut folders, &format!("WebStorage/{number}/a"), 60 << 20);
        }
        take(&mut folders, &of("late"), 9);
        for host in ["app", "late"] {
            assert!(!folders.lacks_databases(&key(host)) && folders.keys().contains(&key(host)));
            assert!(!folders.left_out().any(|(folder, _)| folder.may_hold(&key(host))));
        }
        assert!(folders.lacks_databases(&partition));
        // So it is among folders of one kind: what was taken of them is whole.
        for number in 0..2 * MOST_NAMED {
            take(&mut folders, &of(&format!("host{number}")), 60 << 20);
        }
        take(&mut folders, &of("later"), 9);
        let lacks = |host: &str| folders.lacks_databases(&key(host));
        assert!(!lacks("app") && !lacks("late"));
        assert!(lacks("host1") && lacks("host1999") && lacks("later"));
        assert!(!folders.keys().contains(&key("later")));
        let others = folders.left_out().filter(|(folder, _)| folder.is_others());
        let others: Vec<_> = others.map(|(folder, _)| folder.place()).collect();
        assert_eq!(others, ["other folders in IndexedDB", "other folders in WebStorage"]);
        // One that was taken and is left out has its marker only.
        take(&mut folders, &of("late"), LARGEST);
        assert!(folders.lacks_databases(&key("late")));
    }

    #[test]
    fn what_cannot_be_written_here_is_left_out() {
        let scratch = tempfile::tempdir().unwrap();
        let mut folders = PageFolders::new(scratch.path().join("pages"));
        take(&mut folders, "WebStorage/7/a", 9);
        take(&mut folders, "WebStorage/7/a/b", 9);
        take(&mut folders, "WebStorage/8/a", 9);
        let left: Vec<_> = folders.left_out().map(|(folder, _)| folder.place()).collect();
        assert_eq!(left, ["the folder WebStorage/7"]);
        assert!(folders.has_stored());
    }
}
