//! The schema: brought up to date at every opening, never taken back.

use crate::config::Engine;
use crate::{StoreError, write};
use sqlx::migrate::{MigrateError, Migration, MigrationType, Migrator};
use sqlx::{AnyConnection, Connection, SqlSafeStr};

/// The newest version of the schema that this program knows.
const KNOWN: i64 = 2;

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

/// Every step of the schema of an engine, the oldest first.
macro_rules! steps {
    ($engine:literal) => {
        [
            ("first", include_str!(concat!("../migrations/", $engine, "/0001_first.sql"))),
            ("recovery", include_str!(concat!("../migrations/", $engine, "/0002_recovery.sql"))),
        ]
    };
}

fn migrator(engine: Engine) -> Migrator {
    let steps = match engine {
        Engine::Sqlite => steps!("sqlite"),
        Engine::Postgres => steps!("postgres"),
    };
    let migrations = (1..=KNOWN).zip(steps).map(|(version, (name, sql))| {
        Migration::new(version, name.into(), MigrationType::Simple, sql.into_sql_str(), false)
    });
    Migrator::with_migrations(migrations.collect())
}
