//! A look at a database from outside, beside the nodes that run on it: for a backup and for a doctor.
//!
//! Nothing is brought up to date, no key is made and no row is written, so an older database stays
//! as old as it is.

use crate::config::{DatabaseUrl, Engine};
use crate::error::StoreError;
use crate::master_key::MasterKey;
use crate::open::{KNOWN, connect_to};
use crate::parts::unnamed;
use crate::row::word;
use crate::{copy, open, transfer};
use baton_session::{Lifecycle, NodeId, SessionId};
use sqlx::{AnyConnection, Connection};
use std::path::Path;

/// What a database holds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Contents {
    /// The version of its schema.
    pub version: i64,
    /// Its sessions, those that are closed too.
    pub sessions: u64,
    /// Their snapshots.
    pub snapshots: u64,
    /// Sealed pieces.
    pub parts: u64,
}

/// What a doctor wants to know.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Look {
    /// What is there.
    pub contents: Contents,
    /// The newest version of the schema that this program knows.
    pub known: i64,
    /// Every session, and its lifecycle.
    pub sessions: Vec<(SessionId, Lifecycle)>,
    /// Parts that no snapshot names, and that wait for none.
    pub unnamed_parts: u64,
    /// Parts that a snapshot names and that are not there.
    pub missing_parts: u64,
    /// The data folder in which the node has said that it runs.
    pub place: Option<String>,
}

/// Counts the parts that no row of a table names, and those that one names and that are not there.
macro_rules! parts_by {
    ($names:literal) => {
        (
            concat!(
                "select count(*) from parts where not exists (select 1 from ",
                $names,
                " as names where names.part = parts.id)"
            ),
            concat!(
                "select count(distinct part) from ",
                $names,
                " as names where not exists (select 1 from parts where parts.id = names.part)"
            ),
        )
    };
}

/// Copies a database to a new SQLite file, whole and consistent, also while it is written to, and synced.
/// `key` must open it. The copy of a SQLite file is as old as the file; one of PostgreSQL is brought up to
/// date.
pub async fn copy_database(
    from: &DatabaseUrl,
    key: &MasterKey,
    to: &Path,
) -> Result<Contents, StoreError> {
    let place = from.to_string();
    let copied = async {
        let mut connection = open(from, key).await?;
        match from.engine() {
            Engine::Sqlite => copy::write(&mut connection, to).await?,
            Engine::Postgres => transfer::to_file(&mut connection, to).await?,
        }
        Ok(connection.close().await?)
    };
    copied.await.map_err(|error: StoreError| error.at(&place))?;
    // What is counted is what was copied.
    let copy = DatabaseUrl::Sqlite(to.to_owned());
    let mut connection = open(&copy, key).await?;
    let contents = contents(&mut connection, Engine::Sqlite).await?;
    connection.close().await?;
    Ok(contents)
}

/// Looks at a database as `node` would find it. `key` must open it.
pub async fn inspect(
    database: &DatabaseUrl,
    key: &MasterKey,
    node: Option<NodeId>,
) -> Result<Look, StoreError> {
    let place = database.to_string();
    let looked = async {
        let mut connection = open(database, key).await?;
        let look = look_at(&mut connection, database.engine(), node).await?;
        connection.close().await?;
        Ok(look)
    };
    looked.await.map_err(|error: StoreError| error.at(&place))
}

/// Whether a node has ever used the database: its file is there, or the server holds a data key.
pub async fn has_begun(database: &DatabaseUrl) -> Result<bool, StoreError> {
    match database {
        DatabaseUrl::Sqlite(path) => Ok(path.exists()),
        DatabaseUrl::Postgres(_) => is_sealed(database).await,
    }
}

/// Whether something in the database is sealed already, so that only its own master key will do.
pub async fn is_sealed(database: &DatabaseUrl) -> Result<bool, StoreError> {
    if matches!(database, DatabaseUrl::Sqlite(path) if !path.exists()) {
        return Ok(false);
    }
    let place = database.to_string();
    let asked = async {
        let (mut connection, version) = connect_to(database).await?;
        let sealed =
            version > 0 && count(&mut connection, "select count(*) from data_keys").await? > 0;
        connection.close().await?;
        Ok(sealed)
    };
    asked.await.map_err(|error: StoreError| error.at(&place))
}

async fn open(database: &DatabaseUrl, key: &MasterKey) -> Result<AnyConnection, StoreError> {
    let (mut connection, version) = connect_to(database).await?;
    if version > 0 {
        open::check_data_key(&mut connection, key).await?;
    }
    Ok(connection)
}

async fn look_at(
    connection: &mut AnyConnection,
    engine: Engine,
    node: Option<NodeId>,
) -> Result<Look, StoreError> {
    let contents = contents(connection, engine).await?;
    let mut look = Look {
        contents,
        known: KNOWN,
        sessions: Vec::new(),
        unnamed_parts: 0,
        missing_parts: 0,
        place: None,
    };
    if look.contents.version == 0 {
        return Ok(look);
    }
    let rows =
        sqlx::query("select id, lifecycle from sessions").fetch_all(&mut *connection).await?;
    for row in &rows {
        look.sessions.push((word(row, "id")?, word(row, "lifecycle")?));
    }
    let (unnamed, missing) = match look.contents.version {
        ..3 => parts_by!("snapshot_parts"),
        3 => parts_by!("part_spans"),
        _ => (unnamed!("select count(*) from parts where"), parts_by!("part_spans").1),
    };
    look.unnamed_parts = count(connection, unnamed).await?;
    look.missing_parts = count(connection, missing).await?;
    if let Some(node) = node.filter(|_| look.contents.version > 1) {
        look.place = sqlx::query_scalar("select place from nodes where id = $1")
            .bind(node.to_string())
            .fetch_optional(connection)
            .await?;
    }
    Ok(look)
}

async fn contents(connection: &mut AnyConnection, engine: Engine) -> Result<Contents, StoreError> {
    let version = open::version(connection, engine).await?;
    if version == 0 {
        return Ok(Contents { version, sessions: 0, snapshots: 0, parts: 0 });
    }
    Ok(Contents {
        version,
        sessions: count(connection, "select count(*) from sessions").await?,
        snapshots: count(connection, "select count(*) from snapshots").await?,
        parts: count(connection, "select count(*) from parts").await?,
    })
}

async fn count(connection: &mut AnyConnection, sql: &'static str) -> Result<u64, StoreError> {
    let count: i64 = sqlx::query_scalar(sql).fetch_one(connection).await?;
    Ok(u64::try_from(count).unwrap_or(0))
}
