//! Prunes the snapshots of a session: the oldest go, the newest always stays.

use crate::row::word;
use crate::{Store, StoreError};
use baton_session::{Owner, SessionId};

impl Store {
    /// Removes all but the newest `keep` snapshots of a session (the newest one stays even when
    /// `keep` is 0), then the parts that nothing names any more. Returns how many snapshots went.
    pub async fn prune_snapshots(&self, session: SessionId, keep: u32) -> Result<u64, StoreError> {
        let Some(owner) = self.owner_of(session).await? else {
            return Err(StoreError::SessionNotFound { reference: session.to_string() });
        };
        let mut write = self.write_parts(&owner).await?;
        let gone = sqlx::query(
            "delete from snapshots where session = $1 and ordinal < (
                 select min(ordinal) from (
                     select ordinal from snapshots where session = $1
                     order by ordinal desc limit $2
                 ) as newest
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

    async fn owner_of(&self, session: SessionId) -> Result<Option<Owner>, StoreError> {
        let row = sqlx::query("select owner from sessions where id = $1")
            .bind(session.to_string())
            .fetch_optional(self.pool())
            .await?;
        row.map(|row| word(&row, "owner")).transpose()
    }
}
