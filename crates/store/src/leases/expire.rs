//! Ends the lease of a node that fell silent.

use crate::error::StoreError;
use crate::store::Store;
use baton_session::{Lifecycle, NodeId, SessionId};
use jiff::Timestamp;

impl Store {
    /// Ends the term of `holder`, whose beat still stands at `beat`: from now on nobody holds the
    /// session, and what `holder` writes late becomes a sibling. An active session is `next` then.
    /// Fails with `HeldElsewhere` when the beat went on, or another node was faster.
    pub async fn expire_lease(
        &self,
        session: SessionId,
        holder: NodeId,
        beat: i64,
        next: Lifecycle,
        at: Timestamp,
    ) -> Result<(), StoreError> {
        let mut write = self.write().await?;
        // Taking both rows keeps holder and rivals away until the transaction ends.
        let stands = sqlx::query("update nodes set beat = beat where id = $1 and beat = $2")
            .bind(holder.to_string())
            .bind(beat)
            .execute(write.connection())
            .await?;
        let ended = sqlx::query(
            "update leases set node = null, term = term + 1 where session = $1 and node = $2",
        )
        .bind(session.to_string())
        .bind(holder.to_string())
        .execute(write.connection())
        .await?;
        if stands.rows_affected() == 0 || ended.rows_affected() == 0 {
            return Err(StoreError::HeldElsewhere { node: holder });
        }
        sqlx::query(
            "update sessions set lifecycle = $3, updated_at = $4
             where id = $1 and node = $2 and lifecycle = 'active'",
        )
        .bind(session.to_string())
        .bind(holder.to_string())
        .bind(next.as_str())
        .bind(at.as_millisecond())
        .execute(write.connection())
        .await?;
        write.changes(session);
        write.commit().await
    }
}
