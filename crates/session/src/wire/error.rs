//! How a session file cannot be read. An error names the place in the file, never a value.

use serde::de::DeserializeOwned;
use serde_json::Value;

/// A file that is no session file, or a damaged one.
#[derive(Debug, thiserror::Error)]
pub enum ReadError {
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

impl ReadError {
    pub(super) fn at(place: impl Into<String>, reason: impl Into<String>) -> Self {
        Self::Field { place: place.into(), reason: reason.into() }
    }
}

/// Reads `value`, which stands at `place` in the file.
pub(crate) fn field<T: DeserializeOwned>(value: &Value, place: &str) -> Result<T, ReadError> {
    serde_path_to_error::deserialize(value).map_err(|error| {
        let path = error.path().to_string();
        let place = match path.as_str() {
            "." => place.to_owned(),
            path if place.is_empty() || path.starts_with('[') => format!("{place}{path}"),
            path => format!("{place}.{path}"),
        };
        ReadError::at(place, reason(&error.into_inner().to_string()))
    })
}

/// Why, without what was found: that may be a secret.
fn reason(text: &str) -> String {
    match text.rsplit_once(", expected ") {
        // Whoever writes a file need not know our types.
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
pub(super) fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "a number",
        Value::String(_) => "a string",
        Value::Array(_) => "an array",
        Value::Object(_) => "an object",
    }
}
