//! What time it is.

use jiff::Timestamp;

/// Now, to the millisecond: that is what the database keeps, so a row is the same before and after.
pub fn now() -> Timestamp {
    let now = Timestamp::now();
    Timestamp::from_millisecond(now.as_millisecond()).unwrap_or(now)
}
