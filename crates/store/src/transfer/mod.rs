//! All rows of a database, carried to another one, whatever engine each has.
//!
//! The one idea: the copy shows one moment. Everything is read in one transaction that sees nothing
//! of what others write meanwhile, and counts only when all of it has arrived.

mod rows;
mod tables;
#[cfg(test)]
mod tables_tests;

use crate::config::{DatabaseUrl, Engine};
use crate::connect::{connect, tune_new};
use crate::error::{SOMEWHERE, StoreError};
use crate::master_key::create_private;
use crate::migrate::{self, KNOWN};
use crate::store::Store;
use crate::{beside, copy, data_key, write};
use rows::Batches;
use sqlx::{AnyConnection, AssertSqlSafe, Connection};
use std::path::Path;
use tables::TABLES;

/// What an error calls the database of an open store.
const SOURCE: &str = "the database that is copied";

/// Writes all rows of the PostgreSQL database `from` into a new SQLite file of the newest schema, with
/// mode 0600, and syncs it.
pub(crate) async fn to_file(from: &mut AnyConnection, to: &Path) -> Result<(), StoreError> {
    let place = to.display().to_string();
    tune_new(from, Engine::Postgres).await?;
    let mut reading = from.begin_with(read(Engine::Postgres)).await?;
    let version = migrate::version(&mut reading, Engine::Postgres).await?;
    let mut file = new_file(to, version).await.map_err(|error| error.at(&place))?;
    let mut writing = file.begin().await?;
    copy_rows((&mut reading, SOMEWHERE), (&mut writing, &place), version).await?;
    writing.commit().await.map_err(|error| StoreError::from(error).at(&place))?;
    reading.rollback().await?;
    let migrated = migrate::apply(&mut file, Engine::Sqlite, KNOWN).await;
    migrated.map_err(|error| error.at(&place))?;
    file.close().await?;
    copy::sync(to)
}

/// Whether the rows of a backup can be put into the PostgreSQL database `to`: it is empty.
pub async fn refuse_filled(to: &DatabaseUrl) -> Result<(), StoreError> {
    let looked = async {
        let (mut server, _) = beside::connect_to(to).await?;
        refuse_rows(&mut server).await?;
        Ok(server.close().await?)
    };
    looked.await.map_err(|error: StoreError| error.at(&to.to_string()))
}

impl Store {
    /// Copies every row into the PostgreSQL database `to`, in one transaction. One that is not empty
    /// is left alone.
    pub async fn copy_to(&self, to: &DatabaseUrl) -> Result<(), StoreError> {
        let place = to.to_string();
        let mut from = self.pool().acquire().await?;
        let mut reading = from.begin_with(read(self.inner.engine)).await?;
        let copied = async {
            let (mut server, _) = beside::connect_to(to).await?;
            tune_new(&mut server, Engine::Postgres).await?;
            let mut writing = server.begin_with(write::begin(Engine::Postgres)).await?;
            // A node that opens the database meanwhile waits, and then makes no key of its own.
            write::lock(&mut writing, Engine::Postgres, data_key::LOCK).await?;
            refuse_rows(&mut writing).await?;
            migrate::apply(&mut writing, Engine::Postgres, KNOWN).await?;
            copy_rows((&mut reading, SOURCE), (&mut writing, &place), KNOWN).await?;
            writing.commit().await?;
            Ok(server.close().await?)
        };
        copied.await.map_err(|error: StoreError| error.at(&place))?;
        Ok(reading.rollback().await?)
    }
}

/// Copies table after table. Each side has a name for errors.
async fn copy_rows(
    (from, source): (&mut AnyConnection, &str),
    (to, place): (&mut AnyConnection, &str),
    version: i64,
) -> Result<(), StoreError> {
    for table in &TABLES {
        let columns = table.columns(version);
        if columns.is_empty() {
            continue;
        }
        let mut batches = Batches::new(table, columns);
        while let Some(batch) = batches.next(from).await.map_err(|error| error.at(source))? {
            batch.insert(to).await.map_err(|error| error.at(place))?;
        }
    }
    Ok(())
}

/// How a transaction begins that sees one moment. SQLite's see nothing else.
fn read(engine: Engine) -> &'static str {
    match engine {
        Engine::Sqlite => "begin",
        Engine::Postgres => "begin isolation level repeatable read, read only",
    }
}

/// A file with the tables of a version. It counts only when it is whole and synced, so until then
/// SQLite keeps no journal of it.
async fn new_file(path: &Path, version: i64) -> Result<AnyConnection, StoreError> {
    create_private(path)
        .map_err(|source| StoreError::NoAccess { path: path.to_owned(), source })?;
    let mut file = connect(&DatabaseUrl::Sqlite(path.to_owned()).options()?).await?;
    let settings = "pragma journal_mode = off; pragma synchronous = off";
    sqlx::raw_sql(settings).execute(&mut file).await?;
    migrate::apply(&mut file, Engine::Sqlite, version).await?;
    Ok(file)
}

/// Refuses a PostgreSQL database with a row of ours, or with tables of the same names that are not.
async fn refuse_rows(server: &mut AnyConnection) -> Result<(), StoreError> {
    let version = migrate::version(server, Engine::Postgres).await?;
    for table in &TABLES {
        let here: i64 = sqlx::query_scalar(
            "select count(*) from pg_tables
             where schemaname = current_schema() and tablename = $1",
        )
        .bind(table.name)
        .fetch_one(&mut *server)
        .await?;
        if here == 0 {
            continue;
        }
        if version == 0 {
            return Err(StoreError::NotOurs { place: SOMEWHERE.to_owned() });
        }
        let name = table.name;
        let sql = format!("select count(*) from (select 1 from {name} limit 1) as found");
        let rows: i64 = sqlx::query_scalar(AssertSqlSafe(sql)).fetch_one(&mut *server).await?;
        if rows > 0 {
            return Err(StoreError::Filled { place: SOMEWHERE.to_owned(), table: name });
        }
    }
    Ok(())
}
