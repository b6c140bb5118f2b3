//! A session as a row: identity, owner and where it stands. What its browser held is [`State`](crate::State).

use crate::id::{NodeId, Owner, SessionId};
use crate::lifecycle::Lifecycle;
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;

/// The long-lived thing: it outlives its browser, its keeper and its node.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Session {
    /// For life.
    pub id: SessionId,
    /// Unique among the owner's sessions that are not closed.
    pub name: SessionName,
    /// Free text for people; empty when none was given.
    pub description: String,
    /// Whose it is.
    pub owner: Owner,
    /// The node whose data folder holds its profile.
    pub node: NodeId,
    /// Whether its browser shows a window.
    pub headed: bool,
    /// Whether what its tabs do, network and console, is recorded while its browser runs.
    pub debug: bool,
    /// Where it stands.
    pub lifecycle: Lifecycle,
    /// When it was opened first.
    pub created_at: Timestamp,
    /// When its row last changed.
    pub updated_at: Timestamp,
}

/// A session's name: 1 to 64 letters, digits, `-`, `_` or `.`, and not the look of an id.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[cfg_attr(feature = "schema", schema(value_type = String))]
pub struct SessionName(String);

impl SessionName {
    /// The name as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// A text that cannot name a session.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
#[error("expected a name of 1 to 64 letters, digits, '-', '_' or '.', not a UUID, found {0:?}")]
pub struct InvalidName(String);

impl TryFrom<String> for SessionName {
    type Error = InvalidName;

    fn try_from(text: String) -> Result<Self, InvalidName> {
        let letter = |c: char| c.is_alphanumeric() || matches!(c, '-' | '_' | '.');
        let fits = (1..=64).contains(&text.chars().count())
            && text.chars().all(letter)
            && text.parse::<SessionId>().is_err();
        if fits { Ok(Self(text)) } else { Err(InvalidName(text)) }
    }
}

impl FromStr for SessionName {
    type Err = InvalidName;

    fn from_str(text: &str) -> Result<Self, InvalidName> {
        Self::try_from(text.to_owned())
    }
}

impl From<SessionName> for String {
    fn from(name: SessionName) -> Self {
        name.0
    }
}

impl fmt::Display for SessionName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.0)
    }
}
