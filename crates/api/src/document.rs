//! A document that goes through a door as it is: nothing reads it on the way.

use serde::de::IgnoredAny;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use std::fmt;

/// A JSON document as it is written, byte by byte. It holds secrets, so it is never shown by chance.
#[derive(Clone, Serialize, Deserialize)]
#[serde(transparent)]
pub struct FileText(Box<RawValue>);

impl FileText {
    /// The document in `text`.
    pub fn new(text: String) -> serde_json::Result<Self> {
        RawValue::from_string(text).map(Self)
    }

    /// The document in `text`, or a text that is no JSON, such as a `cookies.txt`, as a string.
    pub fn of(text: String) -> Self {
        let is_json = serde_json::from_str::<IgnoredAny>(&text).is_ok();
        // A string is always JSON once it is written as such.
        let text = if is_json { text } else { serde_json::Value::from(text).to_string() };
        Self(RawValue::from_string(text).unwrap_or_default())
    }

    /// The document's text.
    pub fn as_str(&self) -> &str {
        self.0.get()
    }
}

impl fmt::Debug for FileText {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "FileText({} bytes)", self.as_str().len())
    }
}
