//! A connection to a database beside whoever runs on it: nothing is brought up to date.

use crate::config::DatabaseUrl;
use crate::connect::connect;
use crate::error::StoreError;
use crate::migrate::{self, KNOWN};
use crate::sqlite_file;
use sqlx::AnyConnection;

/// A connection, and the version of the schema, which this program knows.
pub(crate) async fn connect_to(database: &DatabaseUrl) -> Result<(AnyConnection, i64), StoreError> {
    sqlx::any::install_default_drivers();
    let mut connection = connect(&database.options()?).await?;
    if let DatabaseUrl::Sqlite(path) = database {
        sqlite_file::inspect(path, &mut connection).await?;
    }
    let version = migrate::version(&mut connection, database.engine()).await?;
    if version > KNOWN {
        return Err(StoreError::NewerSchema { found: version, known: KNOWN });
    }
    Ok((connection, version))
}
