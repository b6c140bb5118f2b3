//! Lists the snapshots of a session, newest first, a page at a time.

use super::Snapshot;
use super::fetch::{Sealed, select};
use crate::blocking::blocking;
use crate::error::StoreError;
use crate::row::page;
use crate::store::Store;
use baton_session::{SessionId, SnapshotId};

impl Store {
    /// Up to `limit` (at most 1000) snapshots of a session, newest first: those stored before
    /// `after`, if given (`SnapshotNotFound` when it is none of them). One whose list of parts
    /// cannot be read is left out, with a warning in the log.
    pub async fn list_snapshots(
        &self,
        session: SessionId,
        after: Option<SnapshotId>,
        limit: u32,
    ) -> Result<Vec<Snapshot>, StoreError> {
        let found = self.list_history(session, after, limit).await?;
        Ok(found.into_iter().filter_map(readable).collect())
    }

    /// The same with those that cannot be read: `SnapshotCorrupt` stands in their place.
    pub async fn list_history(
        &self,
        session: SessionId,
        after: Option<SnapshotId>,
        limit: u32,
    ) -> Result<Vec<Result<Snapshot, StoreError>>, StoreError> {
        let before = match after {
            Some(id) => self.ordinal(session, id).await?,
            None => i64::MAX,
        };
        let rows = sqlx::query(select!(
            "where snapshots.session = $1 and ordinal < $2 order by ordinal desc limit $3"
        ))
        .bind(session.to_string())
        .bind(before)
        .bind(page(limit))
        .fetch_all(self.pool())
        .await?;
        let sealed: Vec<Sealed> = rows.iter().map(Sealed::decode).collect::<Result<_, _>>()?;
        let seal = self.seal();
        let opening = blocking(move || {
            let mut opened = None;
            sealed.into_iter().map(|row| row.open(&seal, &mut opened)).collect()
        });
        Ok(opening.await?)
    }

    async fn ordinal(&self, session: SessionId, id: SnapshotId) -> Result<i64, StoreError> {
        let ordinal =
            sqlx::query_scalar("select ordinal from snapshots where session = $1 and id = $2")
                .bind(session.to_string())
                .bind(id.to_string())
                .fetch_optional(self.pool())
                .await?;
        ordinal.ok_or(StoreError::SnapshotNotFound { reference: id.to_string() })
    }
}

fn readable(opened: Result<Snapshot, StoreError>) -> Option<Snapshot> {
    opened.inspect_err(|error| tracing::warn!(%error, "left a snapshot out of a list")).ok()
}
