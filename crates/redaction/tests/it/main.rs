//! What comes out of the redactor, and what does not.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test ends there")]

mod expected;
mod forms;
mod marks;
mod ordinary;
mod seldom;

use baton_redaction::{Names, Redactor};
use serde::Deserialize;
use serde_json::Value;

/// Something that a tab does, as the corpora have it.
#[derive(Debug, Clone, Deserialize)]
pub(crate) struct Line {
    #[serde(rename = "where")]
    pub(crate) place: Place,
    pub(crate) header: Option<String>,
    pub(crate) mime: Option<String>,
    pub(crate) text: Option<String>,
    pub(crate) args: Option<Vec<Value>>,
}

/// Where it stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Place {
    Header,
    Address,
    Body,
    Console,
    Socket,
}

pub(crate) fn redactor() -> Redactor {
    Redactor::new(Names::default(), *b"a key of a test.")
}

impl Line {
    /// What is shown of it.
    pub(crate) fn shown(&self, redactor: &mut Redactor) -> String {
        let text = self.text.as_deref().unwrap_or_default();
        match self.place {
            Place::Header => redactor.header(self.header.as_deref().unwrap_or_default(), text),
            Place::Address => redactor.address(text),
            Place::Body => redactor.body(text, self.mime.as_deref()),
            Place::Socket => redactor.socket("1 received", text),
            Place::Console => {
                let Some(args) = &self.args else { return redactor.line(text) };
                let words = args
                    .iter()
                    .map(|arg| arg.as_str().map_or_else(|| arg.to_string(), ToOwned::to_owned));
                let message = words.collect::<Vec<_>>().join(" ");
                let args = serde_json::to_string(args).unwrap();
                let (args, message) = redactor.console(&args, &message);
                format!("{args}\n{message}")
            }
        }
    }
}
