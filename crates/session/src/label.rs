//! What a node of a cluster is for, in words that sessions ask for.

use crate::text_form::InvalidText;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use std::fmt;
use std::str::FromStr;

/// A word for what a node has or is for, such as `gpu` or `region=eu`: 1 to 32 of the characters
/// `A-Z a-z 0-9 . _ = -`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[cfg_attr(feature = "schema", schema(value_type = String))]
pub struct NodeLabel(String);

impl NodeLabel {
    /// The most of them that a node has, or a session asks for.
    pub const MOST: usize = 16;

    /// The label as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// A list of labels in one line, for people.
    pub fn list(labels: &BTreeSet<Self>) -> String {
        labels.iter().map(Self::as_str).collect::<Vec<_>>().join(", ")
    }
}

impl TryFrom<String> for NodeLabel {
    type Error = InvalidText;

    fn try_from(text: String) -> Result<Self, InvalidText> {
        let is_part = |c: u8| c.is_ascii_alphanumeric() || b"._=-".contains(&c);
        let fits = (1..=32).contains(&text.len()) && text.bytes().all(is_part);
        let expected = "a label: 1 to 32 letters, digits, '.', '_', '=' or '-'";
        if fits { Ok(Self(text)) } else { Err(InvalidText(expected)) }
    }
}

impl FromStr for NodeLabel {
    type Err = InvalidText;

    fn from_str(text: &str) -> Result<Self, InvalidText> {
        Self::try_from(text.to_owned())
    }
}

impl From<NodeLabel> for String {
    fn from(label: NodeLabel) -> Self {
        label.0
    }
}

impl fmt::Display for NodeLabel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.0)
    }
}
