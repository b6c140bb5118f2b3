//! Text as a browser has it: UTF-16, which may hold lone surrogates that no Rust `String` can.
//!
//! On the wire, text that is valid Unicode is a JSON string; any other is
//! `{"utf16": "<base64 of little-endian code units>"}`. One text has one form, so equal texts have
//! equal bytes and equal hashes.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde::de::{Error, IgnoredAny, MapAccess, Visitor};
use serde::ser::SerializeMap;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::fmt;

/// A DOM string: valid Unicode, or raw UTF-16 when it is not.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Text(TextForm);

#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
enum TextForm {
    Unicode(String),
    /// Never valid UTF-16: [`Text::from_utf16`] sees to that.
    Broken(Vec<u16>),
}

impl Text {
    /// From UTF-16 code units, as a page has them.
    pub fn from_utf16(units: &[u16]) -> Self {
        match String::from_utf16(units) {
            Ok(valid) => Self(TextForm::Unicode(valid)),
            Err(_) => Self(TextForm::Broken(units.to_vec())),
        }
    }

    /// The text, when it is valid Unicode.
    pub fn as_str(&self) -> Option<&str> {
        match &self.0 {
            TextForm::Unicode(text) => Some(text),
            TextForm::Broken(_) => None,
        }
    }

    /// The UTF-16 code units.
    pub fn to_utf16(&self) -> Vec<u16> {
        match &self.0 {
            TextForm::Unicode(text) => text.encode_utf16().collect(),
            TextForm::Broken(units) => units.clone(),
        }
    }

    /// From base64 of little-endian UTF-16: the inside of `{"utf16": …}`.
    pub(crate) fn from_base64(base64: &str) -> Result<Self, String> {
        let bytes =
            STANDARD.decode(base64).map_err(|error| format!("utf16 is not base64: {error}"))?;
        let (pairs, rest) = bytes.as_chunks::<2>();
        if !rest.is_empty() {
            return Err(format!("expected an even number of utf16 bytes, found {}", bytes.len()));
        }
        let units: Vec<u16> = pairs.iter().map(|pair| u16::from_le_bytes(*pair)).collect();
        Ok(Self::from_utf16(&units))
    }

    /// How many UTF-16 code units: the `length` that a page sees.
    pub fn len(&self) -> usize {
        match &self.0 {
            TextForm::Unicode(text) => text.encode_utf16().count(),
            TextForm::Broken(units) => units.len(),
        }
    }

    /// Whether it has no code unit at all.
    pub fn is_empty(&self) -> bool {
        self.as_str() == Some("")
    }

    /// For people: lone surrogates become U+FFFD.
    pub fn to_lossy(&self) -> String {
        match &self.0 {
            TextForm::Unicode(text) => text.clone(),
            TextForm::Broken(units) => String::from_utf16_lossy(units),
        }
    }
}

impl From<&str> for Text {
    fn from(text: &str) -> Self {
        Self(TextForm::Unicode(text.to_owned()))
    }
}

impl From<String> for Text {
    fn from(text: String) -> Self {
        Self(TextForm::Unicode(text))
    }
}

impl fmt::Debug for Text {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            TextForm::Unicode(text) => text.fmt(f),
            TextForm::Broken(units) => write!(f, "utf16{units:x?}"),
        }
    }
}

impl Serialize for Text {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match &self.0 {
            TextForm::Unicode(text) => serializer.serialize_str(text),
            TextForm::Broken(units) => {
                let bytes: Vec<u8> = units.iter().flat_map(|unit| unit.to_le_bytes()).collect();
                let mut map = serializer.serialize_map(Some(1))?;
                map.serialize_entry("utf16", &STANDARD.encode(bytes))?;
                map.end()
            }
        }
    }
}

impl<'de> Deserialize<'de> for Text {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(TextVisitor)
    }
}

struct TextVisitor;

impl<'de> Visitor<'de> for TextVisitor {
    type Value = Text;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a string or {\"utf16\": base64}")
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Text, E> {
        Ok(text.into())
    }

    fn visit_string<E: Error>(self, text: String) -> Result<Text, E> {
        Ok(text.into())
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Text, A::Error> {
        let Some((key, base64)) = map.next_entry::<String, String>()? else {
            return Err(Error::invalid_length(0, &self));
        };
        if key != "utf16" {
            return Err(Error::unknown_field(&key, &["utf16"]));
        }
        if map.next_key::<IgnoredAny>()?.is_some() {
            return Err(Error::invalid_length(2, &self));
        }
        Text::from_base64(&base64).map_err(Error::custom)
    }
}
