//! What an engine says, translated into what a person can act on.
//!
//! SQLite speaks in result codes (<https://sqlite.org/rescode.html>), PostgreSQL in SQLSTATE
//! (<https://www.postgresql.org/docs/current/errcodes-appendix.html>).

use crate::error::{SOMEWHERE, StoreError};
use sqlx::error::DatabaseError;
use sqlx::migrate::MigrateError;
use sqlx::sqlite::SqliteError;

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
            let why = format!("{why}: its disk fails, or takes no writes");
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
