//! Collects parts that no snapshot names any more, and that wait for none.
//!
//! Each batch is a transaction under the owner's lock, so that it neither takes a part from a
//! snapshot that is being stored nor keeps writers waiting for long.

use crate::error::StoreError;
use crate::row::{places, word};
use crate::store::Store;
use baton_session::Owner;
use sqlx::{AnyConnection, AssertSqlSafe};

/// How many parts one transaction removes.
const BATCH: usize = 500;

/// A statement about parts, the argument, that nothing names; what follows is the rest of it.
macro_rules! unnamed {
    ($start:literal $(, $rest:literal)?) => {
        concat!(
            $start,
            " not exists (select 1 from part_spans where part_spans.part = parts.id) \
              and not exists (select 1 from staged_parts where staged_parts.part = parts.id)"
            $(, $rest)?
        )
    };
}
pub(crate) use unnamed;

impl Store {
    /// Removes every part that no snapshot names, of every owner. Returns how many went.
    pub async fn collect_parts(&self) -> Result<u64, StoreError> {
        let rows = sqlx::query(unnamed!("select distinct owner from parts where"))
            .fetch_all(self.pool())
            .await?;
        let mut gone = 0;
        for row in &rows {
            gone += self.collect_parts_of(&word(row, "owner")?).await?;
        }
        Ok(gone)
    }

    /// Removes every part of `owner` that no snapshot names.
    pub async fn collect_parts_of(&self, owner: &Owner) -> Result<u64, StoreError> {
        let mut gone = 0;
        loop {
            let batch = self.collect_batch(owner).await?;
            gone += batch;
            if batch < BATCH as u64 {
                tracing::debug!(gone, "collected parts");
                return Ok(gone);
            }
        }
    }

    async fn collect_batch(&self, owner: &Owner) -> Result<u64, StoreError> {
        let mut write = self.write_parts(owner).await?;
        let gone = sqlx::query(unnamed!(
            "delete from parts where id in (select id from parts where owner = $1 and",
            " limit $2)"
        ))
        .bind(owner.as_str())
        .bind(i64::try_from(BATCH).unwrap_or(i64::MAX))
        .execute(write.connection())
        .await?
        .rows_affected();
        write.commit().await?;
        Ok(gone)
    }
}

/// Removes those of `parts` that nothing names any more; the caller holds the owner's lock. Returns
/// whether that were all of them: what is more than a batch is left to others.
pub(crate) async fn collect_named(
    connection: &mut AnyConnection,
    parts: &[String],
) -> Result<bool, StoreError> {
    let batch = &parts[..parts.len().min(BATCH)];
    if batch.is_empty() {
        return Ok(true);
    }
    let sql = format!(unnamed!("delete from parts where id in ({}) and"), places(1, batch.len()));
    let query = sqlx::query(AssertSqlSafe(sql)).persistent(false);
    let query = batch.iter().fold(query, |query, part| query.bind(part.as_str()));
    query.execute(connection).await?;
    Ok(batch.len() == parts.len())
}
