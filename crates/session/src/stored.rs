//! What an origin stores beside the entries of web storage: databases, caches, files and service workers.
//!
//! The words are those of the specifications: the W3C's Indexed Database API 3.0 and Service Workers, and
//! the WHATWG's File System.

use crate::storage::StorageKey;
use crate::text::Text;
use crate::text_form::words;
use crate::value::{Node, Number, Value};
use baton_redaction::ShownAddress;
use serde::{Deserialize, Serialize};

/// One database of one storage key.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Database {
    /// Unique within its storage key.
    pub name: Text,
    /// The version that the page opened it with, at least 1.
    pub version: u64,
    /// In the order of their names.
    pub stores: Vec<ObjectStore>,
}

impl Database {
    /// How many of its records hold a value that no script can read, such as a key that its site marked as not
    /// extractable.
    pub fn lost(&self) -> usize {
        let records = self.stores.iter().flat_map(|store| &store.records);
        records.filter(|record| record.value.losses().next().is_some()).count()
    }
}

/// How a receipt says that so many records hold such a value.
pub fn no_script_reads(records: usize) -> String {
    match records {
        1 => "1 record holds a value that no script can read".to_owned(),
        _ => format!("{records} records hold a value that no script can read"),
    }
}

/// One object store.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ObjectStore {
    /// Unique within its database.
    pub name: Text,
    /// Where in a value its key is; `None` for out-of-line keys.
    pub key_path: Option<KeyPath>,
    /// Whether the store makes keys.
    pub auto_increment: bool,
    /// The next key that the generator will give out, one more than [`LAST_KEY`] when it has none left;
    /// `None` when the store makes no keys.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next_key: Option<u64>,
    /// In the order of their names.
    pub indexes: Vec<Index>,
    /// In the order of their keys.
    pub records: Vec<Record>,
}

/// One index of a store.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Index {
    /// Unique within its store.
    pub name: Text,
    /// What it indexes.
    pub key_path: KeyPath,
    /// Whether two records may not share a key.
    pub unique: bool,
    /// Whether an array is indexed item by item.
    pub multi_entry: bool,
}

/// A key path: one path, or several that make an array key.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum KeyPath {
    /// Such as `id` or `user.id`; may be empty.
    One(Text),
    /// Such as `["surname", "name"]`.
    Many(Vec<Text>),
}

/// A key and its value.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Record {
    /// A number, date, string, binary or array.
    pub key: Value,
    /// Anything that structured cloning can carry.
    pub value: Value,
}

/// The largest key that a key generator gives out: 2^53.
pub const LAST_KEY: u64 = 1 << 53;

/// The key that the generator of a store with these records gives out next, as far as they tell: those
/// that are gone may have moved it on. One more than [`LAST_KEY`] says that it has none left ("possibly
/// update the key generator" of the Indexed Database API).
pub fn next_key<'a>(records: impl IntoIterator<Item = &'a Record>) -> u64 {
    let numbers = records.into_iter().filter_map(|record| match record.key.root {
        Node::Number(Number(number)) if number >= 1.0 => Some(number),
        _ => None,
    });
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "capped first")]
    #[expect(clippy::cast_precision_loss, reason = "a power of two is exact")]
    let last = numbers.map(|number| number.min(LAST_KEY as f64) as u64).max();
    last.map_or(1, |last| last.saturating_add(1))
}

/// One cache of one storage key.
///
/// A cache takes requests of the method `GET` only, so no method is kept. Header values and status texts
/// are strings of bytes, which a page sees as Latin-1.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Cache {
    /// Unique within its storage key.
    pub name: Text,
    /// Where it stands among the caches of its storage key: `caches.match` asks them in this order.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub position: u32,
    /// In the order in which the cache lists them.
    pub entries: Vec<CacheEntry>,
}

/// A request and the response that is kept for it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CacheEntry {
    /// The address of the request.
    pub url: String,
    /// Its headers. Where the response has a `Vary` header, they decide what it answers to.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub headers: Vec<(String, String)>,
    /// What is kept.
    pub response: CachedResponse,
}

/// A response of a cache.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum CachedResponse {
    /// One that a page can read.
    #[serde(rename_all = "camelCase")]
    Whole {
        /// Such as 200.
        status: u16,
        /// Such as `OK`; may be empty.
        status_text: String,
        /// In the order of their names.
        headers: Vec<(String, String)>,
        /// Its bytes in base64.
        body: String,
    },
    /// One that no script can read.
    Lost {
        /// The type of the response, such as `opaque`.
        kind: String,
    },
}

impl Cache {
    /// How many of its responses could not be carried.
    pub fn lost(&self) -> usize {
        let is_lost = |entry: &&CacheEntry| matches!(entry.response, CachedResponse::Lost { .. });
        self.entries.iter().filter(is_lost).count()
    }
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde calls it so")]
fn is_zero(position: &u32) -> bool {
    *position == 0
}

/// A folder or a file, by its path from the root.
///
/// Names are scalar strings: none holds a lone surrogate.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileEntry {
    /// The names of the folders above it, outermost first, then its own.
    pub path: Vec<String>,
    /// What is there.
    #[serde(flatten)]
    pub content: FileContent,
}

/// What stands at a path.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum FileContent {
    /// A folder, which may be empty.
    Folder,
    /// A file.
    File {
        /// Its bytes in base64.
        bytes: String,
    },
}

impl FileEntry {
    /// The path as people write it.
    pub fn place(&self) -> String {
        self.path.join("/")
    }
}

/// One registration of one storage key.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Registration {
    /// The address below which pages belong to it; unique within its storage key.
    pub scope: String,
    /// The address of its main script.
    pub script_url: String,
    /// `imports`, `all` or `none`: what of it the browser may take from its HTTP cache.
    pub update_via_cache: String,
    /// What is asked for besides while the worker starts.
    pub navigation_preload: NavigationPreload,
    /// How its main script is run; none while that is not known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub worker_type: Option<WorkerType>,
    /// The scripts as they ran, in the order of their addresses; none when no worker ran while it
    /// was watched.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub scripts: Vec<WorkerScript>,
}

/// Whether navigations go out while the worker starts.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct NavigationPreload {
    /// Whether they do.
    pub enabled: bool,
    /// The value of their `Service-Worker-Navigation-Preload` header.
    pub header: String,
}

/// A script of a worker.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct WorkerScript {
    /// Its address: the main script, or one that it imports.
    pub url: String,
    /// Its text.
    pub source: Text,
}

words! {
    /// How a worker's main script is run.
    WorkerType, else UnknownWorkerType ("type of worker"):
    /// As a script, which may call `importScripts`.
    Classic "classic",
    /// As a module, which may `import`.
    Module "module",
}

impl Registration {
    /// How a receipt names it.
    pub fn place(&self, key: &StorageKey) -> String {
        format!("{key} {}", ShownAddress::of(&self.scope))
    }

    /// Whether its main script is known, so that it can be made where no site is asked.
    pub fn is_whole(&self) -> bool {
        self.worker_type.is_some()
            && self.scripts.iter().any(|script| script.url == self.script_url)
    }
}
