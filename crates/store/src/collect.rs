//! Collects parts that no snapshot names any more.
//!
//! Each batch is a transaction under the owner's lock, so that it neither takes a part from a
//! snapshot that is being stored nor keeps writers waiting for long.

use crate::row::word;
use crate::{Store, StoreError};
use baton_session::Owner;

/// How many parts one transaction removes.
const BATCH: i64 = 500;

impl Store {
    /// Removes every part that no snapshot names, of every owner. Returns how many went.
    pub async fn collect_parts(&self) -> Result<u64, StoreError> {
        let rows = sqlx::query("select distinct owner from parts").fetch_all(self.pool()).await?;
        let mut gone = 0;
        for row in &rows {
            gone += self.collect_parts_of(&word(row, "owner")?).await?;
        }
        Ok(gone)
    }

    /// Removes every part of `owner` that no snapshot names.
    pub(crate) async fn collect_parts_of(&self, owner: &Owner) -> Result<u64, StoreError> {
        let mut gone = 0;
        loop {
            let batch = self.collect_batch(owner).await?;
            gone += batch;
            if batch == 0 {
                tracing::debug!(gone, "collected parts");
                return Ok(gone);
            }
        }
    }

    async fn collect_batch(&self, owner: &Owner) -> Result<u64, StoreError> {
        let mut write = self.write_parts(owner).await?;
        let gone = sqlx::query(
            "delete from parts where id in (
                 select id from parts where owner = $1 and not exists (
                     select 1 from snapshot_parts where snapshot_parts.part = parts.id
                 ) limit $2
             )",
        )
        .bind(owner.as_str())
        .bind(BATCH)
        .execute(write.connection())
        .await?
        .rows_affected();
        write.commit().await?;
        Ok(gone)
    }
}
