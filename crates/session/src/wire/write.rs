//! A session file, written.

use super::checksum::checksum_of;
use super::{SessionFile, cookie, plain};
use crate::json;
use crate::state::OriginState;
use crate::state::State;
use crate::storage::StorageKey;
use crate::tab::Tab;
use serde::Serialize;
use serde_json::{Map, Value, json};
use std::borrow::Cow;

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
    fields.insert("origins".to_owned(), keyed(&state).map(|origin| value(&origin)).collect());
    fields.insert("environment".to_owned(), value(&state.environment));
    Value::Object(fields)
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

pub(super) fn value(of: &impl Serialize) -> Value {
    json::value(of)
}
