//! One IndexedDB database of a `storageState` file.
//!
//! The format has no key for a record of a store with a key path, and no position for a key generator: a
//! look into the value finds both, and what differs from what it finds is a loss.

use super::decode::{decode, view_bytes};
use super::encode::{Encoded, encode};
use super::{Ignored, Lost, ignored_members};
use crate::json_tree::{Json, MAX_VALUE_DEPTH, Unknown};
use crate::receipt::ItemKind;
use crate::stored::{Database, Index, KeyPath, ObjectStore, Record, next_key};
use crate::text::Text;
use crate::value::{Node, Number, Object, Value};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;

/// The last version that a page can ask for: 2^53 − 1.
const LAST_VERSION: u64 = (1 << 53) - 1;

/// Reads one database, which is at `place` in the file.
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
    ignored.extend(ignored_members(unknown(json), place));
    Ok(Database { name, version, stores })
}

/// The members that this version does not know, of the database and of all in it.
fn unknown(database: &Json) -> Unknown {
    let mut unknown = Unknown::default();
    let mut look = |json: &Json, known: &[&str]| {
        json.note_unknown(&mut unknown, |name| known.contains(&name));
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

/// The member that holds an encoded value.
fn stand(encoded: &mut Encoded, plain: &str, other: &str) -> (Text, Json) {
    let name = if encoded.plain { plain } else { other };
    (name.into(), std::mem::replace(&mut encoded.json, Json::Null))
}

/// The key that a path finds in a value; `None` when there is none.
///
/// The format leaves a key out when the value has it: "evaluate a key path on a value" of the Indexed
/// Database API.
pub(super) fn key_of(value: &Value, path: &KeyPath) -> Option<Value> {
    let mut copier = Copier { value, heap: Vec::new() };
    let root = match path {
        KeyPath::One(path) => copier.key(&evaluate(value, path)?, 0)?,
        KeyPath::Many(paths) => {
            let nodes: Option<Vec<Node>> = paths.iter().map(|path| evaluate(value, path)).collect();
            copier.array(&nodes?, 0)?
        }
    };
    Some(Value { root, heap: copier.heap })
}

/// A key in its one form: views are buffers, −0 is 0, the heap is in the order of reading.
pub(super) fn canonical(key: &Value) -> Option<Value> {
    key_of(key, &KeyPath::One("".into()))
}

/// What is in `value` at `path`.
fn evaluate(value: &Value, path: &Text) -> Option<Node> {
    let path = path.as_str()?;
    if path.is_empty() {
        return Some(value.root.clone());
    }
    path.split('.').try_fold(value.root.clone(), |node, name| member(value, &node, name))
}

fn member(value: &Value, node: &Node, name: &str) -> Option<Node> {
    let number = |length| Some(Node::Number(Number(length)));
    #[expect(clippy::cast_precision_loss, reason = "no string is that long")]
    match node {
        Node::String(text) if name == "length" => number(text.len() as f64),
        Node::Ref(position) => match value.heap.get(*position)? {
            Object::Array { length, .. } if name == "length" => number(f64::from(*length)),
            Object::Object { entries } | Object::Array { entries, .. } => {
                let mut entries = entries.iter().rev();
                entries.find(|(key, _)| key.as_str() == Some(name)).map(|(_, node)| node.clone())
            }
            _ => None,
        },
        _ => None,
    }
}

/// Copies what is a valid key into a heap of its own.
struct Copier<'a> {
    value: &'a Value,
    heap: Vec<Object>,
}

impl Copier<'_> {
    fn key(&mut self, node: &Node, depth: usize) -> Option<Node> {
        let position = match node {
            Node::Number(Number(number)) if number.is_nan() => return None,
            Node::Number(Number(0.0)) => return Some(Node::Number(Number(0.0))),
            Node::Number(_) | Node::String(_) => return Some(node.clone()),
            Node::Ref(position) if depth < MAX_VALUE_DEPTH => *position,
            _ => return None,
        };
        let value = self.value;
        let object = value.heap.get(position)?;
        match object {
            Object::Date { time: Node::Number(Number(time)) } if !time.is_nan() => {
                Some(self.push(object.clone()))
            }
            Object::ArrayBuffer { bytes, .. } => {
                Some(self.push(Object::ArrayBuffer { bytes: bytes.clone(), max: None }))
            }
            Object::View { .. } => {
                let bytes = STANDARD.encode(view_bytes(value, object)?.0);
                Some(self.push(Object::ArrayBuffer { bytes, max: None }))
            }
            Object::Array { length, entries } if usize::try_from(*length) == Ok(entries.len()) => {
                let nodes: Vec<Node> = entries.iter().map(|(_, node)| node.clone()).collect();
                self.array(&nodes, depth + 1)
            }
            _ => None,
        }
    }

    fn push(&mut self, object: Object) -> Node {
        self.heap.push(object);
        Node::Ref(self.heap.len() - 1)
    }

    fn array(&mut self, nodes: &[Node], depth: usize) -> Option<Node> {
        let position = self.heap.len();
        let length = u32::try_from(nodes.len()).ok()?;
        self.heap.push(Object::Array { length, entries: Vec::new() });
        let mut filled = Vec::with_capacity(nodes.len());
        for (index, node) in nodes.iter().enumerate() {
            filled.push((index.to_string().into(), self.key(node, depth)?));
        }
        self.heap[position] = Object::Array { length, entries: filled };
        Some(Node::Ref(position))
    }
}
