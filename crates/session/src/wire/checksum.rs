//! The checksum of what a session file holds: SHA-256 over canonical JSON (RFC 8785).
//!
//! The one idea: a state of a hundred megabytes is written and hashed a piece at a time, each with the
//! form that it has in a file, so that no copy of the whole is ever made.

use super::fields;
use crate::cookie::{Cookie, order};
use crate::id::PartHash;
use crate::state::{OriginState, State};
use crate::storage::StorageKey;
use crate::tab::Tab;
use crate::{certificate, json, permission};
use serde::Serialize;
use serde_json::Value;
use sha2::{Digest, Sha256};
use std::borrow::Cow;
use std::collections::BTreeMap;

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
    canonical.list(cookies.into_iter().map(fields::write_cookie));
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
