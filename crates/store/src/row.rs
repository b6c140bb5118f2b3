//! What an engine says, in our words: how the columns of both become our types, lists of values become SQL,
//! and faults what a person can act on.
//!
//! SQLite speaks in result codes (<https://sqlite.org/rescode.html>), PostgreSQL in SQLSTATE
//! (<https://www.postgresql.org/docs/current/errcodes-appendix.html>).

use crate::error::{SOMEWHERE, StoreError};
use jiff::Timestamp;
use sqlx::Row;
use sqlx::any::AnyRow;
use sqlx::error::DatabaseError;
use sqlx::migrate::MigrateError;
use sqlx::sqlite::SqliteError;
use std::fmt::Write;
use std::str::FromStr;

/// The most rows that one list answers, whatever was asked for: a page of the longest, and the one by which it is known
/// that there is another page.
const PAGE_MAX: u32 = 1001;

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

impl From<sqlx::Error> for StoreError {
    fn from(error: sqlx::Error) -> Self {
        match &error {
            sqlx::Error::Database(inner) => {
                translate(inner.as_ref()).unwrap_or(Self::Database(error))
            }
            sqlx::Error::PoolTimedOut => unreachable("no connection became free in time"),
            sqlx::Error::PoolClosed => unreachable("it was closed"),
            sqlx::Error::Io(_) | sqlx::Error::Tls(_) | sqlx::Error::Protocol(_) => {
                unreachable(&error.to_string())
            }
            _ => Self::Database(error),
        }
    }
}

impl From<MigrateError> for StoreError {
    fn from(error: MigrateError) -> Self {
        match error {
            MigrateError::Execute(error) | MigrateError::ExecuteMigration(error, _) => error.into(),
            other => Self::Migration { place: SOMEWHERE.to_owned(), why: other.to_string() },
        }
    }
}

/// Whether a row was refused because another one has the same unique value.
pub(crate) fn is_taken(error: &sqlx::Error) -> bool {
    error.as_database_error().is_some_and(DatabaseError::is_unique_violation)
}

fn translate(error: &dyn DatabaseError) -> Option<StoreError> {
    let code = error.code()?;
    if error.as_error().is::<SqliteError>() {
        sqlite(code.parse().ok()?, error.message())
    } else {
        postgres(&code, error.message())
    }
}

/// The lowest byte of an extended result code is the kind of error.
fn sqlite(code: u32, message: &str) -> Option<StoreError> {
    let place = SOMEWHERE.to_owned();
    let why = message.to_owned();
    Some(match code & 0xff {
        5 | 6 => StoreError::Busy { place, why },
        8 => StoreError::ReadOnly { place },
        11 => StoreError::Damaged { place, why },
        13 => StoreError::DiskFull { place },
        10 => {
            let why = format!("{why}: its disk is full, fails, or takes no writes");
            StoreError::Unreachable { place, why }
        }
        // Opening it failed.
        14 => StoreError::Unreachable { place, why },
        26 => StoreError::NotADatabase { place },
        _ => return None,
    })
}

fn postgres(state: &str, message: &str) -> Option<StoreError> {
    let place = SOMEWHERE.to_owned();
    let why = message.to_owned();
    Some(match state {
        "53100" => StoreError::DiskFull { place },
        "25006" | "42501" => StoreError::ReadOnly { place },
        // A lock or a statement took too long, or two transactions stood in each other's way.
        "40001" | "40P01" | "55P03" | "57014" => StoreError::Busy { place, why },
        "XX001" | "XX002" => StoreError::Damaged { place, why },
        // Wrong user or password, no such database, too many clients, shutting down, cut off.
        "3D000" | "53300" | "57P01" | "57P02" | "57P03" => StoreError::Unreachable { place, why },
        _ if state.starts_with("28") || state.starts_with("08") => {
            StoreError::Unreachable { place, why }
        }
        _ => return None,
    })
}

fn unreachable(why: &str) -> StoreError {
    StoreError::Unreachable { place: SOMEWHERE.to_owned(), why: why.to_owned() }
}
