//! Prunes the snapshots of a session: the oldest go, and what matters stays whatever its age.

use crate::row::word;
use crate::{Store, StoreError};
use baton_session::{Owner, SessionId};
use sqlx::Row;

impl Store {
    /// Removes all but the newest `keep` snapshots of a session, then the parts that nothing names
    /// any more. Whatever `keep` is, these stay: the newest one, the last good one, saved ones, and
    /// the one that the session's latest receipt names. Returns how many snapshots went.
    pub async fn prune_snapshots(&self, session: SessionId, keep: u32) -> Result<u64, StoreError> {
        let (owner, found) = self.snapshots_of(session).await?;
        // As a rule there is nothing to do, and then no writer has to wait for us.
        if found <= i64::from(keep.max(1)) {
            return Ok(0);
        }
        let mut write = self.write_parts(&owner).await?;
        let gone = sqlx::query(
            "delete from snapshots where session = $1 and saved = 0
             and ordinal < (
                 select min(ordinal) from (
                     select ordinal from snapshots where session = $1
                     order by ordinal desc limit $2
                 ) as newest
             )
             and ordinal <> coalesce((
                 select ordinal from snapshots where session = $1 and sibling = 0
                 order by ordinal desc limit 1
             ), 0)
             and ordinal <> coalesce((
                 select ordinal from snapshots where session = $1 and sibling = 0 and shrunk = 0
                 order by ordinal desc limit 1
             ), 0)
             and id not in (
                 select snapshot from receipts where session = $1
                 order by ordinal desc limit 1
             )",
        )
        .bind(session.to_string())
        .bind(i64::from(keep.max(1)))
        .execute(write.connection())
        .await?
        .rows_affected();
        write.commit().await?;
        if gone > 0 {
            self.collect_parts_of(&owner).await?;
        }
        Ok(gone)
    }

    /// The owner of a session, and how many snapshots it has.
    async fn snapshots_of(&self, session: SessionId) -> Result<(Owner, i64), StoreError> {
        let row = sqlx::query(
            "select owner, (select count(*) from snapshots where session = $1) as found
             from sessions where id = $1",
        )
        .bind(session.to_string())
        .fetch_optional(self.pool())
        .await?;
        match row {
            Some(row) => Ok((word(&row, "owner")?, row.try_get("found")?)),
            None => Err(StoreError::SessionNotFound { reference: session.to_string() }),
        }
    }
}
