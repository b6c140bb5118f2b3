//! Opening: look, then touch. A file that is not ours is left as it was found.
//!
//! One connection looks at the database, brings its tables up to date and fetches the data key; only then is
//! there a pool. A process beside a node that runs looks in the same way, and touches nothing.
//!
//! SQLite itself refuses what is not a database, and pages that are missing altogether. It takes a
//! file of a few bytes for an empty database, though, fills up half a page with zeros, and would
//! add our tables to those of another program; so we look first. We only ask for the file's size:
//! opening and closing it here would drop the locks that SQLite holds on it.

use crate::config::{Config, DatabaseUrl};
use crate::connect::{POSTGRES_WRITERS, beats, connect, pool, tune_new};
use crate::error::{SOMEWHERE, StoreError};
use crate::master_key::{create_private, sync_folder};
use crate::migrate::{KNOWN, SqliteFile};
use crate::store::{Inner, Store, Turns, changes};
use crate::{data_key, migrate};
use sqlx::{AnyConnection, Connection};
use std::io;
use std::path::Path;
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
        find_or_create(path)?;
    }
    let options = config.database.options()?;
    let mut connection = connect(&options).await?;
    if let DatabaseUrl::Sqlite(path) = &config.database {
        inspect(path, &mut connection).await?;
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

/// The smallest page of SQLite. What is shorter is no database.
const PAGE_MIN: u64 = 512;

/// Finds the file, or makes an empty one with mode 0600, which SQLite takes for a new database.
pub(crate) fn find_or_create(path: &Path) -> Result<(), StoreError> {
    let size = match create_private(path) {
        Ok(file) => file.sync_all().and_then(|()| sync_folder(path)).map(|()| 0),
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => size_of_file(path),
        Err(error) => Err(error),
    };
    match size {
        Ok(1..PAGE_MIN) => Err(StoreError::NotADatabase { place: SOMEWHERE.to_owned() }),
        Ok(_) => Ok(()),
        Err(source) => Err(StoreError::NoAccess { path: path.to_owned(), source }),
    }
}

/// Refuses a file that is truncated, or that holds tables of another program.
async fn inspect(path: &Path, connection: &mut AnyConnection) -> Result<(), StoreError> {
    refuse_truncated(path, connection).await?;
    refuse_others(connection).await
}

fn size_of_file(path: &Path) -> io::Result<u64> {
    let metadata = std::fs::metadata(path)?;
    if metadata.is_file() {
        Ok(metadata.len())
    } else {
        Err(io::Error::other("expected a file, found a folder or a device"))
    }
}

/// SQLite puts its log beside the file, under the same name with `-wal` behind.
fn has_log(path: &Path) -> bool {
    let mut name = path.as_os_str().to_owned();
    name.push("-wal");
    std::fs::metadata(Path::new(&name)).is_ok_and(|metadata| metadata.len() > 0)
}

/// The file may lack pages that are still in the log; else it holds all that SQLite counts. The count comes
/// first: while we are connected, no process takes a log away.
async fn refuse_truncated(path: &Path, connection: &mut AnyConnection) -> Result<(), StoreError> {
    let pages: i64 = sqlx::query_scalar("pragma page_count").fetch_one(&mut *connection).await?;
    let page: i64 = sqlx::query_scalar("pragma page_size").fetch_one(&mut *connection).await?;
    let whole = u64::try_from(pages.saturating_mul(page)).unwrap_or(0);
    if has_log(path) {
        return Ok(());
    }
    let size = size_of_file(path)
        .map_err(|source| StoreError::NoAccess { path: path.to_owned(), source })?;
    if size >= whole {
        return Ok(());
    }
    let why = format!("expected {whole} bytes, found {size}");
    Err(StoreError::Damaged { place: SOMEWHERE.to_owned(), why })
}

async fn refuse_others(connection: &mut AnyConnection) -> Result<(), StoreError> {
    let (tables, ours): (i64, i64) = sqlx::query_as(
        "select count(*), count(case when name = '_sqlx_migrations' then 1 end)
         from sqlite_master where type = 'table' and name not like 'sqlite!_%' escape '!'",
    )
    .fetch_one(connection)
    .await?;
    if tables > 0 && ours == 0 {
        return Err(StoreError::NotOurs { place: SOMEWHERE.to_owned() });
    }
    Ok(())
}

/// A connection beside the nodes that run on the database, and the version of the schema, which this program
/// knows: nothing is brought up to date.
pub(crate) async fn connect_to(database: &DatabaseUrl) -> Result<(AnyConnection, i64), StoreError> {
    sqlx::any::install_default_drivers();
    let mut connection = connect(&database.options()?).await?;
    if let DatabaseUrl::Sqlite(path) = database {
        inspect(path, &mut connection).await?;
    }
    let version = migrate::version(&mut connection, database.engine()).await?;
    if version > KNOWN {
        return Err(StoreError::NewerSchema { found: version, known: KNOWN });
    }
    Ok((connection, version))
}
