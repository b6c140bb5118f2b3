//! The name of an agent: who, of several at one node, drives a session now.

use crate::text_form::InvalidText;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;

/// An agent's name: 1 to 64 of the characters `A-Z a-z 0-9 . _ -`, and not a dot alone or two. The
/// same form as on the board, where it is the name of a file.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[cfg_attr(feature = "schema", schema(value_type = String))]
pub struct AgentName(String);

impl AgentName {
    /// The name as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl TryFrom<String> for AgentName {
    type Error = InvalidText;

    fn try_from(text: String) -> Result<Self, InvalidText> {
        let fits = (1..=64).contains(&text.len())
            && text.bytes().all(|c| c.is_ascii_alphanumeric() || matches!(c, b'.' | b'_' | b'-'))
            && !matches!(text.as_str(), "." | "..");
        let expected = "an agent's name: 1 to 64 letters, digits, '.', '_' or '-'";
        if fits { Ok(Self(text)) } else { Err(InvalidText(expected)) }
    }
}

impl FromStr for AgentName {
    type Err = InvalidText;

    fn from_str(text: &str) -> Result<Self, InvalidText> {
        Self::try_from(text.to_owned())
    }
}

impl From<AgentName> for String {
    fn from(name: AgentName) -> Self {
        name.0
    }
}

impl fmt::Display for AgentName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.0)
    }
}
