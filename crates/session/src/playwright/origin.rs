//! One origin of a `storageState` file: localStorage, IndexedDB and files of a first party, and the
//! sessionStorage that others than Playwright write beside them; and storage beside the cookies, by its
//! origin.

use super::{Ignored, Lost, indexed_db};
use crate::json_tree::Json;
use crate::receipt::ItemKind;
use crate::state::OriginState;
use crate::storage::{Entries, StorageKey};
use crate::stored::{Database, FileContent, FileEntry};
use crate::tab::Tab;
use crate::text::Text;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use baton_redaction::ShownAddress;
use std::collections::BTreeMap;
use url::Url;

/// The members of an origin.
pub(super) const MEMBERS: [&str; 5] =
    ["origin", "localStorage", "sessionStorage", "indexedDB", "opfs"];

/// Reads one origin, which is at `place` in the file, into `origins`. Its sessionStorage is returned: that
/// belongs to a tab.
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
    let found = read_files(list(json, "opfs", &name, ignored), &name, ignored);
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
fn tuple_origin(text: &str) -> Option<String> {
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

fn kind_of(name: &str) -> ItemKind {
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
    let files = write_files(&origin.files, name, lost);
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

/// What the format has no word for, of whichever site.
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
        let place = format!("{name} service worker {}", ShownAddress::of(&registration.scope));
        let reason = "left out: the format has no service workers";
        lost.push(Lost::new(ItemKind::ServiceWorker, place, reason));
    }
}

/// Reads the three members of a document, as far as they are there.
///
/// Steel writes the context of a session like that: `localStorage` and `sessionStorage` are objects of
/// objects there. Its `indexedDB` is what lay in the browser's files, without versions, key paths and
/// indexes, so no page could open what is made of it.
pub(super) fn read_by_origin(
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

/// What is under each origin of a member.
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

const NO_BYTES: &str = "expected the bytes of a file in base64";

/// Folders and files by their paths.
///
/// `opfs` is a list of folders and files, each with its `path` from the root, names with `/` between
/// them, and each folder before what is in it (playwright-core 1.65, `_collectOPFS`).
type Tree = BTreeMap<Vec<String>, FileContent>;

/// Reads the files of the origin `name`. Folders that only the path of something names are there, too.
fn read_files(list: &[Json], name: &str, ignored: &mut Vec<Ignored>) -> Vec<FileEntry> {
    let mut tree = Tree::new();
    for (position, item) in list.iter().enumerate() {
        let added = entry(item).and_then(|(path, content)| add(&mut tree, path, content));
        if let Err(reason) = added {
            let place = format!("{name} opfs[{position}]");
            ignored.push(Ignored::new(ItemKind::Files, place, reason));
        }
    }
    tree.into_iter().map(|(path, content)| FileEntry { path, content }).collect()
}

/// What one entry says.
fn entry(item: &Json) -> Result<(Vec<String>, FileContent), &'static str> {
    let path = item.get_str("path").unwrap_or_default().split('/').map(str::to_owned).collect();
    match (item.get_str("type"), item.get_str("base64")) {
        (Some("directory"), _) => Ok((path, FileContent::Folder)),
        (Some("file"), Some(bytes)) => Ok((path, FileContent::File { bytes: bytes.to_owned() })),
        (Some("file"), None) => Err(NO_BYTES),
        _ => Err("expected a type of directory or file"),
    }
}

/// Adds one, if there is room where it shall be, and the folders above it.
fn add(tree: &mut Tree, path: Vec<String>, content: FileContent) -> Result<(), &'static str> {
    let is_name = |name: &String| !matches!(&**name, "" | "." | "..") && !name.contains('/');
    if path.is_empty() || !path.iter().all(is_name) {
        return Err("expected a path of names with '/' between them");
    }
    if let FileContent::File { bytes } = &content {
        STANDARD.decode(bytes).map_err(|_| NO_BYTES)?;
    }
    let above = || (1..path.len()).map(|end| &path[..end]);
    if above().any(|folder| matches!(tree.get(folder), Some(FileContent::File { .. }))) {
        return Err("expected a folder above it, found a file");
    }
    match (tree.get(&path), &content) {
        (Some(FileContent::Folder), FileContent::Folder) => return Ok(()),
        (Some(_), _) => return Err("expected nothing else with the same path"),
        (None, _) => {}
    }
    for folder in above() {
        if !tree.contains_key(folder) {
            tree.insert(folder.to_vec(), FileContent::Folder);
        }
    }
    tree.insert(path, content);
    Ok(())
}

/// Writes the files of the origin `name`.
fn write_files(files: &[FileEntry], name: &str, lost: &mut Vec<Lost>) -> Vec<Json> {
    let mut tree = Tree::new();
    for FileEntry { path, content } in files {
        if let Err(reason) = add(&mut tree, path.clone(), content.clone()) {
            let place = format!("{name} files {}", path.join("/"));
            lost.push(Lost::new(ItemKind::Files, place, format!("left out: {reason}")));
        }
    }
    let written = tree.into_iter().map(|(path, content)| {
        let path = Json::text(&path.join("/"));
        match content {
            FileContent::Folder => {
                Json::object([("path", path), ("type", Json::text("directory"))])
            }
            FileContent::File { bytes } => {
                let bytes = Json::text(&bytes);
                Json::object([("path", path), ("type", Json::text("file")), ("base64", bytes)])
            }
        }
    });
    written.collect()
}

/// The sessionStorage of a file, by storage key.
///
/// Such a file knows no tabs, but sessionStorage lives in a tab and ends with it: so each origin that
/// has some gets a tab at its root, in which its pages find it.
#[derive(Debug, Default)]
pub(super) struct Shown(BTreeMap<StorageKey, Entries>);

impl Shown {
    /// Notes what a key holds; what it holds already stays, unless it is named again.
    pub(super) fn add(&mut self, key: StorageKey, entries: Entries) {
        if !entries.is_empty() {
            self.0.entry(key).or_default().0.extend(entries.0);
        }
    }

    /// The tabs, the first one in front.
    pub(super) fn tabs(self) -> Vec<Tab> {
        let tab = |(position, (key, entries)): (usize, (StorageKey, Entries))| Tab {
            url: format!("{}/", key.origin()),
            active: position == 0,
            session_storage: BTreeMap::from([(key, entries)]),
            ..Tab::default()
        };
        self.0.into_iter().enumerate().map(tab).collect()
    }
}
