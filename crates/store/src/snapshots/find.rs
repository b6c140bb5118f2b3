//! Finds the snapshot of a session that a person means.

use super::Snapshot;
use super::fetch::select;
use crate::error::StoreError;
use crate::prefix::{self, MATCHES_MAX};
use crate::row::{CHUNK, places, word};
use crate::store::Store;
use baton_session::{SessionId, SnapshotId, SnapshotReason};
use sqlx::AssertSqlSafe;

impl Store {
    /// The snapshot of a session with this id; or the one whose id starts so, at least four digits,
    /// when no other one's does. Fails with `SnapshotNotFound` and `AmbiguousSnapshot`.
    pub async fn find_snapshot(
        &self,
        session: SessionId,
        reference: &str,
    ) -> Result<Snapshot, StoreError> {
        let id = match reference.parse() {
            Ok(id) => id,
            Err(_) => self.only_one_with(session, reference).await?,
        };
        let row = sqlx::query(select!("where snapshots.session = $1 and snapshots.id = $2"))
            .bind(session.to_string())
            .bind(id.to_string())
            .fetch_optional(self.pool())
            .await?;
        self.open_snapshot(&row.ok_or_else(|| unknown(reference))?).await
    }

    /// Whether one of these sessions has a snapshot of this reason.
    pub async fn has_snapshot_of(
        &self,
        sessions: &[SessionId],
        reason: SnapshotReason,
    ) -> Result<bool, StoreError> {
        for some in sessions.chunks(CHUNK) {
            let sql = format!(
                "select 1 from snapshots where reason = $1 and session in ({}) limit 1",
                places(2, some.len())
            );
            let mut query = sqlx::query(AssertSqlSafe(sql)).bind(reason.as_str()).persistent(false);
            for session in some {
                query = query.bind(session.to_string());
            }
            if query.fetch_optional(self.pool()).await?.is_some() {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// The only snapshot whose id starts so.
    async fn only_one_with(
        &self,
        session: SessionId,
        reference: &str,
    ) -> Result<SnapshotId, StoreError> {
        let prefix = prefix::parse(reference).ok_or_else(|| unknown(reference))?;
        let matches = self.all_with(session, &prefix).await?;
        match matches[..] {
            [] => Err(unknown(reference)),
            [id] => Ok(id),
            _ => Err(StoreError::AmbiguousSnapshot { reference: reference.to_owned(), matches }),
        }
    }

    async fn all_with(
        &self,
        session: SessionId,
        prefix: &str,
    ) -> Result<Vec<SnapshotId>, StoreError> {
        let rows = sqlx::query(
            "select id from snapshots where session = $1 and id >= $2 and id < $3
             order by id limit $4",
        )
        .bind(session.to_string())
        .bind(prefix)
        .bind(prefix::end(prefix))
        .bind(MATCHES_MAX)
        .fetch_all(self.pool())
        .await?;
        rows.iter().map(|row| word(row, "id")).collect()
    }
}

fn unknown(reference: &str) -> StoreError {
    StoreError::SnapshotNotFound { reference: reference.to_owned() }
}
