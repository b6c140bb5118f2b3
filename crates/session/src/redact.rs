//! Secrets hidden: the same state, with a marker in the place of every value.
//!
//! Names, keys, sizes and shapes stay, so what is left still shows what a session holds. A marker
//! is never marked again, so redacting twice changes nothing.

use crate::cookie::Cookie;
use crate::state::{Environment, OriginState, State};
use crate::storage::Entries;
use crate::stored::{
    Cache, CacheEntry, CachedResponse, Database, FileContent, FileEntry, Record, Registration,
};
use crate::tab::{History, HistoryEntry, Tab};
use crate::text::Text;
use crate::value::{Node, Object, Value};
use baton_redaction::{ShownAddress, shown_title};

/// The state without its secrets: the values of cookies, localStorage, sessionStorage and
/// IndexedDB and `history.state`, what caches, files and the scripts of workers hold, what the URLs of
/// tabs carry beside their paths, and the password of a proxy.
#[must_use]
pub fn redact(state: &State) -> State {
    State {
        cookies: state.cookies.iter().map(redact_cookie).collect(),
        origins: state
            .origins
            .iter()
            .map(|(key, origin)| (key.clone(), redact_origin(origin)))
            .collect(),
        tabs: state.tabs.iter().map(redact_tab).collect(),
        environment: redact_environment(&state.environment),
    }
}

fn redact_environment(environment: &Environment) -> Environment {
    let mut environment = environment.clone();
    let egress = environment.egress.as_mut();
    if let Some(credentials) = egress.and_then(|egress| egress.credentials.as_mut()) {
        credentials.password = redact_str(&credentials.password);
    }
    environment
}

/// The marker of something that is `size` characters or bytes long.
fn marker(size: usize, unit: &str) -> String {
    format!("[redacted: {size} {unit}]")
}

/// Whether it is a marker already.
fn is_marker(text: &str) -> bool {
    let inside = text.strip_prefix("[redacted: ").and_then(|rest| rest.strip_suffix(']'));
    inside.is_some_and(|inside| match inside.split_once(' ') {
        Some((size, "characters" | "bytes")) => size.parse::<u32>().is_ok(),
        _ => matches!(inside, "number" | "bigint" | "date"),
    })
}

fn redact_str(text: &str) -> String {
    if text.is_empty() || is_marker(text) {
        return text.to_owned();
    }
    marker(text.chars().count(), "characters")
}

fn redact_text(text: &Text) -> Text {
    match text.as_str() {
        Some(text) => redact_str(text).into(),
        None => marker(text.len(), "characters").into(),
    }
}

/// Base64 by the number of bytes it stands for.
fn redact_base64(base64: &str) -> String {
    if base64.is_empty() || is_marker(base64) {
        return base64.to_owned();
    }
    marker(base64.trim_end_matches('=').len() * 3 / 4, "bytes")
}

fn redact_cookie(cookie: &Cookie) -> Cookie {
    Cookie { value: redact_str(&cookie.value), ..cookie.clone() }
}

fn redact_entries(entries: &Entries) -> Entries {
    Entries(entries.0.iter().map(|(key, value)| (key.clone(), redact_text(value))).collect())
}

fn redact_origin(origin: &OriginState) -> OriginState {
    OriginState {
        local_storage: redact_entries(&origin.local_storage),
        databases: origin.databases.iter().map(redact_database).collect(),
        caches: origin.caches.iter().map(redact_cache).collect(),
        files: origin.files.iter().map(redact_file).collect(),
        raw: origin.raw.iter().map(redact_file).collect(),
        service_workers: origin.service_workers.iter().map(redact_registration).collect(),
    }
}

fn redact_database(database: &Database) -> Database {
    let mut database = database.clone();
    for store in &mut database.stores {
        for Record { value, .. } in &mut store.records {
            *value = redact_value(value);
        }
    }
    database
}

fn redact_tab(tab: &Tab) -> Tab {
    let storage = tab.session_storage.iter();
    Tab {
        url: ShownAddress::of(&tab.url).into(),
        title: shown_title(&tab.title, &tab.url),
        session_storage: storage.map(|(key, all)| (key.clone(), redact_entries(all))).collect(),
        history: redact_history(&tab.history),
        ..tab.clone()
    }
}

fn redact_history(history: &History) -> History {
    let redact = |entry: &HistoryEntry| HistoryEntry {
        url: ShownAddress::of(&entry.url).into(),
        title: shown_title(&entry.title, &entry.url),
        state: entry.state.as_ref().map(redact_value),
        ..entry.clone()
    };
    History { entries: history.entries.iter().map(redact).collect(), ..*history }
}

fn redact_value(value: &Value) -> Value {
    let heap = value.heap.iter().map(redact_object).collect();
    Value { root: redact_node(&value.root), heap }
}

fn redact_node(node: &Node) -> Node {
    match node {
        Node::Undefined | Node::Null | Node::Bool(_) | Node::Ref(_) => node.clone(),
        Node::Number(_) => Node::String("[redacted: number]".into()),
        Node::BigInt(_) => Node::String("[redacted: bigint]".into()),
        Node::String(text) => Node::String(redact_text(text)),
    }
}

fn redact_entry((name, node): &(Text, Node)) -> (Text, Node) {
    (name.clone(), redact_node(node))
}

fn redact_object(object: &Object) -> Object {
    let mut object = object.clone();
    match &mut object {
        Object::Object { entries } | Object::Array { entries, .. } => {
            *entries = entries.iter().map(redact_entry).collect();
        }
        Object::Map { entries } => {
            for (key, value) in entries {
                (*key, *value) = (redact_node(key), redact_node(value));
            }
        }
        Object::Set { values } => {
            for value in values {
                *value = redact_node(value);
            }
        }
        Object::Date { time } => *time = Node::String("[redacted: date]".into()),
        Object::Regexp { source, .. } => *source = redact_text(source),
        Object::Error { message, stack, cause, .. } => {
            for node in [message, stack, cause] {
                *node = redact_node(node);
            }
        }
        Object::Boxed { value } => *value = redact_node(value),
        Object::ArrayBuffer { bytes, .. } | Object::Blob { bytes, .. } => {
            *bytes = redact_base64(bytes);
        }
        Object::File { name, bytes, .. } => {
            (*name, *bytes) = (redact_text(name), redact_base64(bytes));
        }
        Object::CryptoKey { jwk, .. } => *jwk = redact_str(jwk),
        Object::View { .. } | Object::Lost { .. } => {}
    }
    object
}

// A response or a file may hold anything, and so may a header; names, addresses and sizes stay.
fn redact_cache(cache: &Cache) -> Cache {
    let entries = cache.entries.iter().map(redact_cache_entry).collect();
    Cache { name: cache.name.clone(), position: cache.position, entries }
}

fn redact_cache_entry(entry: &CacheEntry) -> CacheEntry {
    let mut response = entry.response.clone();
    if let CachedResponse::Whole { headers, body, .. } = &mut response {
        *headers = redact_headers(headers);
        *body = redact_base64(body);
    }
    CacheEntry {
        url: ShownAddress::of(&entry.url).into(),
        headers: redact_headers(&entry.headers),
        response,
    }
}

fn redact_headers(headers: &[(String, String)]) -> Vec<(String, String)> {
    headers.iter().map(|(name, value)| (name.clone(), redact_str(value))).collect()
}

fn redact_file(entry: &FileEntry) -> FileEntry {
    let mut entry = entry.clone();
    if let FileContent::File { bytes } = &mut entry.content {
        *bytes = redact_base64(bytes);
    }
    entry
}

fn redact_registration(registration: &Registration) -> Registration {
    let mut registration = registration.clone();
    registration.scope = ShownAddress::of(&registration.scope).into();
    registration.script_url = ShownAddress::of(&registration.script_url).into();
    let header = &mut registration.navigation_preload.header;
    *header = redact_str(header);
    for script in &mut registration.scripts {
        script.url = ShownAddress::of(&script.url).into();
        script.source = redact_text(&script.source);
    }
    registration
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_title_that_is_the_address_is_shown_like_one() {
        let url = "https://shop.test/page?token=s3cret#access_token=s3cret";
        for title in [
            url,
            "shop.test/page?token=s3cret#access_token=s3cret",
            "shop.test/page?token=s3cret",
            "https://other.test/?code=s3cret",
        ] {
            let shown = shown_title(title, url);
            assert!(!shown.contains("s3cret"), "{shown}");
        }
        for title in ["", "Shop", "What is a=b? A shop"] {
            assert_eq!(shown_title(title, url), title);
        }
    }
}
