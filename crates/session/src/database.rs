//! IndexedDB: one database with its stores, indexes and records.
//!
//! The words are those of the W3C's Indexed Database API 3.0.

use crate::text::Text;
use crate::value::Value;
use crate::value::{Node, Number};
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
