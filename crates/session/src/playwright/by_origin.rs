//! Storage beside the cookies of a file, by its origin: as Steel writes the context of a session.
//!
//! `localStorage` and `sessionStorage` are objects of objects there. Its `indexedDB` is what lay in the
//! browser's files, without versions, key paths and indexes, so no page could open what is made of it.

use super::Ignored;
use super::origin::{kind_of, tuple_origin};
use super::tabs::Shown;
use crate::json_tree::Json;
use crate::receipt::ItemKind;
use crate::state::OriginState;
use crate::storage::{Entries, StorageKey};
use std::collections::BTreeMap;

/// Reads the three members of a document, as far as they are there.
pub(super) fn read(
    file: &Json,
    origins: &mut BTreeMap<StorageKey, OriginState>,
    shown: &mut Shown,
    ignored: &mut Vec<Ignored>,
) {
    for (key, entries) in storage(file, "localStorage", ignored) {
        origins.entry(key).or_default().local_storage.0.extend(entries.0);
    }
    for (key, entries) in storage(file, "sessionStorage", ignored) {
        shown.add(key, entries);
    }
    for (name, databases) in by_origin(file, "indexedDB", ignored) {
        if !databases.is_empty() {
            let reason =
                "its databases have no versions, key paths and indexes, so none can be made";
            let place = format!("{name} indexedDB");
            ignored.push(Ignored::new(ItemKind::IndexedDb, place, reason));
        }
    }
}

fn storage(
    file: &Json,
    member: &'static str,
    ignored: &mut Vec<Ignored>,
) -> Vec<(StorageKey, Entries)> {
    let mut storage = Vec::new();
    for (name, area) in by_origin(file, member, ignored) {
        let place = || format!("{name} {member}");
        if !matches!(area, Json::Object(_) | Json::Null) {
            let reason = format!("expected an object, found {}", area.kind());
            ignored.push(Ignored::new(kind_of(member), place(), reason));
        }
        let mut entries = Entries::default();
        for (key, value) in area.members() {
            if let Json::Text(value) = value {
                entries.0.insert(key.clone(), value.clone());
            } else {
                let reason = format!("expected strings, found {} under a name", value.kind());
                ignored.push(Ignored::new(kind_of(member), place(), reason));
            }
        }
        storage.push((StorageKey::first_party(&name), entries));
    }
    storage
}

/// What stands under each origin of a member.
fn by_origin<'a>(
    file: &'a Json,
    member: &'static str,
    ignored: &mut Vec<Ignored>,
) -> Vec<(String, &'a Json)> {
    let found = file.get(member).unwrap_or(&Json::Null);
    if !matches!(found, Json::Object(_) | Json::Null) {
        let reason = format!("expected an object with origins, found {}", found.kind());
        ignored.push(Ignored::new(kind_of(member), member, reason));
    }
    let mut all = Vec::new();
    for (position, (name, under)) in found.members().iter().enumerate() {
        if let Some(name) = name.as_str().and_then(tuple_origin) {
            all.push((name, under));
        } else {
            let reason = "expected an origin such as https://app.test";
            let place = format!("{member}[{position}]");
            ignored.push(Ignored::new(kind_of(member), place, reason));
        }
    }
    all
}
