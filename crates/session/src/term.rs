//! Terms: the fencing numbers of leases.

use serde::{Deserialize, Serialize};
use std::fmt;

/// The number of a holder's time with a session. Each new holder gets a higher one, so that what an
/// earlier holder writes late can be told from what the present one writes.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize,
)]
#[serde(transparent)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct Term(i64);

impl Term {
    /// A term as the database counts it.
    pub fn from_i64(number: i64) -> Self {
        Self(number)
    }

    /// The one after it.
    #[must_use]
    pub fn next(self) -> Self {
        Self(self.0.saturating_add(1))
    }

    /// The number for the database.
    pub fn to_i64(self) -> i64 {
        self.0
    }
}

impl fmt::Display for Term {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}
