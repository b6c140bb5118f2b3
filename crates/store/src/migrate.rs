//! The schema: brought up to date at every opening, never taken back.
//!
//! A step that fails changes nothing: on SQLite all steps are one transaction, and a copy of the database
//! from before is beside it.

use crate::config::Engine;
use crate::connect::connect;
use crate::error::StoreError;
use crate::{copy, write};
use sqlx::any::AnyConnectOptions;
use sqlx::migrate::{MigrateError, Migration, MigrationType, Migrator};
use sqlx::{AnyConnection, Connection, SqlSafeStr};
use std::path::{Path, PathBuf};

/// The newest version of the schema that this program knows.
pub(crate) const KNOWN: i64 = 9;

/// A SQLite file, and how to connect to it once more.
pub(crate) struct SqliteFile<'a> {
    pub(crate) path: &'a Path,
    pub(crate) options: &'a AnyConnectOptions,
}

/// Brings the tables up to date. Of several who open a new database at once, one makes the tables.
pub(crate) async fn run(
    connection: &mut AnyConnection,
    file: Option<SqliteFile<'_>>,
) -> Result<(), StoreError> {
    match file {
        // PostgreSQL's migrator takes a lock of its own.
        None => apply(connection, Engine::Postgres, KNOWN).await,
        Some(file) => run_sqlite(connection, &file).await,
    }
}

async fn run_sqlite(
    connection: &mut AnyConnection,
    file: &SqliteFile<'_>,
) -> Result<(), StoreError> {
    let mut transaction = connection.begin_with(write::begin_statement(Engine::Sqlite)).await?;
    let found = version(&mut transaction, Engine::Sqlite).await?;
    if !(1..KNOWN).contains(&found) {
        apply(&mut transaction, Engine::Sqlite, KNOWN).await?;
        return Ok(transaction.commit().await?);
    }
    let copy = keep_copy(file, found).await?;
    tracing::info!(from = found, to = KNOWN, copy = %copy.display(), "the database is brought up to date; a copy from before is kept");
    let migrated = match apply(&mut transaction, Engine::Sqlite, KNOWN).await {
        Ok(()) => transaction.commit().await.map_err(StoreError::from),
        failed => failed,
    };
    migrated.map_err(|source| StoreError::NotMigrated {
        found,
        known: KNOWN,
        copy,
        source: Box::new(source),
    })?;
    copy::prune(file.path).await
}

/// The connection that migrates holds the write lock; a second one reads what was there before.
async fn keep_copy(file: &SqliteFile<'_>, version: i64) -> Result<PathBuf, StoreError> {
    let mut reader = connect(file.options).await?;
    let copy = copy::keep(&mut reader, file.path, version).await?;
    reader.close().await?;
    Ok(copy)
}

/// The version of the tables that are there; 0 when there are none.
pub(crate) async fn version(
    connection: &mut AnyConnection,
    engine: Engine,
) -> Result<i64, StoreError> {
    let tables: i64 = sqlx::query_scalar(match engine {
        Engine::Sqlite => "select count(*) from sqlite_master where name = '_sqlx_migrations'",
        Engine::Postgres => {
            "select count(*) from pg_tables
             where schemaname = current_schema() and tablename = '_sqlx_migrations'"
        }
    })
    .fetch_one(&mut *connection)
    .await?;
    if tables == 0 {
        return Ok(0);
    }
    let version: Option<i64> = sqlx::query_scalar("select max(version) from _sqlx_migrations")
        .fetch_one(connection)
        .await?;
    Ok(version.unwrap_or(0))
}

/// Applies the steps that are missing, up to the one that leads to `version`.
pub(crate) async fn apply(
    connection: &mut AnyConnection,
    engine: Engine,
    version: i64,
) -> Result<(), StoreError> {
    // `run` takes anything that acquires a connection, which makes a future that cannot change
    // threads; this is what it does with a connection in hand.
    match migrator(engine, version).run_direct(None, connection, false).await {
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
            ("spans", include_str!(concat!("../migrations/", $engine, "/0003_spans.sql"))),
            ("sync", include_str!(concat!("../migrations/", $engine, "/0004_sync.sql"))),
            ("agents", include_str!(concat!("../migrations/", $engine, "/0005_agents.sql"))),
            ("debug", include_str!(concat!("../migrations/", $engine, "/0006_debug.sql"))),
            ("cocoons", include_str!(concat!("../migrations/", $engine, "/0007_cocoons.sql"))),
            ("limits", include_str!(concat!("../migrations/", $engine, "/0008_limits.sql"))),
            (
                "keys for nodes",
                include_str!(concat!("../migrations/", $engine, "/0009_keys_for_nodes.sql")),
            ),
        ]
    };
}

fn migrator(engine: Engine, version: i64) -> Migrator {
    let steps = match engine {
        Engine::Sqlite => steps!("sqlite"),
        Engine::Postgres => steps!("postgres"),
    };
    let migrations = (1..=version).zip(steps).map(|(version, (name, sql))| {
        Migration::new(version, name.into(), MigrationType::Simple, sql.into_sql_str(), false)
    });
    Migrator::with_migrations(migrations.collect())
}
