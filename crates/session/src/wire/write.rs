//! A session file, written.

use super::{SessionFile, checksum_of, cookie, plain};
use crate::state::OriginState;
use crate::{State, StorageKey, Tab};
use serde::Serialize;
use serde_json::{Map, Value, json};

/// Writes a session file; its checksum is made here.
pub fn write(file: &SessionFile) -> String {
    let mut document = value(&file.head);
    document["sync"]["checksum"] = json!(checksum_of(&file.state));
    document["state"] = write_state(&file.state);
    document["tabs"] = file.state.tabs.iter().map(|tab| value(&normal_tab(tab))).collect();
    document.to_string()
}

fn write_state(state: &State) -> Value {
    let mut state = state.clone();
    state.normalize();
    let mut fields: Map<String, Value> = plain::derive(&state);
    fields.insert("cookies".to_owned(), state.cookies.iter().map(cookie::write).collect());
    let origins = state.origins.iter().filter_map(|(key, origin)| write_origin(key, origin));
    fields.insert("origins".to_owned(), origins.collect());
    fields.insert("environment".to_owned(), value(&state.environment));
    Value::Object(fields)
}

/// What a storage key holds; none when it holds nothing.
pub(super) fn write_origin(key: &StorageKey, origin: &OriginState) -> Option<Value> {
    let mut origin = origin.clone();
    origin.normalize();
    if origin.is_empty() {
        return None;
    }
    let mut fields = value(&origin);
    fields["storageKey"] = value(key);
    Some(fields)
}

/// A tab as a file holds it. The numbers that a browser gave to the entries of a history mean nothing
/// to another one, so they do not travel; nor does storage that holds nothing.
pub(super) fn normal_tab(tab: &Tab) -> Tab {
    let mut tab = tab.clone();
    tab.session_storage.retain(|_, entries| !entries.is_empty());
    tab.history.entries.iter_mut().for_each(|entry| entry.id = 0);
    tab
}

/// Our own types have string keys only, so this cannot fail.
pub(super) fn value(of: &impl Serialize) -> Value {
    serde_json::to_value(of).unwrap_or_default()
}
