//! Playwright's `storageState` JSON, in and out, exactly wherever it can say a thing.
//!
//! The format knows cookies, localStorage, IndexedDB and files of first parties. What it has no word for
//! is listed as [`Lost`] when a state is written, and what cannot be used is listed as [`Ignored`]
//! when a file is read; neither ever costs the rest, and neither ever holds a value. The source of
//! the format is playwright-core 1.65: `storageScript` and `utilityScriptSerializers`.

mod cookie;
mod decode;
mod encode;
mod files;
mod indexed_db;
mod json;
mod key;
mod origin;
mod parse;
mod plain;
mod typed_array;

use crate::receipt::{ItemKind, ReceiptItem};
use crate::{Cookie, State};
use json::Json;
use std::collections::BTreeMap;

/// Something in a file that was not taken over.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ignored {
    /// What it is; a part when the file does not say.
    pub kind: ItemKind,
    /// Where in the file, by names; never a value.
    pub place: String,
    /// Why, with what was expected.
    pub reason: String,
}

/// Something in a state that the file does not say, or not exactly.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Lost {
    /// What it is.
    pub kind: ItemKind,
    /// Where in the state, by names; never a value.
    pub place: String,
    /// Why, and whether it was left out or changed.
    pub reason: String,
    /// Whether the format has no word at all for such a thing.
    pub unsayable: bool,
}

impl Ignored {
    fn new(kind: ItemKind, place: impl Into<String>, reason: impl Into<String>) -> Self {
        Self { kind, place: place.into(), reason: reason.into() }
    }
}

impl Lost {
    fn new(kind: ItemKind, place: impl Into<String>, reason: impl Into<String>) -> Self {
        Self { kind, place: place.into(), reason: reason.into(), unsayable: false }
    }

    fn unsayable(kind: ItemKind, place: impl Into<String>, reason: impl Into<String>) -> Self {
        Self { unsayable: true, ..Self::new(kind, place, reason) }
    }
}

impl From<Ignored> for ReceiptItem {
    fn from(ignored: Ignored) -> Self {
        Self::rejected(ignored.kind, ignored.place, ignored.reason)
    }
}

impl From<Lost> for ReceiptItem {
    /// What the format has no word for is not portable; the rest is rejected.
    fn from(lost: Lost) -> Self {
        let Lost { kind, place, reason, unsayable } = lost;
        if unsayable {
            Self::not_portable(kind, place, reason)
        } else {
            Self::rejected(kind, place, reason)
        }
    }
}

/// A file that is no `storageState` at all.
#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    /// Not even JSON.
    #[error("expected a storageState file in JSON, found something else: {0}")]
    Json(#[from] serde_json::Error),
    /// JSON, but of another shape.
    #[error("expected {expected}, found {found}; is this a Playwright storageState file?")]
    Shape {
        /// What should be there.
        expected: &'static str,
        /// The kind of JSON that is there.
        found: &'static str,
    },
}

/// Reads a `storageState` file. The state holds everything in it that can be used; the rest is
/// listed beside it.
pub fn read(file: &[u8]) -> Result<(State, Vec<Ignored>), ReadError> {
    let file = parse::parse(file)?;
    if !matches!(file, Json::Object(_)) {
        return Err(ReadError::Shape { expected: "a JSON object", found: file.kind() });
    }
    if file.get("cookies").is_none() && file.get("origins").is_none() {
        let found = "an object with neither";
        return Err(ReadError::Shape { expected: "an object with cookies or origins", found });
    }
    let mut state = State::default();
    let mut ignored = Vec::new();
    state.cookies = read_cookies(list(&file, "cookies", "cookies as an array")?, &mut ignored);
    for (position, origin) in list(&file, "origins", "origins as an array")?.iter().enumerate() {
        let place = format!("origins[{position}]");
        origin::read(origin, place, &mut state.origins, &mut ignored);
    }
    if file.get("credentials").is_some() {
        ignored.push(Ignored::new(ItemKind::Part, "credentials", "passkeys are not kept"));
    }
    state.normalize();
    Ok((state, ignored))
}

/// Writes a `storageState` file, and lists what it does not say.
pub fn write(state: &State) -> (String, Vec<Lost>) {
    let mut lost = Vec::new();
    let cookies = write_cookies(&state.cookies, &mut lost);
    let origins = state
        .origins
        .iter()
        .filter_map(|(key, origin)| origin::write(key, origin, &mut lost))
        .collect();
    lose_tabs(state, &mut lost);
    let file = Json::object([("cookies", cookies), ("origins", Json::Array(origins))]);
    (crate::json::lines(&file), lost)
}

/// The array called `name`; a missing one is empty.
fn list<'a>(file: &'a Json, name: &str, expected: &'static str) -> Result<&'a [Json], ReadError> {
    match file.get(name) {
        None => Ok(&[]),
        Some(Json::Array(items)) => Ok(items),
        Some(other) => Err(ReadError::Shape { expected, found: other.kind() }),
    }
}

fn read_cookies(items: &[Json], ignored: &mut Vec<Ignored>) -> Vec<Cookie> {
    let mut cookies = BTreeMap::new();
    for (position, item) in items.iter().enumerate() {
        match cookie::read(item, position) {
            Ok(cookie) => {
                if let Some(earlier) = cookies.insert(cookie::identity(&cookie), cookie) {
                    let reason = "a later cookie in the file is the same cookie";
                    ignored.push(Ignored::new(ItemKind::Cookie, earlier.place(), reason));
                }
            }
            Err(reason) => ignored.push(reason),
        }
    }
    cookies.into_values().collect()
}

fn write_cookies(cookies: &[Cookie], lost: &mut Vec<Lost>) -> Json {
    let mut chosen: BTreeMap<_, &Cookie> = BTreeMap::new();
    for cookie in cookies {
        if !cookie::is_valid(cookie, lost) {
            continue;
        }
        let other = chosen.entry(cookie::identity(cookie)).or_insert(cookie);
        if *other != cookie {
            let reason = "left out: another cookie differs in the scheme or port that set it only";
            lost.push(Lost::new(ItemKind::Cookie, cookie.place(), reason));
            // The one that https set, where there is a choice.
            *other = if other.key() < cookie.key() { cookie } else { *other };
        }
    }
    let sourced = chosen.values().filter(|cookie| cookie::has_source(cookie)).count();
    let written = chosen.into_values().map(|cookie| cookie::write(cookie, lost)).collect();
    if sourced > 0 {
        let reason = format!("the scheme and port that set {sourced} of them have no field");
        lost.push(Lost::unsayable(ItemKind::Cookie, "cookies", reason));
    }
    Json::Array(written)
}

/// Tabs and environment: the format has no word for either.
fn lose_tabs(state: &State, lost: &mut Vec<Lost>) {
    for (position, tab) in state.tabs.iter().enumerate() {
        let place = format!("tab {position}, {}", crate::redact::redact_url(&tab.url));
        lost.push(Lost::unsayable(ItemKind::Tab, &place, "left out: the format has no tabs"));
        for key in tab.session_storage.keys() {
            let reason = format!("left out: the format has no sessionStorage (of {key})");
            lost.push(Lost::unsayable(ItemKind::SessionStorage, &place, reason));
        }
    }
    if state.environment != crate::Environment::default() {
        let reason = "left out: the format has no environment";
        lost.push(Lost::unsayable(ItemKind::Environment, "environment", reason));
    }
}
