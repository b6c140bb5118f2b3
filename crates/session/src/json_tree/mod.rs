//! JSON as JavaScript means it: members in their order, and strings of any UTF-16.
//!
//! A file that Playwright wrote may hold escapes such as `\ud800`, which are strings in JavaScript
//! and which no Rust `String` can hold. [`parse()`] reads them, and they are written as escapes
//! again.

mod parse;

pub(crate) use parse::parse;

use crate::text::Text;
use crate::unknown::Unknown;
use serde::Serialize;
use serde::ser::{Error, SerializeMap, Serializer};
use serde_json::value::RawValue;
use std::fmt::Write;

/// How deep a value may be nested: the limit of what is written.
pub(crate) const MAX_VALUE_DEPTH: usize = 128;

/// A JSON value.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Json {
    Null,
    Bool(bool),
    Number(f64),
    Text(Text),
    Array(Vec<Json>),
    Object(Vec<(Text, Json)>),
    /// What was nested too deep to be read.
    TooDeep,
}

impl Json {
    /// An object from names and values.
    pub(crate) fn object<const N: usize>(members: [(&str, Self); N]) -> Self {
        Self::Object(members.into_iter().map(|(name, value)| (name.into(), value)).collect())
    }

    /// A string that is valid Unicode.
    pub(crate) fn text(text: &str) -> Self {
        Self::Text(text.into())
    }

    /// The member called `name`; the last one, as in JavaScript.
    pub(crate) fn get(&self, name: &str) -> Option<&Self> {
        let Self::Object(members) = self else {
            return None;
        };
        members.iter().rev().find(|(key, _)| key.as_str() == Some(name)).map(|(_, value)| value)
    }

    /// The member called `name`, when it is a string of valid Unicode.
    pub(crate) fn get_str(&self, name: &str) -> Option<&str> {
        self.get_text(name)?.as_str()
    }

    /// The member called `name`, when it is a string.
    pub(crate) fn get_text(&self, name: &str) -> Option<&Text> {
        if let Self::Text(text) = self.get(name)? { Some(text) } else { None }
    }

    /// The member called `name`, when it is a boolean.
    pub(crate) fn get_bool(&self, name: &str) -> Option<bool> {
        if let Self::Bool(value) = self.get(name)? { Some(*value) } else { None }
    }

    /// The members of an object, in their order; of anything else, none.
    pub(crate) fn members(&self) -> &[(Text, Self)] {
        if let Self::Object(members) = self { members } else { &[] }
    }

    /// Notes the members of an object that are not `known`. With one that says nothing, nothing is lost.
    pub(crate) fn look(&self, unknown: &mut Unknown, known: impl Fn(&str) -> bool) {
        for (name, value) in self.members() {
            if !name.as_str().is_some_and(&known) && !value.is_empty() {
                unknown.note(&name.to_lossy());
            }
        }
    }

    /// Whether it says nothing: what is lost with it is nothing.
    pub(crate) fn is_empty(&self) -> bool {
        match self {
            Self::Null => true,
            Self::Text(text) => text.as_str() == Some(""),
            Self::Array(items) => items.is_empty(),
            Self::Object(members) => members.is_empty(),
            _ => false,
        }
    }

    /// The member called `name`, when it is an array.
    pub(crate) fn get_list(&self, name: &str) -> Option<&[Self]> {
        if let Self::Array(items) = self.get(name)? { Some(items) } else { None }
    }

    /// What kind of JSON it is, for an error.
    pub(crate) fn kind(&self) -> &'static str {
        match self {
            Self::Null => "null",
            Self::Bool(_) => "a boolean",
            Self::Number(_) => "a number",
            Self::Text(_) => "a string",
            Self::Array(_) => "an array",
            Self::Object(_) => "an object",
            Self::TooDeep => "a value that is nested too deep",
        }
    }
}

impl Serialize for Json {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Null | Self::TooDeep => serializer.serialize_unit(),
            Self::Bool(value) => serializer.serialize_bool(*value),
            Self::Number(value) => serialize_number(*value, serializer),
            Self::Text(text) => match text.as_str() {
                Some(text) => serializer.serialize_str(text),
                None => escape(text).map_err(S::Error::custom)?.serialize(serializer),
            },
            Self::Array(items) => serializer.collect_seq(items),
            Self::Object(members) => {
                let mut map = serializer.serialize_map(Some(members.len()))?;
                for (name, value) in members {
                    let expected = "expected a name in valid Unicode";
                    map.serialize_entry(
                        name.as_str().ok_or_else(|| S::Error::custom(expected))?,
                        value,
                    )?;
                }
                map.end()
            }
        }
    }
}

/// Whole numbers without a fraction, as JavaScript writes them.
fn serialize_number<S: Serializer>(value: f64, serializer: S) -> Result<S::Ok, S::Error> {
    const EXACT: f64 = 9_007_199_254_740_991.0;
    if value.fract() == 0.0 && value.abs() <= EXACT {
        #[expect(clippy::cast_possible_truncation, reason = "whole and in range")]
        return serializer.serialize_i64(value as i64);
    }
    serializer.serialize_f64(value)
}

/// A JSON string with every code unit escaped.
fn escape(text: &Text) -> serde_json::Result<Box<RawValue>> {
    let mut json = String::from("\"");
    for unit in text.to_utf16() {
        // Writing into a String cannot fail.
        let _ = write!(json, "\\u{unit:04x}");
    }
    json.push('"');
    RawValue::from_string(json)
}
