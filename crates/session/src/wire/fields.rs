//! What a session file is made of: its fields, plain ones, those of a cookie and those that this version
//! does not know, and the checksum of what it holds: SHA-256 over canonical JSON (RFC 8785).
//!
//! Plain fields know no origin. They are derived from the tab in front, and read from files that have
//! nothing else.
//!
//! The one idea: a state of a hundred megabytes is written and hashed a piece at a time, each with the
//! form that it has in a file, so that no copy of the whole is ever made.

use super::{SessionFileError, field};
use crate::cookie::{Cookie, Expiry, order};
use crate::id::PartHash;
use crate::json_tree::Unknown;
use crate::receipt::{ItemKind, Receipt, ReceiptItem};
use crate::state::{OriginState, State, Viewport};
use crate::storage::{Entries, StorageKey};
use crate::tab::Tab;
use crate::{certificate, json, permission};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use sha2::{Digest, Sha256};
use std::borrow::Cow;
use std::collections::BTreeMap;
use url::Url;

/// What a file without `origins` says of its state.
#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct Plain {
    url: String,
    title: String,
    viewport: Option<Viewport>,
    local_storage: BTreeMap<String, String>,
    session_storage: BTreeMap<String, String>,
    #[serde(rename = "indexedDB")]
    indexed_db: Value,
}

/// The plain fields of a state. Text that is not valid Unicode has no place in them.
pub(super) fn derive_plain(state: &State) -> Map<String, Value> {
    let blank = Tab { url: "about:blank".to_owned(), ..Tab::default() };
    let tab = state.active_tab().unwrap_or(&blank);
    let key = key_of(&tab.url);
    let local = key.as_ref().and_then(|key| state.origins.get(key));
    let session = key.as_ref().and_then(|key| tab.session_storage.get(key));
    let mut fields = Map::new();
    fields.insert("url".to_owned(), json!(tab.url));
    fields.insert("title".to_owned(), json!(tab.title));
    let viewport =
        state.environment.viewport.and_then(|viewport| serde_json::to_value(viewport).ok());
    fields.extend(viewport.map(|viewport| ("viewport".to_owned(), viewport)));
    fields.insert("localStorage".to_owned(), record(local.map(|origin| &origin.local_storage)));
    fields.insert("sessionStorage".to_owned(), record(session));
    fields
}

fn record(entries: Option<&Entries>) -> Value {
    let entries = entries.into_iter().flat_map(|entries| &entries.0);
    let plain = entries.filter_map(|(name, value)| {
        Some((name.as_str()?.to_owned(), Value::String(value.as_str()?.to_owned())))
    });
    Value::Object(plain.collect())
}

/// Reads the plain fields of `fields` into `state`: their storage belongs to the origin of their
/// address.
pub(super) fn read_plain(
    fields: &Value,
    state: &mut State,
    receipt: &mut Receipt,
) -> Result<(), SessionFileError> {
    let plain: Plain = field(fields, "state")?;
    state.environment.viewport = state.environment.viewport.or(plain.viewport);
    if state.tabs.is_empty() && !plain.url.is_empty() {
        let (url, title) = (plain.url.clone(), plain.title);
        state.tabs.push(Tab { url, title, active: true, ..Tab::default() });
    }
    if !plain.indexed_db.is_null() {
        let reason = "the plain field indexedDB has no defined form; state.origins has one";
        receipt.push(ReceiptItem::rejected(ItemKind::IndexedDb, "state.indexedDB", reason));
    }
    let mut refuse = |kind, place| {
        let reason = "expected state.url to have an origin whose storage it is";
        receipt.push(ReceiptItem::rejected(kind, place, reason));
    };
    let key = key_of(&plain.url);
    let local: Entries = plain.local_storage.into_iter().collect();
    if let Some(key) = &key {
        state.origins.entry(key.clone()).or_default().local_storage = local;
    } else if !local.is_empty() {
        refuse(ItemKind::LocalStorage, "state.localStorage");
    }
    let session: Entries = plain.session_storage.into_iter().collect();
    if let (Some(key), Some(tab)) = (key, shown(&mut state.tabs, &plain.url)) {
        tab.session_storage.insert(key, session);
    } else if !session.is_empty() {
        refuse(ItemKind::SessionStorage, "state.sessionStorage");
    }
    Ok(())
}

/// The tab that the plain fields are of: the one in front when it is at `url`, else any that is.
fn shown<'a>(tabs: &'a mut [Tab], url: &str) -> Option<&'a mut Tab> {
    let position = tabs.iter().position(|tab| tab.active && tab.url == url);
    let position = position.or_else(|| tabs.iter().position(|tab| tab.url == url))?;
    tabs.get_mut(position)
}

/// The first-party key of a page at `url`; none when its origin has no storage.
fn key_of(url: &str) -> Option<StorageKey> {
    let origin = Url::parse(url).ok()?.origin();
    origin.is_tuple().then(|| StorageKey::first_party(&origin.ascii_serialization()))
}

/// Reads the cookie that is at `place`.
///
/// It has its own form, but for the instant it ends, which is in seconds. Read is also what others
/// write: -1 for a cookie that ends with the browser, and a partition key that is only its site.
pub(super) fn read_cookie(item: &Value, place: &str) -> Result<Cookie, SessionFileError> {
    let mut item = item.clone();
    if let Some(fields) = item.as_object_mut() {
        match fields.remove("expires") {
            None | Some(Value::Null) => {}
            Some(Value::Number(seconds)) => {
                let at = seconds.as_f64().and_then(Expiry::from_seconds);
                fields.extend(at.map(|Expiry(at)| ("expires".to_owned(), json!(at))));
            }
            Some(_) => {
                let place = format!("{place}.expires");
                return Err(SessionFileError::at(place, "expected seconds since 1970, or -1"));
            }
        }
        if let Some(Value::String(site)) = fields.get("partitionKey").cloned() {
            // The default of those who write it like this.
            let ancestor = fields.get("_crHasCrossSiteAncestor") != Some(&Value::Bool(false));
            let key = json!({"topLevelSite": site, "hasCrossSiteAncestor": ancestor});
            let key = if site.is_empty() { Value::Null } else { key };
            fields.insert("partitionKey".to_owned(), key);
        }
    }
    field(&item, place)
}

/// Writes a cookie.
pub(super) fn write_cookie(cookie: &Cookie) -> Value {
    let mut item = json::value(cookie);
    if let (Some(expires), Some(fields)) = (cookie.expires, item.as_object_mut()) {
        fields.insert("expires".to_owned(), json!(expires.as_seconds()));
    }
    item
}

const DOCUMENT: &[&str] = &["id", "name", "description", "origin", "sync", "state", "tabs"];
const STATE: &[&str] = &[
    "url",
    "title",
    "viewport",
    "localStorage",
    "sessionStorage",
    "indexedDB",
    "cookies",
    "origins",
    "environment",
];
const ENVIRONMENT: &[&str] = &[
    "viewport",
    "userAgent",
    "identity",
    "browser",
    "timezone",
    "locale",
    "geolocation",
    "permissions",
    "certificates",
    "egress",
];
const COOKIE: &[&str] = &[
    "name",
    "value",
    "domain",
    "path",
    "expires",
    "httpOnly",
    "secure",
    "sameSite",
    "priority",
    "sourceScheme",
    "sourcePort",
    "partitionKey",
    "_crHasCrossSiteAncestor",
];
const ORIGIN: &[&str] =
    &["storageKey", "localStorage", "databases", "caches", "files", "serviceWorkers", "raw"];
const TAB: &[&str] = &["id", "url", "title", "active", "sessionStorage", "history"];

/// A line for each of them.
pub(super) fn tell(document: &Value) -> Receipt {
    let state = &document["state"];
    let each = |list| Value::as_array(list).into_iter().flatten().collect();
    let places: [(&str, Vec<&Value>, &[&str]); 6] = [
        ("the document", vec![document], DOCUMENT),
        ("state", vec![state], STATE),
        ("state.environment", vec![&state["environment"]], ENVIRONMENT),
        ("state.cookies", each(&state["cookies"]), COOKIE),
        ("state.origins", each(&state["origins"]), ORIGIN),
        ("tabs", each(&document["tabs"]), TAB),
    ];
    let mut receipt = Receipt::default();
    for (place, values, known) in places {
        let mut unknown = Unknown::default();
        for (name, member) in values.iter().filter_map(|value| value.as_object()).flatten() {
            if !known.contains(&name.as_str()) && !is_empty(member) {
                unknown.note(name);
            }
        }
        for line in unknown.lines() {
            receipt.push(ReceiptItem::rejected(ItemKind::Part, place, line));
        }
    }
    receipt
}

/// Whether nothing is lost with it.
fn is_empty(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::String(text) => text.is_empty(),
        Value::Array(items) => items.is_empty(),
        Value::Object(members) => members.is_empty(),
        _ => false,
    }
}

/// Fields of `state` that are derived, and so are not in the checksum.
const DERIVED: [&str; 6] =
    ["url", "title", "viewport", "localStorage", "sessionStorage", "indexedDB"];

/// What is hashed, as canonical JSON.
#[derive(Default)]
struct Canonical {
    hash: Sha256,
    /// The text of one value, in a place that is used again for the next.
    text: Vec<u8>,
}

/// The checksum that the session file of a state has.
pub fn checksum_of(state: &State) -> PartHash {
    let mut cookies: Vec<_> = state.cookies.iter().collect();
    order(&mut cookies);
    hash(state, cookies)
}

/// The checksum that a state had as long as its cookies were sorted by their keys: revisions that were
/// signed then have it for good.
pub fn checksum_by_key(state: &State) -> PartHash {
    let mut cookies: Vec<_> = state.cookies.iter().collect();
    cookies.sort_by_key(|cookie| cookie.key());
    hash(state, cookies)
}

fn hash(state: &State, cookies: Vec<&Cookie>) -> PartHash {
    let mut canonical = Canonical::default();
    let mut environment = state.environment.clone();
    permission::normalize(&mut environment.permissions);
    certificate::normalize(&mut environment.certificates);
    canonical.text(r#"{"state":{"cookies":"#);
    canonical.list(cookies.into_iter().map(write_cookie));
    canonical.text(r#","environment":"#);
    canonical.value(&environment);
    canonical.text(r#","origins":"#);
    canonical.list(keyed(state));
    canonical.text(r#"},"tabs":"#);
    canonical.list(state.tabs.iter().map(|tab| {
        let mut tab = json::value(&normal_tab(tab));
        tab.as_object_mut().map(|tab| tab.remove("id"));
        tab
    }));
    canonical.text("}");
    PartHash(canonical.hash.finalize().into())
}

impl Canonical {
    fn text(&mut self, text: &str) {
        self.hash.update(text);
    }

    /// A number that canonical JSON refuses is `null`, as it is in a file.
    fn value(&mut self, of: &impl Serialize) {
        self.text.clear();
        if serde_json_canonicalizer::to_writer(of, &mut self.text).is_err() {
            self.text = json::canonical(&json::value(of));
        }
        self.hash.update(&self.text);
    }

    fn list(&mut self, values: impl Iterator<Item = impl Serialize>) {
        self.text("[");
        for (position, value) in values.enumerate() {
            if position > 0 {
                self.text(",");
            }
            self.value(&value);
        }
        self.text("]");
    }
}

/// The part of a document that its checksum covers.
#[derive(Serialize)]
struct Covered<'a> {
    state: BTreeMap<&'a str, &'a Value>,
    tabs: Vec<BTreeMap<&'a str, &'a Value>>,
}

/// The checksum of a document with these two members. The ids of tabs are not in it: they mean
/// nothing to another browser.
pub(super) fn of_document(state: &Value, tabs: &Value) -> PartHash {
    let state = members(state, |name| !DERIVED.contains(&name));
    let tabs = tabs.as_array().into_iter().flatten();
    let tabs = tabs.map(|tab| members(tab, |name| name != "id")).collect();
    PartHash::of(&json::canonical(&Covered { state, tabs }))
}

fn members(object: &Value, wanted: impl Fn(&str) -> bool) -> BTreeMap<&str, &Value> {
    let all = object.as_object().into_iter().flatten();
    all.map(|(name, value)| (name.as_str(), value)).filter(|(name, _)| wanted(name)).collect()
}

/// What a storage key holds, as a file has it.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Keyed<'a> {
    storage_key: &'a StorageKey,
    #[serde(flatten)]
    origin: Cow<'a, OriginState>,
}

/// Those storage keys that hold something.
///
/// What is written has this form, and so has what its checksum covers.
pub(super) fn keyed(state: &State) -> impl Iterator<Item = Keyed<'_>> {
    let full = state.origins.iter().filter(|(_, origin)| !origin.is_empty());
    full.map(|(storage_key, origin)| Keyed { storage_key, origin: origin.normal() })
}

/// A tab as a file holds it. The numbers that a browser gave to the entries of a history mean nothing
/// to another one, so they do not travel; nor does storage that holds nothing.
pub(super) fn normal_tab(tab: &Tab) -> Tab {
    let mut tab = tab.clone();
    tab.session_storage.retain(|_, entries| !entries.is_empty());
    tab.history.entries.iter_mut().for_each(|entry| entry.id = 0);
    tab
}
