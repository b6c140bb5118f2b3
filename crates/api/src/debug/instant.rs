//! Instants of the debug protocol: milliseconds since 1970.

use super::check;
use jiff::Timestamp;
use serde::{Deserialize, Deserializer, Serialize};
use std::fmt;
use utoipa::ToSchema;

/// Milliseconds since 1970 (UTC). Fractions, which some clocks of browsers give, are rounded.
#[derive(
    Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, ToSchema,
)]
#[serde(transparent)]
pub struct EpochMs(u64);

/// The last instant that calendars know: the end of the year 9999, whatever the time zone.
const LAST: u64 = 253_402_207_199_999;
/// The year 2001. What is before it was measured from another beginning, or in another unit.
const FIRST_OF_AN_EVENT: u64 = 1_000_000_000_000;

impl EpochMs {
    /// That many milliseconds since 1970, at most until the end of the year 9999.
    pub fn new(millis: u64) -> Self {
        Self(millis.min(LAST))
    }

    /// Milliseconds since 1970.
    pub fn get(self) -> u64 {
        self.0
    }

    /// The same instant for calendars.
    pub fn timestamp(self) -> Timestamp {
        let millis = i64::try_from(self.0).unwrap_or(i64::MAX);
        Timestamp::from_millisecond(millis).unwrap_or(Timestamp::MAX)
    }

    /// Milliseconds from `earlier` until this instant; 0 when it is not earlier.
    pub fn since(self, earlier: Self) -> u64 {
        self.0.saturating_sub(earlier.0)
    }

    /// How far apart two instants are, in milliseconds.
    pub fn distance(self, other: Self) -> u64 {
        self.0.abs_diff(other.0)
    }
}

impl fmt::Display for EpochMs {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.timestamp().fmt(f)
    }
}

impl<'de> Deserialize<'de> for EpochMs {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        check::number(deserializer, LAST, "milliseconds since 1970").map(Self)
    }
}

/// When something happened in a browser. The monotonic clock of the DevTools protocol, and seconds,
/// would look like the year 1970.
pub(super) fn of_event<'de, D: Deserializer<'de>>(deserializer: D) -> Result<EpochMs, D::Error> {
    let instant = EpochMs::deserialize(deserializer)?;
    if instant.0 >= FIRST_OF_AN_EVENT {
        return Ok(instant);
    }
    let expected = "milliseconds since 1970, not seconds and not a monotonic clock";
    Err(serde::de::Error::custom(format!("expected {expected}, found {}", instant.0)))
}
