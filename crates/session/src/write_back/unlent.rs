//! What no profile elsewhere was given of a database or a cache: what no script can read, such as a key that its
//! site marked as not extractable.
//!
//! The one idea: what was not there cannot have been deleted there. So it stays in its place in what is known of the
//! session, whose own profile has the value itself, and keeps it for as long as the database has the same form.
//! One that has another form now is made anew there, and that is said.

use crate::json;
use crate::stored::{Cache, CacheEntry, CachedResponse, Database, ObjectStore, Record};
use std::collections::{BTreeMap, BTreeSet};

/// Keeps what no script can read of a database as it was before, where nothing else came back in its place. How many
/// records could not be kept, because the database has another form now.
pub(super) fn keep_records(before: &Database, now: &mut Database) -> usize {
    let is_as_before = has_same_form(before, now);
    let mut lost = 0;
    for store in before.stores.iter().filter(|store| store.records.iter().any(is_unreadable)) {
        match now.stores.iter_mut().find(|one| one.name == store.name) {
            Some(now) if is_as_before => keep_in_store(store, now),
            now => lost += missing(store, now.as_deref()).len(),
        }
    }
    lost
}

/// Keeps the responses that no script can read of a cache as it was before.
pub(super) fn keep_responses(before: &Cache, now: &mut Cache) {
    let there: BTreeSet<&str> = now.entries.iter().map(|entry| entry.url.as_str()).collect();
    let is_kept = |entry: &&CacheEntry| {
        matches!(entry.response, CachedResponse::Lost { .. }) && !there.contains(entry.url.as_str())
    };
    let kept: Vec<CacheEntry> = before.entries.iter().filter(is_kept).cloned().collect();
    now.entries.extend(kept);
}

/// Leaves what no script can read of a database, of which all else was in the profile and is there no more. Returns
/// whether there is any.
pub(super) fn leave_unreadable_records(database: &mut Database) -> bool {
    for store in &mut database.stores {
        store.records.retain(is_unreadable);
    }
    database.stores.iter().any(|store| !store.records.is_empty())
}

/// The same of a cache.
pub(super) fn leave_unreadable_responses(cache: &mut Cache) -> bool {
    cache.entries.retain(|entry| matches!(entry.response, CachedResponse::Lost { .. }));
    !cache.entries.is_empty()
}

const CHANGED: &str =
    "what no script can read of it is lost, for its site changed its databases in the sandbox";
const DAMAGED: &str = "what no script can read of it is lost, for part of it is damaged: \
                       nobody can tell what its site changed in the sandbox";

/// What becomes of the browser's own folders of databases.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Folders {
    /// They are needed still: they hold a value that no script can read of a database that is there, and nobody else has
    /// it.
    Stay,
    /// All that they hold is elsewhere.
    Go,
    /// They go, and what only they hold with them, for this reason.
    Lost(&'static str),
}

/// What becomes of the folders as they were before. They stay only where all is as it was, as far as anybody can tell:
/// they would bring back a database that was deleted, as by who signs out, and an old key beside what its site signed
/// with a new one.
pub(super) fn folders(before: &[Database], now: &[Database], is_damaged: bool) -> Folders {
    let is_as_before = |one: &Database| {
        now.iter().any(|now| {
            now.name == one.name && has_same_form(one, now) && has_same_records(one, now)
        })
    };
    if is_damaged {
        Folders::Lost(DAMAGED)
    } else if before.iter().all(|one| one.lost() == 0) {
        Folders::Go
    } else if before.len() == now.len() && before.iter().all(is_as_before) {
        Folders::Stay
    } else {
        Folders::Lost(CHANGED)
    }
}

fn is_unreadable(record: &Record) -> bool {
    record.value.losses().next().is_some()
}

/// Whether a browser that has the one need not make it anew to have the other.
fn has_same_form(one: &Database, other: &Database) -> bool {
    let is_same = |(one, other): (&ObjectStore, &ObjectStore)| {
        one.name == other.name
            && one.key_path == other.key_path
            && one.auto_increment == other.auto_increment
            && one.indexes == other.indexes
    };
    one.version == other.version
        && one.stores.len() == other.stores.len()
        && one.stores.iter().zip(&other.stores).all(is_same)
}

/// Whether stores of the same form hold the same, as far as scripts can read it.
fn has_same_records(one: &Database, other: &Database) -> bool {
    one.stores.iter().zip(&other.stores).all(|(one, other)| one.records == other.records)
}

/// The records that no script can read, of which the store has none with their key now, each with how many of its
/// records come before.
fn missing<'a>(before: &'a ObjectStore, now: Option<&ObjectStore>) -> Vec<(usize, &'a Record)> {
    // A key has no order here but that of its records, which both have.
    let key = |record: &Record| json::text(&record.key);
    let records = now.map(|store| store.records.as_slice()).unwrap_or_default();
    let places: BTreeMap<String, usize> =
        records.iter().enumerate().map(|(at, record)| (key(record), at)).collect();
    let (mut found, mut next) = (Vec::new(), 0);
    for record in &before.records {
        match places.get(&key(record)) {
            Some(at) => next = at + 1,
            None if is_unreadable(record) => found.push((next, record)),
            None => {}
        }
    }
    found
}

fn keep_in_store(before: &ObjectStore, now: &mut ObjectStore) {
    // The last one first: then the others have their places still.
    for (at, record) in missing(before, Some(&*now)).into_iter().rev() {
        now.records.insert(at, record.clone());
    }
}
