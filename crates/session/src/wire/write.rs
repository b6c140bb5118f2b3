//! A session file, written.

use super::{SessionFile, checksum, cookie, plain};
use crate::{PartHash, State};
use serde::Serialize;
use serde_json::{Map, Value, json};

/// Writes a session file; its checksum is made here.
pub fn write(file: &SessionFile) -> String {
    let mut document = value(&file.head);
    let Held { state, tabs } = held(&file.state);
    document["sync"]["checksum"] = json!(checksum(&state, &tabs));
    document["state"] = state;
    document["tabs"] = tabs;
    document.to_string()
}

/// The checksum that the session file of a state has.
pub fn checksum_of(state: &State) -> PartHash {
    let Held { state, tabs } = held(state);
    checksum(&state, &tabs)
}

/// What stands in the place of a state's checksum when its session was deleted: SHA-256 of the
/// canonical JSON `{"deleted":true}`.
pub fn deleted_checksum() -> PartHash {
    PartHash::of(br#"{"deleted":true}"#)
}

/// A state as a session file holds it.
struct Held {
    state: Value,
    tabs: Value,
}

/// The numbers that a browser gave to the entries of a history mean nothing to another one, so they
/// do not travel.
fn held(state: &State) -> Held {
    let mut state = state.clone();
    state.normalize();
    for tab in &mut state.tabs {
        tab.history.entries.iter_mut().for_each(|entry| entry.id = 0);
    }
    Held { state: write_state(&state), tabs: value(&state.tabs) }
}

fn write_state(state: &State) -> Value {
    let mut fields: Map<String, Value> = plain::derive(state);
    fields.insert("cookies".to_owned(), state.cookies.iter().map(cookie::write).collect());
    let origins = state.origins.iter().map(|(key, origin)| {
        let mut origin = value(origin);
        origin["storageKey"] = value(key);
        origin
    });
    fields.insert("origins".to_owned(), origins.collect());
    fields.insert("environment".to_owned(), value(&state.environment));
    Value::Object(fields)
}

/// Our own types have string keys only, so this cannot fail.
fn value(of: &impl Serialize) -> Value {
    serde_json::to_value(of).unwrap_or_default()
}
