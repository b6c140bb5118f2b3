//! A session file, written.

use super::{SessionFile, checksum, cookie, plain};
use crate::State;
use serde::Serialize;
use serde_json::{Map, Value, json};

/// Writes a session file; its checksum is made here.
pub fn write(file: &SessionFile) -> String {
    let mut state = file.state.clone();
    state.normalize();
    let mut document = value(&file.head);
    document["state"] = write_state(&state);
    document["tabs"] = value(&state.tabs);
    document["sync"]["checksum"] = json!(checksum(&document));
    document.to_string()
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
