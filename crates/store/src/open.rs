//! Opening: look, then touch. A file that is not ours is left as it was found.
//!
//! One connection looks at the database, brings its tables up to date and fetches the data key; only
//! then is there a pool.

use crate::changes::changes;
use crate::config::{Config, DatabaseUrl};
use crate::connect::{POSTGRES_WRITERS, beats, connect, pool, tune_new};
use crate::error::StoreError;
use crate::migrate::SqliteFile;
use crate::store::Inner;
use crate::store::Store;
use crate::turns::Turns;
use crate::{data_key, migrate, sqlite_file};
use sqlx::Connection;
use std::sync::Arc;
use tokio::sync::Mutex;

impl Store {
    /// Opens the database and brings its tables up to date. A SQLite file that does not exist is
    /// made, with mode 0600, in a folder that does. A file that is no database, belongs to another
    /// program, is damaged or newer than this program is refused and left alone.
    pub async fn open(config: Config) -> Result<Self, StoreError> {
        let place = config.database.to_string();
        open(config).await.map_err(|error| error.at(&place))
    }
}

async fn open(config: Config) -> Result<Store, StoreError> {
    sqlx::any::install_default_drivers();
    let engine = config.database.engine();
    if let DatabaseUrl::Sqlite(path) = &config.database {
        sqlite_file::find_or_create(path)?;
    }
    let options = config.database.options()?;
    let mut connection = connect(&options).await?;
    if let DatabaseUrl::Sqlite(path) = &config.database {
        sqlite_file::inspect(path, &mut connection).await?;
    }
    tune_new(&mut connection, engine).await?;
    let file = match &config.database {
        DatabaseUrl::Sqlite(path) => Some(SqliteFile { path, options: &options }),
        DatabaseUrl::Postgres(_) => None,
    };
    migrate::run(&mut connection, file).await?;
    let seal = data_key::load(&mut connection, engine, &config.key).await?;
    connection.close().await?;
    let pool = pool(options.clone(), engine).await?;
    let inner = Inner {
        beats: beats(&pool, options, engine),
        pool,
        engine,
        turn: Arc::new(Mutex::new(())),
        turns: Turns::new(POSTGRES_WRITERS),
        seal: Arc::new(seal),
        limits: config.limits,
        changes: changes(),
    };
    Ok(Store { inner: Arc::new(inner) })
}
