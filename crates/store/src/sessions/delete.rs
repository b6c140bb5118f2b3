//! Deletes a session with all that belongs to it.

use super::not_found;
use crate::error::StoreError;
use crate::row::word;
use crate::store::Store;
use baton_session::{Lifecycle, Owner, SessionId};
use sqlx::AnyConnection;

impl Store {
    /// Deletes the owner's session with its snapshots and receipts; its parts can then be
    /// collected. Refuses one that is active with `LifecycleConflict`.
    pub async fn delete_session(&self, owner: &Owner, id: SessionId) -> Result<(), StoreError> {
        let mut write = self.write_parts(owner).await?;
        if delete(write.connection(), owner, id).await? {
            write.changes(id);
            write.commit().await
        } else {
            Err(not_found(id))
        }
    }
}

/// Deletes the row of a session, with all that hangs on it; false when there is none. Refuses one that
/// is active with `LifecycleConflict`.
pub(crate) async fn delete(
    connection: &mut AnyConnection,
    owner: &Owner,
    id: SessionId,
) -> Result<bool, StoreError> {
    let gone =
        sqlx::query("delete from sessions where owner = $1 and id = $2 and lifecycle <> 'active'")
            .bind(owner.as_str())
            .bind(id.to_string())
            .execute(&mut *connection)
            .await?;
    if gone.rows_affected() > 0 {
        return Ok(true);
    }
    let row = sqlx::query("select lifecycle from sessions where owner = $1 and id = $2")
        .bind(owner.as_str())
        .bind(id.to_string())
        .fetch_optional(connection)
        .await?;
    let Some(row) = row else { return Ok(false) };
    let found = word(&row, "lifecycle")?;
    Err(StoreError::LifecycleConflict { expected: Lifecycle::Closed, found })
}
