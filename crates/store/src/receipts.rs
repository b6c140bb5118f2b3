//! Receipts: what the restores of a session did. They name cookies and sites, so they are sealed.

use crate::blocking::blocking;
use crate::error::{SOMEWHERE, StoreError};
use crate::pooled::PooledConnection;
use crate::store::Store;
use baton_session::{Receipt, SessionId, SnapshotId};
use jiff::Timestamp;
use sqlx::Row;

/// The most bytes of one receipt, before compression.
const RECEIPT_MAX: u64 = 64 << 20;

/// How many receipts of one session are kept.
const KEPT: i64 = 100;

impl Store {
    /// Stores the receipt of a restore of `snapshot`, as the session's latest. The newest hundred
    /// are kept. Fails with `SnapshotNotFound` when the session has no such snapshot.
    pub async fn create_receipt(
        &self,
        session: SessionId,
        snapshot: SnapshotId,
        at: Timestamp,
        receipt: &Receipt,
    ) -> Result<(), StoreError> {
        let plain = serde_json::to_vec(receipt).map_err(|error| corrupt(session, error))?;
        if plain.len() as u64 > RECEIPT_MAX {
            let why = format!("expected at most {RECEIPT_MAX} bytes, found {}", plain.len());
            return Err(corrupt(session, why));
        }
        let (seal, id) = (self.seal(), session.to_string());
        let sealed = blocking(move || seal.seal(&plain, &["receipt", &id])).await?;
        let sealed = sealed.map_err(|error| corrupt(session, error))?;
        let mut write = self.write().await?;
        let ordinal = next_ordinal(write.connection(), session, snapshot).await?;
        sqlx::query(
            "insert into receipts (session, ordinal, snapshot, created_at, sealed)
             values ($1, $2, $3, $4, $5)",
        )
        .bind(session.to_string())
        .bind(ordinal)
        .bind(snapshot.to_string())
        .bind(at.as_millisecond())
        .bind(sealed)
        .execute(write.connection())
        .await
        .map_err(taken_by_another)?;
        sqlx::query("delete from receipts where session = $1 and ordinal <= $2")
            .bind(session.to_string())
            .bind(ordinal - KEPT)
            .execute(write.connection())
            .await?;
        write.commit().await
    }

    /// The receipt of a session that was stored last.
    pub async fn latest_receipt(&self, session: SessionId) -> Result<Option<Receipt>, StoreError> {
        let row = sqlx::query(
            "select sealed from receipts where session = $1 order by ordinal desc limit 1",
        )
        .bind(session.to_string())
        .fetch_optional(self.pool())
        .await?;
        let Some(row) = row else { return Ok(None) };
        let sealed: Vec<u8> = row.try_get("sealed")?;
        let (seal, id) = (self.seal(), session.to_string());
        let reading = blocking(move || {
            let plain = seal
                .open(&sealed, &["receipt", &id], RECEIPT_MAX)
                .map_err(|error| corrupt(session, error))?;
            serde_json::from_slice(&plain).map_err(|error| corrupt(session, error))
        });
        reading.await?.map(Some)
    }
}

/// The ordinal of the session's next receipt.
async fn next_ordinal(
    connection: &mut PooledConnection,
    session: SessionId,
    snapshot: SnapshotId,
) -> Result<i64, StoreError> {
    let found = sqlx::query(
        "select (select coalesce(max(ordinal), 0) + 1 from receipts where session = $1) as ordinal
         from snapshots where id = $2 and session = $1",
    )
    .bind(session.to_string())
    .bind(snapshot.to_string())
    .fetch_optional(connection)
    .await?;
    let row = found.ok_or(StoreError::SnapshotNotFound { reference: snapshot.to_string() })?;
    Ok(row.try_get("ordinal")?)
}

/// On PostgreSQL two receipts of one session can reach for one ordinal; the second tries again.
fn taken_by_another(error: sqlx::Error) -> StoreError {
    if crate::row::is_taken(&error) {
        let why = "another receipt of the session is being stored".to_owned();
        return StoreError::Busy { place: SOMEWHERE.to_owned(), why };
    }
    error.into()
}

fn corrupt(session: SessionId, why: impl std::fmt::Display) -> StoreError {
    StoreError::ReceiptCorrupt { session, why: why.to_string() }
}
