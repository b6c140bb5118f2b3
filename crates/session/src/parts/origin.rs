//! The parts of one storage key: cut, and put back in their places.

use super::{InvalidPart, Part, PartKind, decode, encode, invalid};
use crate::state::OriginState;
use crate::{Database, State, StorageKey, Text};

/// Cuts what one storage key holds into parts.
pub(super) fn split(key: &StorageKey, origin: &OriginState) -> Vec<Part> {
    let mut parts = Vec::new();
    if !origin.local_storage.is_empty() {
        parts.push(encode(PartKind::LocalStorage, key.to_string(), &origin.local_storage));
    }
    for database in &origin.databases {
        parts.push(encode(PartKind::Database, named(key, &database.name), database));
    }
    for cache in &origin.caches {
        parts.push(encode(PartKind::Cache, named(key, &cache.name), cache));
    }
    if !origin.files.is_empty() {
        let files = sorted(&origin.files, |file| &file.path);
        parts.push(encode(PartKind::Files, key.to_string(), &files));
    }
    if !origin.service_workers.is_empty() {
        let registrations = sorted(&origin.service_workers, |registration| &registration.scope);
        parts.push(encode(PartKind::ServiceWorkers, key.to_string(), &registrations));
    }
    if !origin.raw.is_empty() {
        let raw = sorted(&origin.raw, |file| &file.path);
        parts.push(encode(PartKind::Raw, key.to_string(), &raw));
    }
    parts
}

/// Puts a part where it belongs; one of another kind belongs elsewhere.
pub(super) fn place(part: &Part, state: &mut State) -> Result<(), InvalidPart> {
    match part.kind {
        PartKind::LocalStorage => {
            let entries = decode(part)?;
            of(state, StorageKey::new(&part.name)).local_storage = entries;
        }
        PartKind::Database => {
            let database: Database = decode(part)?;
            of(state, key(part)?).databases.push(database);
        }
        PartKind::Cache => {
            let cache = decode(part)?;
            of(state, key(part)?).caches.push(cache);
        }
        PartKind::Files => {
            let files = decode(part)?;
            of(state, StorageKey::new(&part.name)).files = files;
        }
        PartKind::ServiceWorkers => {
            let registrations = decode(part)?;
            of(state, StorageKey::new(&part.name)).service_workers = registrations;
        }
        PartKind::Raw => {
            let raw = decode(part)?;
            of(state, StorageKey::new(&part.name)).raw = raw;
        }
        PartKind::Environment
        | PartKind::Cookies
        | PartKind::Tab
        | PartKind::Preview
        | PartKind::Unread => {}
    }
    Ok(())
}

fn sorted<T, K: Ord + ?Sized>(things: &[T], by: impl Fn(&T) -> &K) -> Vec<&T> {
    let mut sorted: Vec<&T> = things.iter().collect();
    sorted.sort_by(|a, b| by(a).cmp(by(b)));
    sorted
}

fn of(state: &mut State, key: StorageKey) -> &mut OriginState {
    state.origins.entry(key).or_default()
}

/// The name of one of several that a storage key has.
fn named(key: &StorageKey, name: &Text) -> String {
    serde_json::to_string(&(key, name)).unwrap_or_default()
}

/// The storage key in such a name.
fn key(part: &Part) -> Result<StorageKey, InvalidPart> {
    let (key, _): (StorageKey, Text) =
        serde_json::from_str(&part.name).map_err(|source| invalid(part, source))?;
    Ok(key)
}
