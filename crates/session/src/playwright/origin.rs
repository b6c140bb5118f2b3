//! One origin of a `storageState` file: localStorage, IndexedDB and files of a first party, and the
//! sessionStorage that others than Playwright write beside them.

use super::{Ignored, Lost, files, indexed_db};
use crate::database::Database;
use crate::json_tree::Json;
use crate::receipt::ItemKind;
use crate::redact::redact_url;
use crate::state::OriginState;
use crate::storage::{Entries, StorageKey};
use crate::text::Text;
use std::collections::BTreeMap;
use url::Url;

/// The members of an origin.
pub(super) const MEMBERS: [&str; 5] =
    ["origin", "localStorage", "sessionStorage", "indexedDB", "opfs"];

/// Reads one origin, which stands at `place` in the file, into `origins`. Its sessionStorage is
/// returned: that belongs to a tab.
pub(super) fn read(
    json: &Json,
    place: String,
    origins: &mut BTreeMap<StorageKey, OriginState>,
    ignored: &mut Vec<Ignored>,
) -> Option<(StorageKey, Entries)> {
    let Some(name) = json.get_str("origin").and_then(tuple_origin) else {
        ignored.push(Ignored::new(
            ItemKind::Part,
            place,
            "expected an origin such as https://app.test",
        ));
        return None;
    };
    let storage_key = StorageKey::first_party(&name);
    let origin = origins.entry(storage_key.clone()).or_default();
    origin.local_storage.0.extend(entries(json, "localStorage", &name, ignored).0);
    let session = entries(json, "sessionStorage", &name, ignored);
    for (position, item) in list(json, "indexedDB", &name, ignored).iter().enumerate() {
        match indexed_db::read(item, &format!("{name} indexedDB[{position}]"), ignored) {
            Ok(database) => adopt(origin, database, &name, ignored),
            Err(reason) => ignored.push(reason),
        }
    }
    let found = files::read(list(json, "opfs", &name, ignored), &name, ignored);
    if !found.is_empty() {
        origin.files = found;
    }
    (!session.is_empty()).then_some((storage_key, session))
}

/// A web storage: pairs of name and value.
fn entries(json: &Json, member: &str, name: &str, ignored: &mut Vec<Ignored>) -> Entries {
    let mut entries = Entries::default();
    for (position, item) in list(json, member, name, ignored).iter().enumerate() {
        if let (Some(key), Some(value)) = (item.get_text("name"), item.get_text("value")) {
            entries.0.insert(key.clone(), value.clone());
        } else {
            let place = format!("{name} {member}[{position}]");
            let reason = "expected name and value as strings";
            ignored.push(Ignored::new(kind_of(member), place, reason));
        }
    }
    entries
}

/// Whether it is such an origin.
pub(super) fn is_origin(text: &str) -> bool {
    tuple_origin(text).is_some()
}

/// The one form of an origin that can have storage; opaque ones have none that could be named.
pub(super) fn tuple_origin(text: &str) -> Option<String> {
    let origin = Url::parse(text).ok()?.origin();
    origin.is_tuple().then(|| origin.ascii_serialization())
}

fn list<'a>(json: &'a Json, name: &str, origin: &str, ignored: &mut Vec<Ignored>) -> &'a [Json] {
    let is_other = |json: &&Json| !matches!(json, Json::Array(_) | Json::Null);
    if let Some(other) = json.get(name).filter(is_other) {
        let reason = format!("expected an array, found {}", other.kind());
        ignored.push(Ignored::new(kind_of(name), format!("{origin} {name}"), reason));
    }
    json.get_list(name).unwrap_or_default()
}

pub(super) fn kind_of(name: &str) -> ItemKind {
    match name {
        "localStorage" => ItemKind::LocalStorage,
        "sessionStorage" => ItemKind::SessionStorage,
        "indexedDB" => ItemKind::IndexedDb,
        "opfs" => ItemKind::Files,
        _ => ItemKind::Part,
    }
}

fn adopt(origin: &mut OriginState, database: Database, name: &str, ignored: &mut Vec<Ignored>) {
    if let Some(earlier) = origin.databases.iter_mut().find(|known| known.name == database.name) {
        let place = format!("{name} indexedDB {}", database.name.to_lossy());
        ignored.push(Ignored::new(
            ItemKind::IndexedDb,
            place,
            "a later database in the file has the same name",
        ));
        *earlier = database;
    } else {
        origin.databases.push(database);
    }
}

/// Writes one origin; `None` when there is nothing in it that the format can say.
pub(super) fn write(key: &StorageKey, origin: &OriginState, lost: &mut Vec<Lost>) -> Option<Json> {
    let name = key.origin();
    if tuple_origin(name).as_deref() != Some(name) || StorageKey::first_party(name) != *key {
        lose(key, origin, lost);
        return None;
    }
    lose_stored(name, origin, lost);
    let entries = origin.local_storage.0.iter().map(|(name, value): (&Text, &Text)| {
        Json::object([("name", Json::Text(name.clone())), ("value", Json::Text(value.clone()))])
    });
    let databases: Vec<Json> = origin
        .databases
        .iter()
        .filter_map(|database| indexed_db::write(database, name, lost))
        .collect();
    let entries: Vec<Json> = entries.collect();
    let files = files::write(&origin.files, name, lost);
    if entries.is_empty() && databases.is_empty() && files.is_empty() {
        return None;
    }
    let mut members: Vec<(Text, Json)> =
        vec![("origin".into(), Json::text(name)), ("localStorage".into(), Json::Array(entries))];
    if !databases.is_empty() {
        members.push(("indexedDB".into(), Json::Array(databases)));
    }
    if !files.is_empty() {
        members.push(("opfs".into(), Json::Array(files)));
    }
    Some(Json::Object(members))
}

/// A storage key that the format cannot name.
fn lose(key: &StorageKey, origin: &OriginState, lost: &mut Vec<Lost>) {
    let reason = "left out: the format knows first parties only";
    if !origin.local_storage.is_empty() {
        lost.push(Lost::new(ItemKind::LocalStorage, format!("{key} localStorage"), reason));
    }
    for database in &origin.databases {
        let place = format!("{key} indexedDB {}", database.name.to_lossy());
        lost.push(Lost::new(ItemKind::IndexedDb, place, reason));
    }
    if !origin.files.is_empty() {
        lost.push(Lost::new(ItemKind::Files, format!("{key} files"), reason));
    }
    lose_stored(key.as_str(), origin, lost);
}

/// What the format has no word for, whoever it belongs to.
fn lose_stored(name: &str, origin: &OriginState, lost: &mut Vec<Lost>) {
    for cache in &origin.caches {
        let place = format!("{name} cache {}", cache.name.to_lossy());
        lost.push(Lost::new(ItemKind::Cache, place, "left out: the format has no caches"));
    }
    if !origin.raw.is_empty() {
        let place = format!("{name} folders of databases");
        lost.push(Lost::new(ItemKind::IndexedDb, place, "left out: the format has no files"));
    }
    for registration in &origin.service_workers {
        let place = format!("{name} service worker {}", redact_url(&registration.scope));
        let reason = "left out: the format has no service workers";
        lost.push(Lost::new(ItemKind::ServiceWorker, place, reason));
    }
}
