//! Diff: what changed between two states, item by item and without a single value.

mod environment;
mod sites;
mod stored;
mod tabs;

use crate::cookie::Cookie;
use crate::database::Database;
use crate::receipt::ItemKind;
use crate::state::OriginState;
use crate::state::State;
use crate::storage::{Entries, StorageKey};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fmt;

pub use sites::{NAME_LENGTH_MAX, NAMES_MAX, SiteDiff};

/// What changed from one state to another.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct Diff {
    /// How many items are new.
    pub added: usize,
    /// How many items are gone.
    pub removed: usize,
    /// How many items are not what they were.
    pub changed: usize,
    /// One line per item, sorted by kind and place. What stayed as it was has none.
    pub items: Vec<DiffItem>,
}

/// One item that is not what it was.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct DiffItem {
    /// What it is.
    pub kind: ItemKind,
    /// Where it lives: a cookie's [place](crate::Cookie::place), a storage key, a database, an
    /// address without its secrets, a setting. Never a value.
    #[serde(rename = "where")]
    pub place: String,
    /// The name of an entry of web storage, or the path of a file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub entry: Option<String>,
    /// What became of it.
    pub change: Change,
    /// Which fields of a cookie, a tab or a service worker are not what they were.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub fields: Vec<String>,
    /// How many records a database has, or entries a cache.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub records: Option<Records>,
}

/// What became of an item.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub enum Change {
    /// It was not there before.
    Added,
    /// It is not there any more.
    Removed,
    /// It is not what it was.
    Changed,
}

impl fmt::Display for Change {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Added => "added",
            Self::Removed => "removed",
            Self::Changed => "changed",
        })
    }
}

/// The records of a database, in all of its stores, or the entries of a cache.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct Records {
    /// In the first state.
    pub before: usize,
    /// In the second state.
    pub after: usize,
}

/// What changed from `before` to `after`.
pub fn diff(before: &State, after: &State) -> Diff {
    let mut diff = Diff::default();
    cookies(&mut diff, &before.cookies, &after.cookies);
    let nothing = OriginState::default();
    for (key, pair) in paired(&before.origins, &after.origins) {
        let (old, new) = pair.or(&nothing);
        entries(&mut diff, ItemKind::LocalStorage, key, &old.local_storage, &new.local_storage);
        databases(&mut diff, key, &old.databases, &new.databases);
        stored::compare(&mut diff, key, old, new);
    }
    tabs::compare(&mut diff, &before.tabs, &after.tabs);
    environment::compare(&mut diff, &before.environment, &after.environment);
    diff.items.sort_by(|a, b| (a.kind, &a.place, &a.entry).cmp(&(b.kind, &b.place, &b.entry)));
    diff
}

impl Diff {
    fn push(&mut self, item: DiffItem) {
        match item.change {
            Change::Added => self.added += 1,
            Change::Removed => self.removed += 1,
            Change::Changed => self.changed += 1,
        }
        self.items.push(item);
    }
}

impl DiffItem {
    fn new(kind: ItemKind, place: impl Into<String>, change: Change) -> Self {
        let place = place.into();
        Self { kind, place, entry: None, change, fields: Vec::new(), records: None }
    }
}

/// The same thing before and after.
#[derive(Clone, Copy)]
struct Pair<'a, T>(Option<&'a T>, Option<&'a T>);

impl<'a, T: PartialEq> Pair<'a, T> {
    /// What became of it; none when it is what it was.
    fn change(&self) -> Option<Change> {
        match (self.0, self.1) {
            (None, Some(_)) => Some(Change::Added),
            (Some(_), None) => Some(Change::Removed),
            (before, after) => (before != after).then_some(Change::Changed),
        }
    }

    /// Both, with `other` where there is none.
    fn or(&self, other: &'a T) -> (&'a T, &'a T) {
        (self.0.unwrap_or(other), self.1.unwrap_or(other))
    }
}

/// What bears the same key, side by side.
fn paired<'a, K: Ord, T>(
    before: &'a BTreeMap<K, T>,
    after: &'a BTreeMap<K, T>,
) -> BTreeMap<&'a K, Pair<'a, T>> {
    let mut pairs: BTreeMap<&K, Pair<T>> =
        before.iter().map(|(key, old)| (key, Pair(Some(old), None))).collect();
    for (key, new) in after {
        pairs.entry(key).or_insert(Pair(None, None)).1 = Some(new);
    }
    pairs
}

fn cookies(diff: &mut Diff, before: &[Cookie], after: &[Cookie]) {
    let by_key = |cookies| -> BTreeMap<_, _> {
        <[Cookie]>::iter(cookies).map(|cookie| (cookie.key(), cookie.clone())).collect()
    };
    let (before, after) = (by_key(before), by_key(after));
    for pair in paired(&before, &after).into_values() {
        let (Some(change), Some(any)) = (pair.change(), pair.1.or(pair.0)) else { continue };
        let (old, new) = pair.or(any);
        let fields = [
            ("value", old.value != new.value),
            ("expires", old.expires != new.expires),
            ("httpOnly", old.http_only != new.http_only),
            ("secure", old.secure != new.secure),
            ("sameSite", old.same_site != new.same_site),
            ("priority", old.priority != new.priority),
        ];
        let item = DiffItem::new(ItemKind::Cookie, any.place(), change);
        diff.push(DiffItem { fields: named(&fields), ..item });
    }
}

/// The names of the fields that are not what they were.
fn named(fields: &[(&str, bool)]) -> Vec<String> {
    fields.iter().filter(|(_, is_other)| *is_other).map(|(name, _)| (*name).to_owned()).collect()
}

fn entries(diff: &mut Diff, kind: ItemKind, key: &StorageKey, before: &Entries, after: &Entries) {
    for (name, pair) in paired(&before.0, &after.0) {
        let Some(change) = pair.change() else { continue };
        let item = DiffItem::new(kind, key.as_str(), change);
        diff.push(DiffItem { entry: Some(name.to_lossy()), ..item });
    }
}

fn databases(diff: &mut Diff, key: &StorageKey, before: &[Database], after: &[Database]) {
    let by_name = |databases| -> BTreeMap<_, _> {
        <[Database]>::iter(databases).map(|database| (&database.name, database)).collect()
    };
    let (before, after) = (by_name(before), by_name(after));
    for (name, pair) in paired(&before, &after) {
        let Some(change) = pair.change() else { continue };
        let count = |database: Option<&&Database>| database.map_or(0, |database| records(database));
        let records = Some(Records { before: count(pair.0), after: count(pair.1) });
        let place = format!("{key} {}", name.to_lossy());
        diff.push(DiffItem { records, ..DiffItem::new(ItemKind::IndexedDb, place, change) });
    }
}

fn records(database: &Database) -> usize {
    database.stores.iter().map(|store| store.records.len()).sum()
}
