//! Deletes a session with all that belongs to it.

use super::not_found;
use crate::row::word;
use crate::{Store, StoreError};
use baton_session::{Lifecycle, Owner, SessionId};

impl Store {
    /// Deletes the owner's session with its snapshots and receipts; its parts can then be
    /// collected. Refuses one that is active with `LifecycleConflict`.
    pub async fn delete_session(&self, owner: &Owner, id: SessionId) -> Result<(), StoreError> {
        let mut write = self.write_parts(owner).await?;
        let gone = sqlx::query(
            "delete from sessions where owner = $1 and id = $2 and lifecycle <> 'active'",
        )
        .bind(owner.as_str())
        .bind(id.to_string())
        .execute(write.connection())
        .await?;
        if gone.rows_affected() > 0 {
            return write.commit().await;
        }
        let row = sqlx::query("select lifecycle from sessions where owner = $1 and id = $2")
            .bind(owner.as_str())
            .bind(id.to_string())
            .fetch_optional(write.connection())
            .await?;
        let found = word(&row.ok_or_else(|| not_found(id))?, "lifecycle")?;
        Err(StoreError::LifecycleConflict { expected: Lifecycle::Closed, found })
    }
}
