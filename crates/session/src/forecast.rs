//! Forecast: how soon the cookies of a state expire, and with them, as a rule, its logins.

use crate::cookie::Cookie;
use crate::cookie::Expiry;
use crate::state::State;
use jiff::Timestamp;
use serde::{Deserialize, Serialize};

/// One hour in microseconds.
const HOUR: i64 = 3_600_000_000;

/// How many cookies of a state expire how soon. One that ends with the browser has no end of its
/// own, because a resume brings it back.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct Forecast {
    /// Cookies that a resume at this moment would bring back.
    pub cookies: usize,
    /// Cookies that have expired since the state was captured.
    pub expired: usize,
    /// Cookies that expire within an hour.
    pub within_hour: usize,
    /// Cookies that expire within a day, those within an hour included.
    pub within_day: usize,
    /// Cookies that expire within seven days, those within a day included.
    pub within_week: usize,
    /// When the next one expires; none when none of them has an end.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schema(value_type = Option<String>, format = "date-time"))]
    pub next: Option<Timestamp>,
}

/// The forecast for `state` as seen at `now`.
pub fn forecast(state: &State, now: Timestamp) -> Forecast {
    of_cookies(&state.cookies.iter().collect::<Vec<_>>(), now)
}

/// The forecast for these cookies as seen at `now`.
pub(crate) fn of_cookies(cookies: &[&Cookie], now: Timestamp) -> Forecast {
    let now = now.as_microsecond();
    let expired = cookies.iter().filter(|cookie| left(cookie, now) <= 0).count();
    let ends: Vec<Expiry> =
        cookies.iter().filter_map(|cookie| cookie.expires).filter(|end| end.0 > now).collect();
    let within = |time: i64| ends.iter().filter(|end| end.0.saturating_sub(now) <= time).count();
    Forecast {
        cookies: cookies.len() - expired,
        expired,
        within_hour: within(HOUR),
        within_day: within(24 * HOUR),
        within_week: within(7 * 24 * HOUR),
        next: ends.iter().min().and_then(|end| Timestamp::from_microsecond(end.0).ok()),
    }
}

/// The microseconds that a cookie has left.
fn left(cookie: &Cookie, now: i64) -> i64 {
    cookie.expires.map_or(i64::MAX, |end| end.0.saturating_sub(now))
}
