//! Opening: look, then touch. A file that is not ours is left as it was found, the schema of one that is
//! ours is brought up to date, never taken back, and its data key is unwrapped by the master key.
//!
//! One connection looks at the database, brings its tables up to date and fetches the data key; only then is
//! there a pool. A process beside a node that runs looks in the same way, and touches nothing.
//!
//! SQLite itself refuses what is not a database, and pages that are missing altogether. It takes a
//! file of a few bytes for an empty database, though, fills up half a page with zeros, and would
//! add our tables to those of another program; so we look first. We only ask for the file's size:
//! opening and closing it here would drop the locks that SQLite holds on it.
//!
//! A step of the schema that fails changes nothing: on SQLite all steps are one transaction, and a copy of the database
//! from before is beside it.
//!
//! Were the row of the data key lost, everything sealed would be lost; so a missing row beside sealed data is an
//! error, never a reason for a new key.

use crate::config::{Config, DatabaseUrl, Engine};
use crate::connect::{POSTGRES_WRITERS, beats, connect, pool, tune_new};
use crate::error::{SOMEWHERE, StoreError};
use crate::master_key::{MasterKey, create_private, sync_folder};
use crate::pins::Pins;
use crate::quotas::CountedBytes;
use crate::seal::{Seal, fingerprint, hex, random};
use crate::store::{Inner, Store, Turns, changes};
use crate::{copy, write};
use sqlx::any::AnyConnectOptions;
use sqlx::migrate::{MigrateError, Migration, MigrationType, Migrator};
use sqlx::{AnyConnection, Connection, Row as _, SqlSafeStr};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};
use tokio::sync::Mutex;
use zeroize::Zeroizing;

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
    run(&mut connection, file).await?;
    let seal = load_data_key(&mut connection, engine, &config.key).await?;
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
        quotas: OnceLock::new(),
        counted_bytes: CountedBytes::default(),
        changes: changes(),
        pins: Pins::default(),
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
    let version = version(&mut connection, database.engine()).await?;
    if version > KNOWN {
        return Err(StoreError::NewerSchema { found: version, known: KNOWN });
    }
    Ok((connection, version))
}

/// The newest version of the schema that this program knows.
#[expect(clippy::cast_possible_wrap, reason = "a few steps")]
pub(crate) const KNOWN: i64 = STEPS as i64;
/// How many steps lead there.
const STEPS: usize = 18;

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
            (
                "invitations",
                include_str!(concat!("../migrations/", $engine, "/0010_invitations.sql")),
            ),
            ("cluster", include_str!(concat!("../migrations/", $engine, "/0011_cluster.sql"))),
            ("placement", include_str!(concat!("../migrations/", $engine, "/0012_placement.sql"))),
            ("quotas", include_str!(concat!("../migrations/", $engine, "/0013_quotas.sql"))),
            ("pages", include_str!(concat!("../migrations/", $engine, "/0014_pages.sql"))),
            (
                "sandbox places",
                include_str!(concat!("../migrations/", $engine, "/0015_sandbox_places.sql")),
            ),
            (
                "closed names",
                include_str!(concat!("../migrations/", $engine, "/0016_closed_names.sql")),
            ),
            (
                "list changes",
                include_str!(concat!("../migrations/", $engine, "/0017_list_changes.sql")),
            ),
            ("turns", include_str!(concat!("../migrations/", $engine, "/0018_turns.sql"))),
        ]
    };
}

fn migrator(engine: Engine, version: i64) -> Migrator {
    // One for each version that is known, or this does not compile.
    let steps: [(&str, &str); STEPS] = match engine {
        Engine::Sqlite => steps!("sqlite"),
        Engine::Postgres => steps!("postgres"),
    };
    let migrations = (1..=version).zip(steps).map(|(version, (name, sql))| {
        Migration::new(version, name.into(), MigrationType::Simple, sql.into_sql_str(), false)
    });
    Migrator::with_migrations(migrations.collect())
}

/// What every opener of a new database locks on PostgreSQL, so that only one makes a key.
pub(crate) const DATA_KEY_LOCK: &str = "baton data key";

/// Counts what is sealed for good in a database of any version.
const SNAPSHOTS: &str = "select count(*) from snapshots";

/// The same in one of the newest version.
const SEALED: &str = "
    select (select count(*) from snapshots) + (select count(*) from identities)
        + (select count(*) from shared_sessions)";

/// A row of `data_keys`.
struct Row {
    id: String,
    wrapped_by: String,
    sealed: Vec<u8>,
}

/// Unwraps the data key, or makes one in a new database.
pub(crate) async fn load_data_key(
    connection: &mut AnyConnection,
    engine: Engine,
    master: &MasterKey,
) -> Result<Seal, StoreError> {
    let mut transaction = connection.begin_with(write::begin_statement(engine)).await?;
    write::lock(&mut *transaction, engine, DATA_KEY_LOCK).await?;
    let rows = list(&mut transaction).await?;
    let seal = if rows.is_empty() {
        refuse_sealed(&mut transaction, SEALED).await?;
        create_data_key(&mut transaction, master).await?
    } else {
        unwrap(&rows, master)?
    };
    transaction.commit().await?;
    Ok(seal)
}

/// Whether `master` unwraps the data key, when there is one.
pub(crate) async fn check_data_key(
    connection: &mut AnyConnection,
    master: &MasterKey,
) -> Result<(), StoreError> {
    let rows = list(connection).await?;
    if rows.is_empty() {
        refuse_sealed(connection, SNAPSHOTS).await
    } else {
        unwrap(&rows, master).map(drop)
    }
}

async fn list(connection: &mut AnyConnection) -> Result<Vec<Row>, StoreError> {
    let rows = sqlx::query("select id, wrapped_by, wrapped from data_keys order by id, wrapped_by")
        .fetch_all(connection)
        .await?;
    let decode = |row: &sqlx::any::AnyRow| {
        Ok(Row {
            id: row.try_get("id")?,
            wrapped_by: row.try_get("wrapped_by")?,
            sealed: row.try_get("wrapped")?,
        })
    };
    rows.iter().map(decode).collect()
}

async fn refuse_sealed(
    connection: &mut AnyConnection,
    sealed: &'static str,
) -> Result<(), StoreError> {
    let sealed: i64 = sqlx::query_scalar(sealed).fetch_one(connection).await?;
    if sealed == 0 { Ok(()) } else { Err(damaged("its data key is gone")) }
}

async fn create_data_key(
    connection: &mut AnyConnection,
    master: &MasterKey,
) -> Result<Seal, StoreError> {
    let key = Zeroizing::new(random::<32>());
    let id = hex(&random::<8>());
    let wrapped_by = fingerprint(master.bytes());
    let wrapped = wrapper(master, &wrapped_by)
        .seal(key.as_slice(), &["data key", &id])
        .map_err(|error| damaged(&error.to_string()))?;
    sqlx::query("insert into data_keys (id, wrapped_by, wrapped) values ($1, $2, $3)")
        .bind(&id)
        .bind(&wrapped_by)
        .bind(wrapped)
        .execute(connection)
        .await?;
    Ok(Seal::new(&key, id))
}

fn unwrap(rows: &[Row], master: &MasterKey) -> Result<Seal, StoreError> {
    let found = fingerprint(master.bytes());
    let Some(row) = rows.iter().find(|row| row.wrapped_by == found) else {
        let fingerprints: Vec<&str> = rows.iter().map(|row| row.wrapped_by.as_str()).collect();
        return Err(StoreError::WrongKey { expected: fingerprints.join(", "), found });
    };
    let plain = wrapper(master, &found)
        .open(&row.sealed, &["data key", &row.id], 32)
        .map(Zeroizing::new)
        .map_err(|error| damaged(&format!("its data key does not open: {error}")))?;
    let key = Zeroizing::new(
        <[u8; 32]>::try_from(plain.as_slice())
            .map_err(|_| damaged(&format!("its data key has {} bytes, not 32", plain.len())))?,
    );
    Ok(Seal::new(&key, row.id.as_str()))
}

/// The master key seals nothing but data keys.
fn wrapper(master: &MasterKey, fingerprint: &str) -> Seal {
    Seal::new(master.bytes(), fingerprint)
}

fn damaged(why: &str) -> StoreError {
    StoreError::Damaged { place: SOMEWHERE.to_owned(), why: why.to_owned() }
}
