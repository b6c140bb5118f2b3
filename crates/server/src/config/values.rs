//! Values of settings: what they may be, and the error that says so.

use super::error::ConfigError;
use baton_api::Invalid;
use std::fmt::Display;
use std::net::SocketAddr;
use std::ops::RangeInclusive;

/// An address with its port.
pub(super) fn address(
    origin: &str,
    key: &'static str,
    text: &str,
) -> Result<SocketAddr, ConfigError> {
    text.parse()
        .map_err(|_| invalid(origin, key, "an address with a port such as 127.0.0.1:7420", text))
}

/// A number within a range.
pub(super) fn number<T: TryFrom<i64>>(
    origin: &str,
    key: &'static str,
    value: Option<i64>,
    range: RangeInclusive<i64>,
) -> Result<Option<T>, ConfigError> {
    let Some(value) = value else { return Ok(None) };
    let expected = || format!("a number from {} to {}", range.start(), range.end());
    let fits = range.contains(&value).then(|| T::try_from(value).ok()).flatten();
    fits.map(Some).ok_or_else(|| invalid(origin, key, expected(), value))
}

/// A value that makes no sense to whoever is told it.
pub(super) fn refused(origin: &str, why: Invalid) -> ConfigError {
    invalid(origin, why.field, why.expected, why.found)
}

/// A value that a setting cannot have.
pub(super) fn invalid(
    origin: &str,
    key: &'static str,
    expected: impl Display,
    found: impl Display,
) -> ConfigError {
    ConfigError::Invalid {
        origin: origin.to_owned(),
        key,
        expected: expected.to_string(),
        found: found.to_string(),
    }
}
