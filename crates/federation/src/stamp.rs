//! Instants as they stand in the board: RFC 3339, written with microseconds.
//!
//! The one idea: *a stamp that another program wrote is kept as it is*. One that cannot be understood
//! makes no board unreadable; it only counts as no time at all.

use jiff::Timestamp;
use jiff::civil::DateTime;
use jiff::tz::TimeZone;
use serde::{Deserialize, Serialize};
use std::fmt;

/// An instant as text.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Stamp(String);

impl Stamp {
    /// The instant that the text means, if it means one. Without a zone it is taken for UTC.
    pub fn instant(&self) -> Option<Timestamp> {
        let with_zone = self.0.parse::<Timestamp>().ok();
        with_zone.or_else(|| {
            let local = self.0.parse::<DateTime>().ok()?;
            Some(local.to_zoned(TimeZone::UTC).ok()?.timestamp())
        })
    }

    /// The text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// Whether one of two stamps says no more than the second in which the other one is.
pub(crate) fn is_in_the_second_of(one: Option<&Stamp>, other: Option<&Stamp>) -> bool {
    let instants = one.and_then(Stamp::instant).zip(other.and_then(Stamp::instant));
    instants.is_some_and(|(one, other)| {
        one.subsec_nanosecond() == 0 && one.as_second() == other.as_second()
    })
}

impl From<Timestamp> for Stamp {
    fn from(instant: Timestamp) -> Self {
        Self(instant.strftime("%Y-%m-%dT%H:%M:%S%.6fZ").to_string())
    }
}

impl fmt::Display for Stamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// The later of two stamps; one that means no instant is earlier than any other.
pub(crate) fn later(one: Option<&Stamp>, other: Option<&Stamp>) -> bool {
    one.and_then(Stamp::instant) > other.and_then(Stamp::instant)
}
