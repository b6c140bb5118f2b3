//! The data key: made once for each database, random, and wrapped by the master key.
//!
//! Were its row lost, everything sealed would be lost; so a missing row beside sealed data is an
//! error, never a reason for a new key.

use crate::config::Engine;
use crate::error::{SOMEWHERE, StoreError};
use crate::master_key::MasterKey;
use crate::seal::{Seal, fingerprint, hex, random};
use crate::write;
use sqlx::{AnyConnection, Connection, Row as _};
use zeroize::Zeroizing;

/// What every opener of a new database locks on PostgreSQL, so that only one makes a key.
pub(crate) const LOCK: &str = "baton data key";

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
pub(crate) async fn load(
    connection: &mut AnyConnection,
    engine: Engine,
    master: &MasterKey,
) -> Result<Seal, StoreError> {
    let mut transaction = connection.begin_with(write::begin_statement(engine)).await?;
    write::lock(&mut transaction, engine, LOCK).await?;
    let rows = list(&mut transaction).await?;
    let seal = if rows.is_empty() {
        refuse_sealed(&mut transaction, SEALED).await?;
        create(&mut transaction, master).await?
    } else {
        unwrap(&rows, master)?
    };
    transaction.commit().await?;
    Ok(seal)
}

/// Whether `master` unwraps the data key, when there is one.
pub(crate) async fn check(
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

async fn create(connection: &mut AnyConnection, master: &MasterKey) -> Result<Seal, StoreError> {
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
