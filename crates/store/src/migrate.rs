//! The schema: brought up to date at every opening, never taken back.

use crate::config::Engine;
use crate::{StoreError, write};
use sqlx::migrate::{MigrateError, Migration, MigrationType, Migrator};
use sqlx::{AnyConnection, Connection, SqlSafeStr};

/// The newest version of the schema that this program knows.
const KNOWN: i64 = 1;

/// Brings the tables up to date. Of several who open a new database at once, one makes the tables.
pub(crate) async fn run(connection: &mut AnyConnection, engine: Engine) -> Result<(), StoreError> {
    match engine {
        // PostgreSQL's migrator takes a lock of its own.
        Engine::Postgres => apply(connection, engine).await,
        Engine::Sqlite => {
            let mut transaction = connection.begin_with(write::begin(engine)).await?;
            apply(&mut transaction, engine).await?;
            Ok(transaction.commit().await?)
        }
    }
}

async fn apply(connection: &mut AnyConnection, engine: Engine) -> Result<(), StoreError> {
    // `run` takes anything that acquires a connection, which makes a future that cannot change
    // threads; this is what it does with a connection in hand.
    match migrator(engine).run_direct(None, connection, false).await {
        Ok(()) => Ok(()),
        Err(MigrateError::VersionMissing(found)) => {
            Err(StoreError::NewerSchema { found, known: KNOWN })
        }
        Err(error) => Err(error.into()),
    }
}

fn migrator(engine: Engine) -> Migrator {
    let first = match engine {
        Engine::Sqlite => include_str!("../migrations/sqlite/0001_first.sql"),
        Engine::Postgres => include_str!("../migrations/postgres/0001_first.sql"),
    };
    Migrator::with_migrations(vec![migration(KNOWN, "first", first)])
}

fn migration(version: i64, description: &'static str, sql: &'static str) -> Migration {
    Migration::new(version, description.into(), MigrationType::Simple, sql.into_sql_str(), false)
}
