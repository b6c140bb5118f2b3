//! Rows: how the columns of both engines become our types, lists of values become SQL, and the start of an
//! id, as a person types it, becomes a range of ids.

use crate::error::StoreError;
use jiff::Timestamp;
use sqlx::Row;
use sqlx::any::AnyRow;
use std::fmt::Write;
use std::str::FromStr;

/// The most rows that one list answers, whatever was asked for.
const PAGE_MAX: u32 = 1000;

/// How many values one statement takes. PostgreSQL and SQLite both allow many times more.
pub(crate) const CHUNK: usize = 500;

/// A text column whose words are those of `T`.
pub(crate) fn word<T>(row: &AnyRow, column: &'static str) -> Result<T, StoreError>
where
    T: FromStr,
    T::Err: std::fmt::Display,
{
    let found: String = row.try_get(column)?;
    found.parse().map_err(|error: T::Err| StoreError::InvalidRow {
        column,
        expected: error.to_string(),
        found,
    })
}

/// The same for a column that may hold nothing.
pub(crate) fn maybe_word<T>(row: &AnyRow, column: &'static str) -> Result<Option<T>, StoreError>
where
    T: FromStr,
    T::Err: std::fmt::Display,
{
    let found: Option<String> = row.try_get(column)?;
    found.map(|_| word(row, column)).transpose()
}

/// A column that is 0 or 1.
pub(crate) fn flag(row: &AnyRow, column: &'static str) -> Result<bool, StoreError> {
    Ok(row.try_get::<i64, _>(column)? != 0)
}

/// A column of milliseconds since 1970.
pub(crate) fn instant(row: &AnyRow, column: &'static str) -> Result<Timestamp, StoreError> {
    to_instant(row.try_get(column)?, column)
}

/// A column of milliseconds since 1970, or nothing.
pub(crate) fn maybe_instant(
    row: &AnyRow,
    column: &'static str,
) -> Result<Option<Timestamp>, StoreError> {
    let found: Option<i64> = row.try_get(column)?;
    found.map(|millis| to_instant(millis, column)).transpose()
}

fn to_instant(millis: i64, column: &'static str) -> Result<Timestamp, StoreError> {
    Timestamp::from_millisecond(millis).map_err(|error| StoreError::InvalidRow {
        column,
        expected: error.to_string(),
        found: millis.to_string(),
    })
}

/// An instant as the database will give it back: whole milliseconds.
pub(crate) fn to_millis(at: Timestamp) -> Timestamp {
    Timestamp::from_millisecond(at.as_millisecond()).unwrap_or(at)
}

/// Refuses a text that PostgreSQL cannot keep, on both engines alike.
pub(crate) fn refuse_nul(field: &'static str, text: &str) -> Result<(), StoreError> {
    if text.contains('\0') { Err(StoreError::InvalidText { field }) } else { Ok(()) }
}

/// The rows of one page.
pub(crate) fn page(limit: u32) -> i64 {
    i64::from(limit.min(PAGE_MAX))
}

/// `$first, $first+1, …`: places for `count` values.
pub(crate) fn places(first: usize, count: usize) -> String {
    let mut text = String::new();
    for place in first..first + count {
        let comma = if place == first { "" } else { ", " };
        // Writing to a `String` cannot fail.
        let _ = write!(text, "{comma}${place}");
    }
    text
}

/// The fewest hexadecimal digits that a person may type of an id.
const PREFIX_MIN: usize = 4;

/// The most ids that an ambiguous prefix names.
pub(crate) const MATCHES_MAX: i64 = 5;

/// The start of an id as the database writes it: lower case, with its hyphens.
pub(crate) fn parse_prefix(text: &str) -> Option<String> {
    let digits: String = text.chars().filter(|c| *c != '-').collect();
    let fits = (PREFIX_MIN..=32).contains(&digits.len())
        && digits.bytes().all(|byte| byte.is_ascii_hexdigit());
    if !fits {
        return None;
    }
    let mut prefix = String::new();
    for (position, digit) in digits.to_ascii_lowercase().chars().enumerate() {
        if matches!(position, 8 | 12 | 16 | 20) {
            prefix.push('-');
        }
        prefix.push(digit);
    }
    Some(prefix)
}

/// What sorts behind every id that starts with the prefix: ids hold digits up to `f`.
pub(crate) fn behind_prefix(prefix: &str) -> String {
    format!("{prefix}g")
}
