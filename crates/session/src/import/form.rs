//! What a file is.

use crate::json_tree::Json;
use crate::playwright;
use std::fmt;

/// What a file is: first what is taken, then what is known and is not.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
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
    /// Names and values that nobody says whose they are.
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

impl Form {
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

/// Whether a text is the header of a request or an answer, or what stands in one.
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

impl fmt::Display for Form {
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
