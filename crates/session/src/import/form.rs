//! What a file is, by a look from outside; and why one is not read: what it is, and what is wanted instead.

use crate::json_tree::Json;
use crate::{playwright, wire};
use serde::Deserialize;
use serde::de::IgnoredAny;
use std::fmt;

/// What a file is: first what is taken, then what is known and is not.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FileForm {
    /// Baton's own.
    SessionFile,
    /// What a node answers when it is asked for the state of a session.
    Answer,
    /// Playwright's, and those of others that are like it.
    StorageState,
    /// Cookies alone, in JSON.
    CookieList,
    /// Cookies alone, a line each, as Netscape wrote them.
    CookiesTxt,
    /// A session that is sealed for a node.
    SyncFile,
    /// What the network did.
    Har,
    /// A page.
    Markup,
    /// A line of cookies as a request has it.
    CookieHeader,
    /// A database.
    Sqlite,
    /// A sealed file.
    Age,
    /// Files in one, or a file made smaller.
    Archive,
    /// Names and values of an unknown site.
    Pairs,
    /// JSON of an unknown kind.
    Object,
    /// JSON of an unknown kind.
    List,
    /// JSON that is neither an object nor a list.
    Scalar,
    /// JSON that ends too early, or is written wrongly.
    Damaged,
    /// Nothing.
    Empty,
    /// Some text.
    Text,
    /// Some bytes.
    Bytes,
}

impl FileForm {
    /// What a document in JSON is. What is in it a step further in is not looked at.
    pub(super) fn of(json: &Json) -> Self {
        match json {
            Json::Object(_) => Self::of_object(json),
            Json::Array(items) if items.is_empty() => Self::Empty,
            Json::Array(items) if items.iter().any(is_cookie) => Self::CookieList,
            Json::Array(items) if items.iter().all(is_pair) => Self::Pairs,
            Json::Array(_) => Self::List,
            // What is in it is a step further in.
            Json::Text(_) => Self::Text,
            _ => Self::Scalar,
        }
    }

    /// What a text is that is neither JSON to its end nor a list of cookies.
    pub(super) fn of_text(text: &str) -> Self {
        match text.trim_start() {
            "" => Self::Empty,
            text if text.starts_with(['{', '[', '"']) => Self::Damaged,
            text if text.starts_with('<') => Self::Markup,
            text if text.starts_with("-----BEGIN AGE") => Self::Age,
            text if is_header(text) => Self::CookieHeader,
            _ => Self::Text,
        }
    }

    fn of_object(json: &Json) -> Self {
        let has = |name| json.get(name).is_some();
        if let Some(state) = json.get("state") {
            let is_of_node = json.get_bool("redacted").is_some();
            let is_wrapped = !is_of_node && is_storage_state_of_others(state);
            let is_own = is_of_node || matches!(state, Json::Object(_) | Json::Null);
            if is_own && !is_wrapped {
                return if is_of_node { Self::Answer } else { Self::SessionFile };
            }
        }
        if has("sealed") && has("signature") {
            return Self::SyncFile;
        }
        if playwright::is_storage_state(json) {
            return Self::StorageState;
        }
        if json.get("log").is_some_and(|log| log.get_list("entries").is_some()) {
            return Self::Har;
        }
        if is_cookie(json) {
            return Self::CookieList;
        }
        Self::Object
    }
}

/// Whether it is Playwright's form of a state, and not that of a session file.
fn is_storage_state_of_others(state: &Json) -> bool {
    let is_other = |origin: &Json| origin.get("origin").is_some();
    let is_own = |origin: &Json| origin.get("storageKey").is_some();
    let origins = state.get_list("origins").unwrap_or_default();
    let has_others = origins.iter().any(is_other) && !origins.iter().any(is_own);
    has_others || (state.get("origins").is_none() && playwright::is_by_origin(state))
}

fn is_pair(json: &Json) -> bool {
    (json.get("name").is_some() || json.get("key").is_some()) && json.get("value").is_some()
}

fn is_cookie(json: &Json) -> bool {
    let has = |name| json.get_str(name).is_some();
    has("name") && json.get("value").is_some() && (has("domain") || has("url"))
}

/// Whether a text is the header of a request or an answer, or what is in one.
fn is_header(text: &str) -> bool {
    let line = text.lines().next().unwrap_or_default();
    let named = ["cookie:", "set-cookie:"]
        .iter()
        .any(|name| line.get(..name.len()).is_some_and(|start| start.eq_ignore_ascii_case(name)));
    let mut pairs = line.split("; ");
    let is_pair = |pair: &str| {
        pair.split_once('=').is_some_and(|(name, _)| {
            !name.is_empty() && !name.contains(|c: char| c.is_whitespace() || c == '<')
        })
    };
    named || pairs.all(is_pair)
}

impl fmt::Display for FileForm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::SessionFile => "a session file",
            Self::Answer => "what a node answers about a state",
            Self::StorageState => "a storageState file",
            Self::CookieList => "a list of cookies",
            Self::CookiesTxt => "a cookies.txt",
            Self::SyncFile => "a file that is sealed for a node",
            Self::Har => "a HAR, which tells what the network did and not what a browser holds",
            Self::Markup => "a page in HTML or XML",
            Self::CookieHeader => "a line of cookies, which does not say whose they are",
            Self::Sqlite => "a database of SQLite",
            Self::Age => "a sealed file",
            Self::Archive => "an archive, or a compressed file",
            Self::Pairs => "a list of names and values, which does not say whose they are",
            Self::Object => "a JSON object of another kind",
            Self::List => "a JSON list of another kind",
            Self::Scalar => "JSON, but neither an object nor a list",
            Self::Damaged => "a damaged JSON file",
            Self::Empty => "empty",
            Self::Text => "a text of another kind",
            Self::Bytes => "no text",
        })
    }
}

/// As much of a document as tells what it is.
#[derive(Deserialize)]
struct Document {
    redacted: Option<bool>,
    state: Option<Inside>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Inside {
    cookies: Option<IgnoredAny>,
    environment: Option<IgnoredAny>,
    origins: Option<Vec<OriginForm>>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct OriginForm {
    storage_key: Option<IgnoredAny>,
}

/// What a text surely is; nothing when that takes a closer look.
pub(super) fn probe(text: &str) -> Option<FileForm> {
    if !wire::is_session_file(text.as_bytes()) {
        return None;
    }
    if is_answer(text) {
        return Some(FileForm::Answer);
    }
    // One of many members that stand twice, or one of another kind: the closer look.
    let Document { redacted, state } = serde_json::from_str(text).ok()?;
    let state = state.filter(|_| redacted.is_none())?;
    let is_own = |origin: &OriginForm| origin.storage_key.is_some();
    let is_whole = state.environment.is_some() && state.cookies.is_some();
    let has_own = state.origins.is_some_and(|origins| origins.iter().any(is_own));
    (is_whole || has_own).then_some(FileForm::SessionFile)
}

fn is_answer(text: &str) -> bool {
    #[derive(Deserialize)]
    struct AnswerForm {
        #[serde(rename = "redacted")]
        _redacted: bool,
        #[serde(rename = "state")]
        _state: IgnoredAny,
    }
    serde_json::from_str::<AnswerForm>(text).is_ok()
}

/// A file of no kind that is taken, or a damaged one.
#[derive(Debug, thiserror::Error)]
pub enum ImportError {
    /// It looks like a session file.
    #[error(transparent)]
    Session(#[from] wire::SessionFileError),
    /// It looks like Playwright's.
    #[error(transparent)]
    StorageState(#[from] playwright::StorageStateError),
    /// It is something else.
    #[error(
        "this is {form}; expected a session file, a Playwright storageState, a list of cookies in \
         JSON, or a cookies.txt{}", hint(*.form)
    )]
    Other {
        /// What it is.
        form: FileForm,
    },
    /// It is JSON that breaks off.
    #[error("this is a damaged JSON file; expected JSON to the end, found a fault: {source}")]
    Damaged {
        /// Where.
        source: serde_json::Error,
    },
    /// It is text with bytes that are none.
    #[error(
        "this is a text in an unknown encoding; expected UTF-8 or UTF-16, found byte {at} to be neither"
    )]
    Encoding {
        /// The first one.
        at: usize,
    },
    /// It holds several, and it is not said which.
    #[error(
        "this is a document with several sessions or states in it; expected one, found {}\nsave the one \
         that you want as a file of its own", .places.join(", ")
    )]
    Many {
        /// Under which members.
        places: Vec<String>,
    },
    /// What a node says of a state while it hides what is secret.
    #[error(
        "this is what a node answers about a state, with its secrets hidden; expected them\nask with \
         reveal=true, by a key with the scope reveal"
    )]
    Redacted,
    /// What a node says of a state, but not as it says it.
    #[error(
        "this is what a node answers about a state; expected the state in its form, found another: {0}"
    )]
    Answer(wire::SessionFileError),
}

impl ImportError {
    /// What a text is that is neither JSON nor a list of cookies.
    pub(super) fn of_text(text: &str, source: serde_json::Error) -> Self {
        match FileForm::of_text(text) {
            FileForm::Damaged => Self::Damaged { source },
            form => Self::Other { form },
        }
    }
}

/// What to do about it, where there is something.
fn hint(form: FileForm) -> &'static str {
    match form {
        FileForm::SyncFile => "\nbaton import on the node that it was sealed for takes it",
        FileForm::Sqlite => {
            "\nthe folder of the profile that it lies in is taken: baton import FOLDER"
        }
        FileForm::Age => "\nbaton import FILE --identity KEYS opens it",
        FileForm::Archive => "\nunpack it first",
        _ => "",
    }
}
