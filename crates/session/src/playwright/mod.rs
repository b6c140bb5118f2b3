//! Playwright's `storageState` JSON, in and out, exactly wherever it can say a thing.
//!
//! The format knows cookies, localStorage, IndexedDB and files of first parties. What it has no word for
//! is listed as [`Lost`] when a state is written, and what cannot be used is listed as [`Ignored`]
//! when a file is read; neither ever costs the rest, and neither ever holds a value. The source of
//! the format is playwright-core 1.65: `storageScript` and `utilityScriptSerializers`. Others write the
//! same file with a little more in it, which is read too: `sessionStorage` beside `localStorage`
//! (agent-browser, browser-use), or the storage of each origin beside the cookies (Steel).

mod cookie;
mod decode;
mod encode;
mod indexed_db;
mod origin;

use crate::cookie::{Cookie, order};
use crate::identity::{BrowserName, Identity};
use crate::json_tree::{Json, Unknown, parse};
use crate::receipt::{ItemKind, ReceiptItem};
use crate::state::State;
use baton_redaction::ShownAddress;
use std::collections::{BTreeMap, BTreeSet};

/// Something in a file that was not taken over.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ignored {
    /// What it is; a part when the file does not say.
    pub kind: ItemKind,
    /// Where in the file, by names; never a value.
    pub place: String,
    /// Why, with what was expected.
    pub reason: String,
    /// Whether it was taken all the same, but not as the file has it.
    pub changed: bool,
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
    pub(crate) fn new(kind: ItemKind, place: impl Into<String>, reason: impl Into<String>) -> Self {
        Self { kind, place: place.into(), reason: reason.into(), changed: false }
    }

    fn changed(kind: ItemKind, place: impl Into<String>, reason: impl Into<String>) -> Self {
        Self { changed: true, ..Self::new(kind, place, reason) }
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
    /// What was taken, though changed, is not portable as it is; the rest is rejected.
    fn from(ignored: Ignored) -> Self {
        let Ignored { kind, place, reason, changed } = ignored;
        if changed {
            Self::not_portable(kind, place, reason)
        } else {
            Self::rejected(kind, place, reason)
        }
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
pub enum StorageStateError {
    /// Not even JSON.
    #[error("expected a storageState file in JSON, found something else: {0}")]
    Json(#[from] serde_json::Error),
    /// JSON, but nothing of it is here.
    #[error("expected a storageState file, found {found}")]
    Other {
        /// What is there.
        found: &'static str,
    },
    /// One, but not all of it is as it should be.
    #[error("this is a storageState file; expected {expected}, found {found}")]
    Shape {
        /// What should be there.
        expected: &'static str,
        /// The kind of JSON that is there.
        found: &'static str,
    },
}

/// The members of the document itself.
const MEMBERS: [&str; 8] = [
    "cookies",
    "origins",
    "localStorage",
    "sessionStorage",
    "indexedDB",
    "credentials",
    USER_AGENT,
    LANGUAGES,
];

/// What others write beside a state: the user agent of the browser that it was taken of.
pub(crate) const USER_AGENT: &str = "userAgent";
/// The same of its languages, as `navigator.languages` has them.
pub(crate) const LANGUAGES: &str = "languages";

/// Reads a `storageState` file. The state holds everything in it that can be used; the rest is
/// listed beside it.
pub fn read(file: &[u8]) -> Result<(State, Vec<Ignored>), StorageStateError> {
    read_document(&parse(file)?)
}

/// The identity of a browser with the languages that stand in a document; none where it has no list of such.
pub(crate) fn languages(file: &Json) -> Option<Identity> {
    let given = file.get_list(LANGUAGES)?.iter();
    let tags = given.map(|item| if let Json::Text(text) = item { text.as_str() } else { None });
    Identity::of_languages(tags.collect::<Option<Vec<&str>>>()?)
}

/// Whether it is such a document, whatever else is wrong with it.
pub(crate) fn is_storage_state(file: &Json) -> bool {
    let is_there = |name| file.get(name).is_some_and(|member| !matches!(member, Json::Null));
    is_there("cookies") || is_there("origins") || is_by_origin(file)
}

/// Whether there is storage beside the cookies, by its origins.
pub(crate) fn is_by_origin(file: &Json) -> bool {
    ["localStorage", "sessionStorage", "indexedDB"].iter().any(|name| {
        file.get(name).is_some_and(|storage| {
            storage.members().iter().any(|(key, _)| key.as_str().is_some_and(origin::is_origin))
        })
    })
}

/// Reads such a document.
pub(crate) fn read_document(file: &Json) -> Result<(State, Vec<Ignored>), StorageStateError> {
    if !matches!(file, Json::Object(_)) {
        return Err(StorageStateError::Other { found: file.kind() });
    }
    if !is_storage_state(file) {
        return Err(StorageStateError::Other { found: "an object without cookies and origins" });
    }
    let mut state = State::default();
    let mut ignored = Vec::new();
    let cookies = list(file, "cookies", "cookies as an array")?;
    state.cookies = read_cookies(cookies, "cookies", &mut ignored);
    let (mut unknown, mut shown) = (Unknown::default(), origin::Shown::default());
    for (position, origin) in list(file, "origins", "origins as an array")?.iter().enumerate() {
        let place = format!("origins[{position}]");
        let session = origin::read(origin, place, &mut state.origins, &mut ignored);
        if let Some((key, entries)) = session {
            shown.add(key, entries);
        }
        origin.note_unknown(&mut unknown, |name| origin::MEMBERS.contains(&name));
    }
    ignored.extend(ignored_members(unknown, "origins"));
    origin::read_by_origin(file, &mut state.origins, &mut shown, &mut ignored);
    state.tabs = shown.tabs();
    if file.get("credentials").is_some_and(|keys| !matches!(keys, Json::Null)) {
        ignored.push(Ignored::new(ItemKind::Part, "credentials", "passkeys are not kept"));
    }
    if let Some(user_agent) = file.get_str(USER_AGENT) {
        state.environment.browser = BrowserName::of_user_agent(user_agent);
        if state.environment.browser.is_none() {
            let reason = "expected the user agent of a browser, found another text";
            ignored.push(Ignored::new(ItemKind::Environment, USER_AGENT, reason));
        }
    }
    state.environment.identity = languages(file);
    let names_some = file.get(LANGUAGES).is_some_and(|given| !given.is_empty());
    if names_some && state.environment.identity.is_none() {
        let reason = "expected a list of languages such as de-DE, found something else";
        ignored.push(Ignored::new(ItemKind::Environment, LANGUAGES, reason));
    }
    let mut unknown = Unknown::default();
    file.note_unknown(&mut unknown, |name| MEMBERS.contains(&name));
    ignored.extend(ignored_members(unknown, "the document"));
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

/// The array called `name`; a missing one is empty, and so is null.
fn list<'a>(
    file: &'a Json,
    name: &str,
    expected: &'static str,
) -> Result<&'a [Json], StorageStateError> {
    match file.get(name) {
        None | Some(Json::Null) => Ok(&[]),
        Some(Json::Array(items)) => Ok(items),
        Some(other) => Err(StorageStateError::Shape { expected, found: other.kind() }),
    }
}

/// The lines about members that this version does not know.
fn ignored_members(unknown: Unknown, place: &str) -> impl Iterator<Item = Ignored> {
    unknown.lines().into_iter().map(move |line| Ignored::new(ItemKind::Part, place, line))
}

/// Reads a list of cookies, which is at `place` in the file. Of those that are the same cookie the last one
/// counts.
pub(crate) fn read_cookies(items: &[Json], place: &str, ignored: &mut Vec<Ignored>) -> Vec<Cookie> {
    let mut unknown = Unknown::default();
    let mut cookies = Vec::with_capacity(items.len());
    for (position, item) in items.iter().enumerate() {
        let place = format!("{place}[{position}]");
        cookies.extend(cookie::read(item, &place, &mut unknown, ignored));
    }
    let cookies = keep_last(cookies, ignored);
    ignored.extend(ignored_members(unknown, place));
    cookies
}

/// The cookies as they stand, without those that a later one is again.
pub(crate) fn keep_last(cookies: Vec<Cookie>, ignored: &mut Vec<Ignored>) -> Vec<Cookie> {
    let mut seen = BTreeSet::new();
    let mut kept: Vec<Cookie> = Vec::with_capacity(cookies.len());
    let mut earlier = Vec::new();
    for cookie in cookies.into_iter().rev() {
        if seen.insert(cookie::identity(&cookie)) {
            kept.push(cookie);
        } else {
            let reason = "a later cookie in the file is the same cookie";
            earlier.push(Ignored::new(ItemKind::Cookie, cookie.place(), reason));
        }
    }
    ignored.extend(earlier.into_iter().rev());
    kept.reverse();
    kept
}

fn write_cookies(cookies: &[Cookie], lost: &mut Vec<Lost>) -> Json {
    let mut valid: Vec<&Cookie> =
        cookies.iter().filter(|cookie| cookie::is_valid(cookie, lost)).collect();
    order(&mut valid);
    let mut chosen: BTreeMap<_, &Cookie> = BTreeMap::new();
    for cookie in &valid {
        let other = chosen.entry(cookie::identity(cookie)).or_insert(cookie);
        if *other != *cookie {
            let reason = "left out: another cookie differs in the scheme or port that set it only";
            lost.push(Lost::new(ItemKind::Cookie, cookie.place(), reason));
            // The one that https set, where there is a choice.
            *other = if other.key() < cookie.key() { cookie } else { *other };
        }
    }
    // As they stand: the first of one name is the one that counts.
    let is_chosen = |cookie: &&Cookie| {
        chosen.get(&cookie::identity(cookie)).is_some_and(|one| std::ptr::eq(*one, *cookie))
    };
    let written: Vec<&Cookie> = valid.iter().copied().filter(is_chosen).collect();
    let sourced = written.iter().filter(|cookie| cookie::has_source(cookie)).count();
    let written = written.into_iter().map(|cookie| cookie::write(cookie, lost)).collect();
    if sourced > 0 {
        let reason = format!("the scheme and port that set {sourced} of them have no field");
        lost.push(Lost::unsayable(ItemKind::Cookie, "cookies", reason));
    }
    Json::Array(written)
}

/// Tabs and environment: the format has no word for either.
fn lose_tabs(state: &State, lost: &mut Vec<Lost>) {
    for (position, tab) in state.tabs.iter().enumerate() {
        let place = format!("tab {position}, {}", ShownAddress::of(&tab.url));
        lost.push(Lost::unsayable(ItemKind::Tab, &place, "left out: the format has no tabs"));
        for key in tab.session_storage.keys() {
            let reason = format!("left out: the format has no sessionStorage (of {key})");
            lost.push(Lost::unsayable(ItemKind::SessionStorage, &place, reason));
        }
    }
    if state.environment != crate::state::Environment::default() {
        let reason = "left out: the format has no environment";
        lost.push(Lost::unsayable(ItemKind::Environment, "environment", reason));
    }
}
