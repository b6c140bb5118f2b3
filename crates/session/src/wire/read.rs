//! A session file, read.

use super::checksum::of_document;
use super::error::{ReadError, field, kind};
use super::{Head, SessionFile, cookie, plain, unknown};
use crate::receipt::Receipt;
use crate::state::OriginState;
use crate::state::State;
use crate::storage::StorageKey;
use crate::tab::Tab;
use serde_json::Value;
use std::collections::BTreeMap;

/// Reads a session file. The receipt lists what in it cannot be used; what is of the wrong kind is
/// an error that names its place.
pub fn read(file: &[u8]) -> Result<(SessionFile, Receipt), ReadError> {
    let document: Value = serde_json::from_slice(file)?;
    if !document.is_object() {
        return Err(ReadError::Shape { expected: "a JSON object", found: kind(&document) });
    }
    let state = &document["state"];
    if !state.is_object() {
        let expected = "an object with state as an object";
        return Err(ReadError::Shape { expected, found: kind(state) });
    }
    let head: Head = field(&document, "")?;
    let is_whole = state.get("origins").is_some();
    if is_whole && !head.sync.checksum.is_empty() {
        let found = of_document(state, &document["tabs"]).to_string();
        let expected = head.sync.checksum.clone();
        if expected != found {
            return Err(ReadError::Checksum { expected, found });
        }
    }
    let mut receipt = unknown::tell(&document);
    let tabs: Option<Vec<Tab>> = optional(&document, "tabs", "tabs")?;
    let mut state = State {
        cookies: read_cookies(&state["cookies"])?,
        environment: optional(state, "environment", "state.environment")?.unwrap_or_default(),
        origins: read_origins(&state["origins"])?,
        tabs: tabs.unwrap_or_default(),
    };
    if !is_whole {
        plain::read(&document["state"], &mut state, &mut receipt)?;
    }
    state.normalize();
    Ok((SessionFile { head, state }, receipt))
}

/// Whether `file` looks like a session file: an object with `state`. What else is wrong with it
/// [`read`] says.
#[expect(clippy::zero_sized_map_values, reason = "a set cannot be read of an object")]
pub fn is_session_file(file: &[u8]) -> bool {
    // A member may stand twice: whatever `read` makes of it, it is a member.
    let members: Result<BTreeMap<String, serde::de::IgnoredAny>, _> = serde_json::from_slice(file);
    members.is_ok_and(|members| members.contains_key("state"))
}

/// The member called `name`, which stands at `place`; `null` is as good as none.
fn optional<T: serde::de::DeserializeOwned>(
    object: &Value,
    name: &str,
    place: &str,
) -> Result<Option<T>, ReadError> {
    match &object[name] {
        Value::Null => Ok(None),
        value => field(value, place).map(Some),
    }
}

fn read_cookies(items: &Value) -> Result<Vec<crate::cookie::Cookie>, ReadError> {
    let items = list(items, "state.cookies")?.iter().enumerate();
    items
        .map(|(position, item)| cookie::read(item, &format!("state.cookies[{position}]")))
        .collect()
}

/// The storage of every key; a key stands once.
fn read_origins(items: &Value) -> Result<BTreeMap<StorageKey, OriginState>, ReadError> {
    let mut origins = BTreeMap::new();
    for (position, item) in list(items, "state.origins")?.iter().enumerate() {
        let place = format!("state.origins[{position}]");
        let key = &item["storageKey"];
        if !key.is_string() {
            let reason = "expected a storage key such as \"https://app.test/\"";
            return Err(ReadError::at(format!("{place}.storageKey"), reason));
        }
        let key: StorageKey = field(key, &place)?;
        let origin: OriginState = field(item, &place)?;
        if origins.insert(key, origin).is_some() {
            let place = format!("{place}.storageKey");
            return Err(ReadError::at(place, "expected each storage key once, found it again"));
        }
    }
    Ok(origins)
}

fn list<'a>(value: &'a Value, place: &str) -> Result<&'a [Value], ReadError> {
    match value {
        Value::Null => Ok(&[]),
        Value::Array(items) => Ok(items),
        other => Err(ReadError::at(place, format!("expected an array, found {}", kind(other)))),
    }
}
