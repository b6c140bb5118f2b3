//! One IndexedDB database of a `storageState` file.
//!
//! The format has no key for a record of a store with a key path, and no position for a key
//! generator: [`key`](super::key) finds both, and what differs from what it finds is a loss.

use super::decode::decode;
use super::encode::{Encoded, encode};
use super::key::{canonical, key_of};
use super::{Ignored, Lost, told};
use crate::database::{Database, Index, KeyPath, ObjectStore, Record, next_key};
use crate::json_tree::Json;
use crate::receipt::ItemKind;
use crate::text::Text;
use crate::unknown::Unknown;

/// The last version that a page can ask for: 2^53 − 1.
const LAST_VERSION: u64 = (1 << 53) - 1;

/// Reads one database, which stands at `place` in the file.
pub(super) fn read(
    json: &Json,
    place: &str,
    ignored: &mut Vec<Ignored>,
) -> Result<Database, Ignored> {
    let expected =
        |what: &str| Ignored::new(ItemKind::IndexedDb, place, format!("expected {what}"));
    let name = json.get_text("name").ok_or_else(|| expected("a name"))?.clone();
    let version = version(json).ok_or_else(|| expected("a whole number from 1 as version"))?;
    let list = json.get_list("stores").ok_or_else(|| expected("stores as an array"))?;
    let mut stores = Vec::with_capacity(list.len());
    for (position, item) in list.iter().enumerate() {
        let place = format!("{place} stores[{position}]");
        match read_store(item, &place, ignored) {
            Some(store) => stores.push(store),
            None => ignored.push(Ignored::new(
                ItemKind::IndexedDb,
                place,
                "expected a name, records, indexes and a key path that is a string or strings",
            )),
        }
    }
    ignored.extend(told(unknown(json), place));
    Ok(Database { name, version, stores })
}

/// The members that nobody here knows, of the database and of all in it.
fn unknown(database: &Json) -> Unknown {
    let mut unknown = Unknown::default();
    let mut look = |json: &Json, known: &[&str]| {
        json.look(&mut unknown, |name| known.contains(&name));
    };
    look(database, &["name", "version", "stores"]);
    for store in database.get_list("stores").unwrap_or_default() {
        let own = ["name", "keyPath", "keyPathArray", "autoIncrement", "indexes", "records"];
        look(store, &own);
        for index in store.get_list("indexes").unwrap_or_default() {
            look(index, &["name", "keyPath", "keyPathArray", "multiEntry", "unique"]);
        }
        for record in store.get_list("records").unwrap_or_default() {
            look(record, &["key", "keyEncoded", "value", "valueEncoded"]);
        }
    }
    unknown
}

fn version(json: &Json) -> Option<u64> {
    let Json::Number(version) = json.get("version")? else {
        return None;
    };
    #[expect(clippy::cast_precision_loss, reason = "exact up to here")]
    let valid = version.fract() == 0.0 && (1.0..=LAST_VERSION as f64).contains(version);
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "in range")]
    valid.then_some(*version as u64)
}

fn read_store(json: &Json, place: &str, ignored: &mut Vec<Ignored>) -> Option<ObjectStore> {
    let key_path = read_key_path(json)?;
    let auto_increment = json.get_bool("autoIncrement").unwrap_or(false);
    let indexes = json.get_list("indexes")?.iter().map(read_index).collect::<Option<_>>()?;
    let mut records = Vec::new();
    for (position, item) in json.get_list("records")?.iter().enumerate() {
        match read_record(item, key_path.as_ref()) {
            Ok(record) => records.push(record),
            Err(expected) => {
                let place = format!("{place} records[{position}]");
                ignored.push(Ignored::new(
                    ItemKind::IndexedDb,
                    place,
                    format!("expected {expected}"),
                ));
            }
        }
    }
    let next_key = auto_increment.then(|| next_key(&records));
    let name = json.get_text("name")?.clone();
    Some(ObjectStore { name, key_path, auto_increment, next_key, indexes, records })
}

/// No key path is `Some(None)`, a broken one `None`.
#[expect(clippy::option_option, reason = "private, and both are told apart at once")]
fn read_key_path(json: &Json) -> Option<Option<KeyPath>> {
    if let Some(paths) = json.get("keyPathArray") {
        let Json::Array(paths) = paths else {
            return None;
        };
        let text = |path: &Json| {
            if let Json::Text(text) = path { Some(text.clone()) } else { None }
        };
        return Some(Some(KeyPath::Many(paths.iter().map(text).collect::<Option<_>>()?)));
    }
    match json.get("keyPath") {
        None | Some(Json::Null) => Some(None),
        Some(Json::Text(path)) => Some(Some(KeyPath::One(path.clone()))),
        Some(_) => None,
    }
}

fn read_index(json: &Json) -> Option<Index> {
    Some(Index {
        name: json.get_text("name")?.clone(),
        key_path: read_key_path(json)??,
        unique: json.get_bool("unique")?,
        multi_entry: json.get_bool("multiEntry")?,
    })
}

fn read_record(json: &Json, key_path: Option<&KeyPath>) -> Result<Record, &'static str> {
    let value = decode(json.get("value"), json.get("valueEncoded"))?;
    let key = match key_path {
        Some(path) => key_of(&value, path),
        None => canonical(&decode(json.get("key"), json.get("keyEncoded"))?),
    };
    Ok(Record { key: key.ok_or("a valid key")?, value })
}

/// Writes one database of `origin`; `None` when its version is none that a page can ask for.
pub(super) fn write(database: &Database, origin: &str, lost: &mut Vec<Lost>) -> Option<Json> {
    let place = format!("{origin} indexedDB {}", database.name.to_lossy());
    if !(1..=LAST_VERSION).contains(&database.version) {
        lost.push(Lost::new(
            ItemKind::IndexedDb,
            place,
            "left out: expected a version from 1 to 2^53 - 1",
        ));
        return None;
    }
    let stores = database.stores.iter().map(|store| write_store(store, &place, lost)).collect();
    #[expect(clippy::cast_precision_loss, reason = "exact up to the last version")]
    let version = Json::Number(database.version as f64);
    Some(Json::object([
        ("name", Json::Text(database.name.clone())),
        ("version", version),
        ("stores", Json::Array(stores)),
    ]))
}

fn write_store(store: &ObjectStore, place: &str, lost: &mut Vec<Lost>) -> Json {
    let place = format!("{place}/{}", store.name.to_lossy());
    let mut members: Vec<(Text, Json)> = vec![("name".into(), Json::Text(store.name.clone()))];
    members.extend(store.key_path.as_ref().map(write_key_path));
    members.push(("autoIncrement".into(), Json::Bool(store.auto_increment)));
    let indexes = store.indexes.iter().map(write_index).collect();
    members.push(("indexes".into(), Json::Array(indexes)));
    let mut records = Vec::with_capacity(store.records.len());
    let mut written = Vec::with_capacity(store.records.len());
    for (position, record) in store.records.iter().enumerate() {
        let place = || format!("{place} record {position}");
        match write_record(record, store.key_path.as_ref()) {
            Ok((json, notes)) => {
                records.push(json);
                written.push(record);
                lost.extend(
                    notes.into_iter().map(|note| Lost::new(ItemKind::IndexedDb, place(), note)),
                );
            }
            Err(expected) => {
                lost.push(Lost::new(
                    ItemKind::IndexedDb,
                    place(),
                    format!("left out: the format takes {expected}"),
                ));
            }
        }
    }
    members.push(("records".into(), Json::Array(records)));
    let implied = next_key(written);
    if let Some(next) = store.next_key.filter(|next| *next != implied) {
        let reason = format!("its keys go on at {implied}, not at {next}");
        lost.push(Lost::new(ItemKind::IndexedDb, place, reason));
    }
    Json::Object(members)
}

fn write_key_path(path: &KeyPath) -> (Text, Json) {
    match path {
        KeyPath::One(path) => ("keyPath".into(), Json::Text(path.clone())),
        KeyPath::Many(paths) => {
            let paths = paths.iter().cloned().map(Json::Text).collect();
            ("keyPathArray".into(), Json::Array(paths))
        }
    }
}

fn write_index(index: &Index) -> Json {
    Json::Object(vec![
        ("name".into(), Json::Text(index.name.clone())),
        write_key_path(&index.key_path),
        ("multiEntry".into(), Json::Bool(index.multi_entry)),
        ("unique".into(), Json::Bool(index.unique)),
    ])
}

fn write_record(
    record: &Record,
    key_path: Option<&KeyPath>,
) -> Result<(Json, Vec<&'static str>), &'static str> {
    let mut members = Vec::with_capacity(2);
    let key = canonical(&record.key).ok_or("valid keys")?;
    match key_path {
        Some(path) if key_of(&record.value, path).as_ref() != Some(&key) => {
            return Err("a key that stands in the value at the key path");
        }
        Some(_) => {}
        None => members.push(stand(&mut encode(&key)?, "key", "keyEncoded")),
    }
    let mut value = encode(&record.value)?;
    members.push(stand(&mut value, "value", "valueEncoded"));
    Ok((Json::Object(members), value.notes))
}

/// The member in which an encoded value stands.
fn stand(encoded: &mut Encoded, plain: &str, other: &str) -> (Text, Json) {
    let name = if encoded.plain { plain } else { other };
    (name.into(), std::mem::replace(&mut encoded.json, Json::Null))
}
