//! Values of the debug protocol that are read with care: numbers in their range, texts of a sensible length,
//! and instants, which are milliseconds since 1970.

use jiff::Timestamp;
use serde::de::{Deserializer, Error, Visitor};
use serde::{Deserialize, Serialize};
use std::fmt;
use utoipa::ToSchema;

/// The longest id, in bytes.
const MAX_ID: usize = 256;
/// The longest method, in bytes.
const MAX_METHOD: usize = 64;
/// The largest status.
const MAX_STATUS: u64 = 999;
/// The largest duration in milliseconds and the largest size in bytes: what a JSON number holds exactly.
const MAX_COUNT: u64 = (1 << 53) - 1;

/// A number from 0 to `most`, rounded when it has a fraction.
pub(super) fn number<'de, D: Deserializer<'de>>(
    deserializer: D,
    most: u64,
    expected: &'static str,
) -> Result<u64, D::Error> {
    deserializer.deserialize_any(Number { most, expected })
}

struct Number {
    most: u64,
    expected: &'static str,
}

impl Visitor<'_> for Number {
    type Value = u64;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} from 0 to {}", self.expected, self.most)
    }

    fn visit_u64<E: Error>(self, found: u64) -> Result<u64, E> {
        if found <= self.most {
            return Ok(found);
        }
        Err(E::custom(format!("expected {} up to {}, found {found}", self.expected, self.most)))
    }

    fn visit_i64<E: Error>(self, found: i64) -> Result<u64, E> {
        match u64::try_from(found) {
            Ok(found) => self.visit_u64(found),
            Err(_) => {
                Err(E::custom(format!("expected {} from 0 on, found {found}", self.expected)))
            }
        }
    }

    fn visit_f64<E: Error>(self, found: f64) -> Result<u64, E> {
        if !found.is_finite() || found < 0.0 {
            return Err(E::custom(format!("expected {} from 0 on, found {found}", self.expected)));
        }
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "it is not negative, and `as` saturates far beyond what is allowed"
        )]
        self.visit_u64(found.round() as u64)
    }
}

/// A duration in milliseconds, or nothing.
pub(super) fn millis<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<u64>, D::Error> {
    deserializer.deserialize_option(Optional { most: MAX_COUNT, expected: "milliseconds" })
}

/// A size in bytes, or nothing.
pub(super) fn bytes<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<u64>, D::Error> {
    deserializer.deserialize_option(Optional { most: MAX_COUNT, expected: "a number of bytes" })
}

/// A status of HTTP; 0 where the browser hides it.
pub(super) fn status<'de, D: Deserializer<'de>>(deserializer: D) -> Result<u16, D::Error> {
    let status = number(deserializer, MAX_STATUS, "a status")?;
    Ok(u16::try_from(status).unwrap_or_default())
}

/// A status, or nothing.
pub(super) fn optional_status<'de, D: Deserializer<'de>>(d: D) -> Result<Option<u16>, D::Error> {
    let status = d.deserialize_option(Optional { most: MAX_STATUS, expected: "a status" })?;
    Ok(status.and_then(|status| u16::try_from(status).ok()))
}

struct Optional {
    most: u64,
    expected: &'static str,
}

impl<'de> Visitor<'de> for Optional {
    type Value = Option<u64>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} from 0 to {}, or nothing", self.expected, self.most)
    }

    fn visit_none<E: Error>(self) -> Result<Option<u64>, E> {
        Ok(None)
    }

    fn visit_unit<E: Error>(self) -> Result<Option<u64>, E> {
        Ok(None)
    }

    fn visit_some<D: Deserializer<'de>>(self, deserializer: D) -> Result<Option<u64>, D::Error> {
        number(deserializer, self.most, self.expected).map(Some)
    }
}

/// An id that someone else made up.
pub(super) fn id<'de, D: Deserializer<'de>>(deserializer: D) -> Result<String, D::Error> {
    let id: String = serde::Deserialize::deserialize(deserializer)?;
    if (1..=MAX_ID).contains(&id.len()) {
        return Ok(id);
    }
    Err(D::Error::custom(format!("expected an id of 1 to {MAX_ID} bytes, found {}", id.len())))
}

/// A method of HTTP (RFC 9110: a token).
pub(super) fn method<'de, D: Deserializer<'de>>(deserializer: D) -> Result<String, D::Error> {
    let method: String = serde::Deserialize::deserialize(deserializer)?;
    let fits = |c: u8| c.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&c);
    if (1..=MAX_METHOD).contains(&method.len()) && method.bytes().all(fits) {
        return Ok(method);
    }
    Err(D::Error::custom("expected a method of HTTP such as GET, found something else"))
}

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
        number(deserializer, LAST, "milliseconds since 1970").map(Self)
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
