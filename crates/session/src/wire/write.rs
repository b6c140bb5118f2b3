//! A session file, written.

use super::checksum::checksum_of;
use super::normal::{keyed, normal_tab};
use super::{SessionFile, cookie, plain};
use crate::json;
use crate::state::State;
use serde_json::{Map, Value, json};

/// Writes a session file; its checksum is made here.
pub fn write(file: &SessionFile) -> String {
    let mut document = json::value(&file.head);
    document["sync"]["checksum"] = json!(checksum_of(&file.state));
    document["state"] = write_state(&file.state);
    document["tabs"] = file.state.tabs.iter().map(|tab| json::value(&normal_tab(tab))).collect();
    document.to_string()
}

fn write_state(state: &State) -> Value {
    let mut state = state.clone();
    state.normalize();
    let mut fields: Map<String, Value> = plain::derive(&state);
    fields.insert("cookies".to_owned(), state.cookies.iter().map(cookie::write).collect());
    fields.insert("origins".to_owned(), keyed(&state).map(|origin| json::value(&origin)).collect());
    fields.insert("environment".to_owned(), json::value(&state.environment));
    Value::Object(fields)
}
