//! The parts of one storage key.

use super::{Part, PartKind, encode};
use crate::json;
use crate::state::OriginState;
use crate::storage::StorageKey;
use crate::text::Text;

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

fn sorted<T, K: Ord + ?Sized>(things: &[T], by: impl Fn(&T) -> &K) -> Vec<&T> {
    let mut sorted: Vec<&T> = things.iter().collect();
    sorted.sort_by(|a, b| by(a).cmp(by(b)));
    sorted
}

/// The name of one of several that a storage key has.
fn named(key: &StorageKey, name: &Text) -> String {
    json::text(&(key, name))
}
