//! How an entry looks in each form, for a person.

use super::entry::{Entry, Fields, NAME};
use super::{Form, toml};
use serde_json::{Value, json};
use std::fmt::Write as _;

impl Entry {
    /// What to paste into a file that cannot be changed.
    pub(crate) fn to_paste(&self, form: Form) -> String {
        lines(form, &self.fields(form)).join("\n")
    }
}

/// An entry with what stands around it.
pub(super) fn lines(form: Form, fields: &Fields) -> Vec<String> {
    match form {
        Form::Toml => toml::block(fields),
        Form::Json { key, .. } => {
            let last = fields.len().saturating_sub(1);
            let fields = fields.iter().enumerate().map(|(index, (key, value))| {
                let comma = if index == last { "" } else { "," };
                format!("    {}: {}{comma}", json!(key), literal(value))
            });
            let head = [format!("{}: {{", json!(key)), format!("  {}: {{", json!(NAME))];
            let tail = ["  }".to_owned(), "}".to_owned()];
            head.into_iter().chain(fields).chain(tail).collect()
        }
    }
}

/// What stands around an entry.
pub(super) fn around(form: Form) -> Vec<String> {
    match form {
        Form::Toml => Vec::new(),
        Form::Json { key, .. } => vec![format!("{}: {{", json!(key)), "}".to_owned()],
    }
}

/// A value on one line, with a space after each comma.
fn literal(value: &Value) -> String {
    let Value::Array(items) = value else { return value.to_string() };
    let mut text = String::new();
    for item in items {
        let comma = if text.is_empty() { "" } else { ", " };
        let _ = write!(text, "{comma}{item}");
    }
    format!("[{text}]")
}
