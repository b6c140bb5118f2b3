//! The session file: one session as one JSON document that travels by itself.
//!
//! The one idea: the file says everything a state holds, in `state.cookies`, `state.origins`,
//! `state.environment` and `tabs`; beside that are plain fields for programs that know only those (`url`,
//! `title`, `viewport`, `localStorage`, `sessionStorage`), derived from the tab in front. A reader takes the
//! plain fields only from a file without `origins`; then they belong to the origin of `state.url`. What a
//! storage key or a tab holds travels in its own form, so that a field added to it travels by itself. The
//! checksum covers what is not derived.

mod fields;

pub use fields::{checksum_by_key, checksum_of};

use crate::json;
use crate::receipt::Receipt;
use crate::revision::{RevisionId, Vector};
use crate::state::{OriginState, State};
use crate::storage::StorageKey;
use crate::tab::Tab;
use fields::{keyed, normal_tab, of_document};
use jiff::Timestamp;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;

/// A session as it travels.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct SessionFile {
    /// What it is, and where it came from.
    pub head: Head,
    /// What its browser held.
    pub state: State,
}

/// What a session file says of the session itself.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct Head {
    /// The session's id where it came from.
    pub id: String,
    /// Its name there; empty when the file has none.
    pub name: String,
    /// Free text for people.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub description: String,
    /// Where it came from.
    pub origin: Provenance,
    /// Which version of it this is.
    pub sync: Version,
}

/// Where a session file came from.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct Provenance {
    /// The node that wrote it.
    pub node_id: String,
    /// How that node is deployed.
    pub node_type: NodeType,
    /// Where that node is asked; empty when only its own machine can ask it.
    pub node_url: String,
    /// When the session was opened first.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub created_at: Option<Timestamp>,
    /// Whose it was.
    pub created_by: String,
}

/// How a node is deployed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub enum NodeType {
    /// By a provider, for many.
    Cloud,
    /// By its user.
    #[default]
    Hosted,
}

/// Which version of a session a file holds.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct Version {
    /// Counts up; a hint only.
    pub version: u64,
    /// When the browser was read.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last_modified: Option<Timestamp>,
    /// Nodes that are known to have this version.
    pub last_synced_to: Vec<String>,
    /// SHA-256 over the canonical JSON (RFC 8785) of what is not derived, as 64 hexadecimal digits.
    /// [`write()`] puts it in.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub checksum: String,
    /// The revision that the file holds; none for a file that was never saved.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rev: Option<RevisionId>,
    /// How far each actor had come when the revision was written.
    #[serde(skip_serializing_if = "Vector::is_empty")]
    pub vector: Vector,
    /// The revisions that it was made of.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub parents: Vec<RevisionId>,
    /// Whether the session was deleted; such a file holds no state.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub deleted: bool,
    /// Revisions that wait for someone to choose.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub conflicts: Vec<RevisionId>,
}

/// A file that is no session file, or a damaged one.
///
/// It names the place in the file, never a value.
#[derive(Debug, thiserror::Error)]
pub enum SessionFileError {
    /// Not even JSON.
    #[error("expected a session file in JSON, found something else: {0}")]
    Json(#[from] serde_json::Error),
    /// JSON, but of another shape.
    #[error("this is a session file; expected {expected}, found {found}")]
    Shape {
        /// What should be there.
        expected: &'static str,
        /// The kind of JSON that is there.
        found: &'static str,
    },
    /// One field is of another kind than it should be.
    #[error("in the session file, at {place}: {reason}")]
    Field {
        /// Where in the file, such as `state.cookies[3].name`.
        place: String,
        /// What was expected there.
        reason: String,
    },
    /// The file is not as it was written.
    #[error(
        "expected the session file to have the checksum {expected}, found {found}: it was changed or \
         damaged\nexport it anew; whoever changed it on purpose removes sync.checksum"
    )]
    Checksum {
        /// What the file says.
        expected: String,
        /// What it has.
        found: String,
    },
}

impl SessionFileError {
    fn at(place: impl Into<String>, reason: impl Into<String>) -> Self {
        Self::Field { place: place.into(), reason: reason.into() }
    }
}

/// Reads `value`, which is at `place` in the file.
pub(crate) fn field<T: DeserializeOwned>(
    value: &Value,
    place: &str,
) -> Result<T, SessionFileError> {
    serde_path_to_error::deserialize(value).map_err(|error| {
        let path = error.path().to_string();
        let place = match path.as_str() {
            "." => place.to_owned(),
            path if place.is_empty() || path.starts_with('[') => format!("{place}{path}"),
            path => format!("{place}.{path}"),
        };
        SessionFileError::at(place, reason(&error.into_inner().to_string()))
    })
}

/// Why, without what was found: that may be a secret.
fn reason(text: &str) -> String {
    match text.rsplit_once(", expected ") {
        // The writer of a file need not know our types.
        Some((_, "u16" | "u32" | "u64" | "i64")) => "expected a whole number".to_owned(),
        Some((_, "f64")) => "expected a number".to_owned(),
        Some((_, "a sequence")) => "expected an array".to_owned(),
        Some((_, "a tuple of size 2")) => "expected an array of two".to_owned(),
        Some((_, expected)) => format!("expected {expected}"),
        None if text.starts_with("missing field") => format!("{text}, which is needed"),
        None => text.to_owned(),
    }
}

/// What kind of JSON it is.
fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "a number",
        Value::String(_) => "a string",
        Value::Array(_) => "an array",
        Value::Object(_) => "an object",
    }
}

/// Reads a session file. The receipt lists what in it cannot be used; what is of the wrong kind is
/// an error that names its place.
pub fn read(file: &[u8]) -> Result<(SessionFile, Receipt), SessionFileError> {
    let document: Value = serde_json::from_slice(file)?;
    if !document.is_object() {
        return Err(SessionFileError::Shape { expected: "a JSON object", found: kind(&document) });
    }
    let state = &document["state"];
    if !state.is_object() {
        let expected = "an object with state as an object";
        return Err(SessionFileError::Shape { expected, found: kind(state) });
    }
    let head: Head = field(&document, "")?;
    let is_whole = state.get("origins").is_some();
    if is_whole && !head.sync.checksum.is_empty() {
        let found = of_document(state, &document["tabs"]).to_string();
        let expected = head.sync.checksum.clone();
        if expected != found {
            return Err(SessionFileError::Checksum { expected, found });
        }
    }
    let mut receipt = fields::tell(&document);
    let tabs: Option<Vec<Tab>> = optional(&document, "tabs", "tabs")?;
    let mut state = State {
        cookies: read_cookies(&state["cookies"])?,
        environment: optional(state, "environment", "state.environment")?.unwrap_or_default(),
        origins: read_origins(&state["origins"])?,
        tabs: tabs.unwrap_or_default(),
    };
    if !is_whole {
        fields::read_plain(&document["state"], &mut state, &mut receipt)?;
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

/// The member called `name`, which is at `place`; `null` is as good as none.
fn optional<T: serde::de::DeserializeOwned>(
    object: &Value,
    name: &str,
    place: &str,
) -> Result<Option<T>, SessionFileError> {
    match &object[name] {
        Value::Null => Ok(None),
        value => field(value, place).map(Some),
    }
}

fn read_cookies(items: &Value) -> Result<Vec<crate::cookie::Cookie>, SessionFileError> {
    let items = list(items, "state.cookies")?.iter().enumerate();
    items
        .map(|(position, item)| fields::read_cookie(item, &format!("state.cookies[{position}]")))
        .collect()
}

/// The storage of every key; a key is there once.
fn read_origins(items: &Value) -> Result<BTreeMap<StorageKey, OriginState>, SessionFileError> {
    let mut origins = BTreeMap::new();
    for (position, item) in list(items, "state.origins")?.iter().enumerate() {
        let place = format!("state.origins[{position}]");
        let key = &item["storageKey"];
        if !key.is_string() {
            let reason = "expected a storage key such as \"https://app.test/\"";
            return Err(SessionFileError::at(format!("{place}.storageKey"), reason));
        }
        let key: StorageKey = field(key, &place)?;
        let origin: OriginState = field(item, &place)?;
        if origins.insert(key, origin).is_some() {
            let place = format!("{place}.storageKey");
            return Err(SessionFileError::at(
                place,
                "expected each storage key once, found it again",
            ));
        }
    }
    Ok(origins)
}

fn list<'a>(value: &'a Value, place: &str) -> Result<&'a [Value], SessionFileError> {
    match value {
        Value::Null => Ok(&[]),
        Value::Array(items) => Ok(items),
        other => {
            Err(SessionFileError::at(place, format!("expected an array, found {}", kind(other))))
        }
    }
}

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
    let mut fields: Map<String, Value> = fields::derive_plain(&state);
    fields.insert("cookies".to_owned(), state.cookies.iter().map(fields::write_cookie).collect());
    fields.insert("origins".to_owned(), keyed(&state).map(|origin| json::value(&origin)).collect());
    fields.insert("environment".to_owned(), json::value(&state.environment));
    Value::Object(fields)
}
