//! JSON as JavaScript means it: members in their order, and strings of any UTF-16.
//!
//! A file that Playwright wrote may hold escapes such as `\ud800`, which are strings in JavaScript
//! and which no Rust `String` can hold. [`parse()`] reads them, and they are written as escapes
//! again.

use crate::text::Text;
use serde::Serialize;
use serde::ser::{Error, SerializeMap, Serializer};
use serde_json::value::RawValue;
use std::collections::BTreeMap;
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
    pub(crate) fn note_unknown(&self, unknown: &mut Unknown, known: impl Fn(&str) -> bool) {
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

/// How deep JSON may be nested: a level of a value takes up to three levels of JSON.
const MAX_DEPTH: usize = 3 * MAX_VALUE_DEPTH + 16;

/// Reads a whole text.
pub(crate) fn parse(text: &[u8]) -> serde_json::Result<Json> {
    let valid: &RawValue = serde_json::from_slice(text)?;
    Ok(Reader { json: valid.get(), at: 0 }.value(0))
}

/// Reads text that `serde_json` has checked, so it meets valid JSON only and takes every byte once.
struct Reader<'a> {
    json: &'a str,
    at: usize,
}

impl Reader<'_> {
    /// The next byte that is no white space.
    fn peek(&mut self) -> Option<u8> {
        let rest = &self.json.as_bytes()[self.at..];
        self.at += rest.iter().position(|byte| !byte.is_ascii_whitespace())?;
        self.json.as_bytes().get(self.at).copied()
    }

    /// The text up to the next byte that `ends` it, which is not taken.
    fn take_until(&mut self, ends: impl Fn(u8) -> bool) -> &str {
        let rest = &self.json[self.at..];
        let length = rest.bytes().position(ends).unwrap_or(rest.len());
        self.at += length;
        &rest[..length]
    }

    fn value(&mut self, depth: usize) -> Json {
        match self.peek() {
            Some(b'{' | b'[') if depth > MAX_DEPTH => self.skip(),
            Some(b'{') => self.object(depth),
            Some(b'[') => self.array(depth),
            Some(b'"') => Json::Text(self.text()),
            _ => match self.take_until(|byte| b",]} \t\r\n".contains(&byte)) {
                "null" => Json::Null,
                "true" => Json::Bool(true),
                "false" => Json::Bool(false),
                // Out of range becomes an infinity, as in JavaScript.
                number => Json::Number(number.parse().unwrap_or(f64::NAN)),
            },
        }
    }

    fn array(&mut self, depth: usize) -> Json {
        let mut items = Vec::new();
        self.at += 1;
        loop {
            match self.peek() {
                Some(b',') => self.at += 1,
                Some(b']' | b'}') => break self.at += 1,
                Some(_) => items.push(self.value(depth + 1)),
                None => break,
            }
        }
        Json::Array(items)
    }

    fn object(&mut self, depth: usize) -> Json {
        let mut members = Vec::new();
        self.at += 1;
        loop {
            match self.peek() {
                Some(b'"') => {
                    let name = self.text();
                    if self.peek() == Some(b':') {
                        self.at += 1;
                    }
                    members.push((name, self.value(depth + 1)));
                }
                Some(b'}' | b']') => break self.at += 1,
                Some(_) => self.at += 1,
                None => break,
            }
        }
        Json::Object(members)
    }

    /// Passes over an array or object that is nested too deep, without following it.
    fn skip(&mut self) -> Json {
        let mut open = 0usize;
        while let Some(byte) = self.peek() {
            match byte {
                b'"' => {
                    self.text();
                    continue;
                }
                b'[' | b'{' => open += 1,
                b']' | b'}' => open = open.saturating_sub(1),
                _ => {}
            }
            self.at += 1;
            if open == 0 {
                break;
            }
        }
        Json::TooDeep
    }

    /// A string, from its opening quote.
    fn text(&mut self) -> Text {
        self.at += 1;
        let plain = |byte| byte == b'"' || byte == b'\\';
        let start = self.take_until(plain).to_owned();
        if self.byte() == Some(b'"') {
            return start.into();
        }
        let mut units: Vec<u16> = start.encode_utf16().collect();
        loop {
            match self.byte() {
                Some(b'u') => units.push(self.code_unit()),
                Some(escape) => units.push(escaped(escape)),
                None => break,
            }
            units.extend(self.take_until(plain).encode_utf16());
            if self.byte() != Some(b'\\') {
                break;
            }
        }
        Text::from_utf16(&units)
    }

    /// The next byte, which is ASCII in valid JSON wherever this is called.
    fn byte(&mut self) -> Option<u8> {
        let byte = self.json.as_bytes().get(self.at).copied();
        self.at += usize::from(byte.is_some());
        byte
    }

    /// The four digits of a `\u` escape.
    fn code_unit(&mut self) -> u16 {
        let digits = self.json.get(self.at..self.at + 4).unwrap_or_default();
        self.at += digits.len();
        u16::from_str_radix(digits, 16).unwrap_or(0xfffd)
    }
}

/// What a short escape such as `\n` means.
fn escaped(byte: u8) -> u16 {
    u16::from(match byte {
        b'b' => 0x08,
        b'f' => 0x0c,
        b'n' => b'\n',
        b'r' => b'\r',
        b't' => b'\t',
        itself => itself,
    })
}

/// The most members that are named of one kind of place, and the most characters of a name: a file is not
/// trusted with the length of a receipt.
const MOST: usize = 20;
const LONGEST: usize = 60;

/// What was found at one kind of place.
///
/// Members of a file that this version does not know, each named once, and counted. A newer version may have
/// added them, or another program; either way they do not come along.
#[derive(Debug, Default)]
pub(crate) struct Unknown(BTreeMap<String, usize>);

impl Unknown {
    /// Notes a member.
    pub(crate) fn note(&mut self, name: &str) {
        let name = name.chars().filter(|c| !c.is_control()).take(LONGEST).collect();
        *self.0.entry(name).or_default() += 1;
    }

    /// A line for each member, and one for all beyond a bound.
    pub(crate) fn lines(self) -> Vec<String> {
        let more = self.0.len().saturating_sub(MOST);
        let line = |(name, count): (String, usize)| {
            let times = if count > 1 { format!(" ({count} times)") } else { String::new() };
            format!("{name:?} is no member that is known here{times}: it is left out")
        };
        let mut lines: Vec<String> = self.0.into_iter().take(MOST).map(line).collect();
        if more > 0 {
            lines.push(format!("{more} other members are not known here either"));
        }
        lines
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strings_are_those_of_javascript() {
        let text = |json: &str| match parse(json.as_bytes()).unwrap() {
            Json::Text(text) => text.to_utf16(),
            other => panic!("expected a string, found {}", other.kind()),
        };
        let utf16 = |text: &str| text.encode_utf16().collect::<Vec<u16>>();
        assert_eq!(text(r#""""#), utf16(""));
        assert_eq!(text(r#""\"\\\/\b\f\n\r\t""#), utf16("\"\\/\u{8}\u{c}\n\r\t"));
        assert_eq!(text(r#""é\u00e9\ud83d\ude00😀""#), utf16("éé😀😀"));
        assert_eq!(text(r#""a\ud800""#), vec![0x61, 0xd800]);
        assert_eq!(text(r#""\udfff\ud800b""#), vec![0xdfff, 0xd800, 0x62]);
    }

    #[test]
    fn everything_else_is_read_too() {
        let json = r#" {"b" : [ ] , "a":[1 , -2.5e3,1e999, true,false,null,{}], "b":"]}" } "#;
        let members = [
            ("b", Json::Array(Vec::new())),
            (
                "a",
                Json::Array(vec![
                    Json::Number(1.0),
                    Json::Number(-2500.0),
                    Json::Number(f64::INFINITY),
                    Json::Bool(true),
                    Json::Bool(false),
                    Json::Null,
                    Json::Object(Vec::new()),
                ]),
            ),
            ("b", Json::text("]}")),
        ];
        assert_eq!(parse(json.as_bytes()).unwrap(), Json::object(members));
        for broken in ["", "[1,]", "{\"a\"}", "\"\\x\"", "[1] 2", "\"\u{1}\"", "nul"] {
            assert!(parse(broken.as_bytes()).is_err(), "{broken}");
        }
        assert!(parse(b"\"\xff\"").is_err(), "no UTF-8");
    }

    #[test]
    fn what_is_too_deep_is_passed_over() {
        let deep = format!(r#"[{}"]"{}, 5]"#, "[".repeat(100_000), "]".repeat(100_000));
        let Json::Array(items) = parse(deep.as_bytes()).unwrap() else { panic!("an array") };
        assert_eq!(items.len(), 2);
        assert_eq!(items[1], Json::Number(5.0));
    }
}
