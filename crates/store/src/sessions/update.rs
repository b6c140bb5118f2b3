//! Moves a session from one state of its life to the next.

use super::{decode, not_found, select};
use crate::fault::is_taken;
use crate::{Store, StoreError};
use baton_session::{Lifecycle, Session, SessionId};
use jiff::Timestamp;
use sqlx::AnyConnection;

impl Store {
    /// Moves a session from the state `from`, in which it must be, to the state `to`. Fails with
    /// `LifecycleForbidden` when no session goes that way, `LifecycleConflict` when it stands
    /// elsewhere, and `NameTaken` when it was closed and its name has another bearer by now.
    pub async fn update_lifecycle(
        &self,
        id: SessionId,
        from: Lifecycle,
        to: Lifecycle,
        at: Timestamp,
    ) -> Result<Session, StoreError> {
        if !from.may_become(to) {
            return Err(StoreError::LifecycleForbidden { from, to });
        }
        let mut write = self.write().await?;
        let before = fetch(write.connection(), id).await?;
        if before.lifecycle != from {
            return Err(StoreError::LifecycleConflict { expected: from, found: before.lifecycle });
        }
        let updated = sqlx::query(
            "update sessions set lifecycle = $3, updated_at = $4 where id = $1 and lifecycle = $2",
        )
        .bind(id.to_string())
        .bind(from.as_str())
        .bind(to.as_str())
        .bind(at.as_millisecond())
        .execute(write.connection())
        .await;
        let moved = match updated {
            Ok(done) => done.rows_affected() > 0,
            Err(error) if is_taken(&error) => {
                return Err(StoreError::NameTaken { name: before.name.to_string() });
            }
            Err(error) => return Err(error.into()),
        };
        let after = fetch(write.connection(), id).await?;
        if !moved {
            // On PostgreSQL another writer can come between the look and the change.
            return Err(StoreError::LifecycleConflict { expected: from, found: after.lifecycle });
        }
        write.commit().await?;
        Ok(after)
    }
}

async fn fetch(connection: &mut AnyConnection, id: SessionId) -> Result<Session, StoreError> {
    let row = sqlx::query(select!("where id = $1"))
        .bind(id.to_string())
        .fetch_optional(connection)
        .await?;
    decode(&row.ok_or_else(|| not_found(id))?)
}
