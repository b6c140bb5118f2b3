//! The checksum of what a session file holds: SHA-256 over canonical JSON (RFC 8785).
//!
//! The one idea: a state of a hundred megabytes is written and hashed a piece at a time, each with the
//! form that it has in a file, so that no copy of the whole is ever made.

use super::cookie;
use super::write::{normal_tab, value, write_origin};
use crate::{PartHash, State, permission};
use serde::Serialize;
use serde_json::Value;
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;

/// Fields of `state` that are derived, and so are not in the checksum.
const DERIVED: [&str; 6] =
    ["url", "title", "viewport", "localStorage", "sessionStorage", "indexedDB"];

/// What is hashed, as canonical JSON.
struct Canonical(Sha256);

/// The checksum that the session file of a state has.
pub fn checksum_of(state: &State) -> PartHash {
    let mut canonical = Canonical(Sha256::new());
    let mut cookies: Vec<_> = state.cookies.iter().collect();
    cookies.sort_by_key(|cookie| cookie.key());
    let mut environment = state.environment.clone();
    permission::normalize(&mut environment.permissions);
    canonical.text(r#"{"state":{"cookies":"#);
    canonical.list(cookies.into_iter().map(cookie::write));
    canonical.text(r#","environment":"#);
    canonical.value(&value(&environment));
    canonical.text(r#","origins":"#);
    canonical.list(state.origins.iter().filter_map(|(key, origin)| write_origin(key, origin)));
    canonical.text(r#"},"tabs":"#);
    canonical.list(state.tabs.iter().map(|tab| {
        let mut tab = value(&normal_tab(tab));
        tab.as_object_mut().map(|tab| tab.remove("id"));
        tab
    }));
    canonical.text("}");
    PartHash(canonical.0.finalize().into())
}

impl Canonical {
    fn text(&mut self, text: &str) {
        self.0.update(text);
    }

    /// A number that canonical JSON refuses is refused by every writer alike.
    fn value(&mut self, value: &Value) {
        self.0.update(canonical(value));
    }

    fn list(&mut self, values: impl Iterator<Item = Value>) {
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

/// What stands in the place of a state's checksum when its session was deleted: SHA-256 of the
/// canonical JSON `{"deleted":true}`.
pub fn deleted_checksum() -> PartHash {
    PartHash::of(br#"{"deleted":true}"#)
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
    PartHash::of(&canonical(&Covered { state, tabs }))
}

fn members(object: &Value, wanted: impl Fn(&str) -> bool) -> BTreeMap<&str, &Value> {
    let all = object.as_object().into_iter().flatten();
    all.map(|(name, value)| (name.as_str(), value)).filter(|(name, _)| wanted(name)).collect()
}

fn canonical(value: &impl Serialize) -> Vec<u8> {
    serde_json_canonicalizer::to_vec(value)
        .or_else(|_| serde_json::to_vec(value))
        .unwrap_or_default()
}
