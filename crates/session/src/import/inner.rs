//! A state inside of another document: in a member of it, in a list of one, or as text in a string.

use super::form::Form;
use super::{cookies_txt, written};
use crate::json_tree::Json;
use crate::receipt::{ItemKind, ReceiptItem};

/// The most members that are named, and the most characters of a name.
const MOST: usize = 20;
const LONGEST: usize = 60;

/// What is found inside.
pub(super) enum Inner {
    /// One that may be read.
    One {
        /// It.
        text: String,
        /// Where.
        place: String,
        /// What stands beside it, and says something.
        beside: Vec<String>,
    },
    /// More than one.
    Many(Vec<String>),
    /// None.
    None,
}

impl Inner {
    /// Looks one step into a document.
    pub(super) fn of(json: &Json) -> Self {
        let members: Vec<(String, &Json)> = match json {
            Json::Object(members) => {
                members.iter().map(|(name, value)| (shown(&name.to_lossy()), value)).collect()
            }
            Json::Array(items) => {
                items.iter().enumerate().map(|(at, item)| (format!("[{at}]"), item)).collect()
            }
            text @ Json::Text(_) => vec![("the text".to_owned(), text)],
            _ => Vec::new(),
        };
        let (mut found, mut beside) = (Vec::new(), Vec::new());
        for (place, value) in members {
            match candidate(value) {
                Some(text) => found.push((text, place)),
                None if !value.is_empty() => beside.push(place),
                None => {}
            }
        }
        if found.len() > 1 {
            return Self::Many(found.into_iter().map(|(_, place)| place).take(MOST).collect());
        }
        match found.pop() {
            Some((text, place)) => Self::One { text, place, beside },
            None => Self::None,
        }
    }
}

/// The text of what may be read; a document around it counts as well.
fn candidate(json: &Json) -> Option<String> {
    if let Json::Text(text) = json {
        let text = text.as_str()?.trim_start_matches('\u{feff}');
        let is_document = text.trim_start().starts_with(['{', '[']);
        return (is_document || cookies_txt::is_cookies_txt(text)).then(|| text.to_owned());
    }
    let is_taken = |json: &Json| {
        matches!(
            Form::of(json),
            Form::SessionFile | Form::Answer | Form::StorageState | Form::CookieList
        )
    };
    let is_around = |json: &Json| json.members().iter().any(|(_, inner)| is_taken(inner));
    (is_taken(json) || is_around(json)).then(|| written(json))
}

/// The line about what stands beside a state.
pub(super) fn left_beside(place: &str, beside: &[String]) -> Option<ReceiptItem> {
    let named: Vec<&str> = beside.iter().map(String::as_str).take(MOST).collect();
    let more = beside.len().saturating_sub(MOST);
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    let reason = format!("what stands beside it is left out: {}{more}", named.join(", "));
    (!beside.is_empty()).then(|| ReceiptItem::not_portable(ItemKind::Part, place, reason))
}

fn shown(name: &str) -> String {
    name.chars().filter(|c| !c.is_control()).take(LONGEST).collect()
}
