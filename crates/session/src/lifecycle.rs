//! The lifecycle of a session: five states, and which may follow which.

use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;

/// Where a session stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub enum Lifecycle {
    /// A browser runs for it, held by a keeper.
    Active,
    /// Its browser is gone; a snapshot can bring it back.
    Recoverable,
    /// Its last snapshot is older than `max_session_age`; a person can still resume it.
    Stale,
    /// A resume failed; its snapshots are kept, and a person can try again.
    Failed,
    /// Ended by its user, or it died before its first snapshot. Its name is free again.
    Closed,
}

impl Lifecycle {
    /// Every state, in the order in which lists show them.
    pub const ALL: [Self; 5] =
        [Self::Active, Self::Recoverable, Self::Stale, Self::Failed, Self::Closed];

    /// The word on the wire and in the database.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Active => "active",
            Self::Recoverable => "recoverable",
            Self::Stale => "stale",
            Self::Failed => "failed",
            Self::Closed => "closed",
        }
    }

    /// Whether a session may go from this state to `next`.
    pub fn may_become(self, next: Self) -> bool {
        match self {
            Self::Active => next != Self::Active,
            Self::Recoverable | Self::Stale | Self::Failed => next != self,
            Self::Closed => next == Self::Active,
        }
    }

    /// Whether its name is taken for others of the same owner.
    pub fn holds_name(self) -> bool {
        self != Self::Closed
    }
}

impl fmt::Display for Lifecycle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

/// A word that names no lifecycle state.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
#[error("expected active, recoverable, stale, failed or closed, found {0:?}")]
pub struct UnknownLifecycle(String);

impl FromStr for Lifecycle {
    type Err = UnknownLifecycle;

    fn from_str(word: &str) -> Result<Self, UnknownLifecycle> {
        Self::ALL
            .into_iter()
            .find(|state| state.as_str() == word)
            .ok_or_else(|| UnknownLifecycle(word.to_owned()))
    }
}
