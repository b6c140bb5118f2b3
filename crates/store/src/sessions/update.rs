//! Moves a session from one state of its life to the next.

use super::fetch_row;
use crate::error::StoreError;
use crate::fault::is_taken;
use crate::leases;
use crate::store::Store;
use baton_session::{Lifecycle, NodeId, Session, SessionId};
use jiff::Timestamp;

impl Store {
    /// Moves a session of `node` from the state `from`, in which it must be, to the state `to`; one
    /// that leaves `active` is held by nobody from then on. Fails with `LifecycleForbidden` when no
    /// session goes that way, `LifecycleConflict` when it stands elsewhere, `HeldElsewhere` when it
    /// has another home by now, and `NameTaken` when it was closed and its name has another bearer.
    pub async fn update_lifecycle(
        &self,
        id: SessionId,
        node: NodeId,
        from: Lifecycle,
        to: Lifecycle,
        at: Timestamp,
    ) -> Result<Session, StoreError> {
        if !from.may_become(to) {
            return Err(StoreError::LifecycleForbidden { from, to });
        }
        let mut write = self.write().await?;
        let before = fetch_row(write.connection(), id).await?;
        if before.node != node {
            return Err(StoreError::HeldElsewhere { node: before.node });
        }
        if before.lifecycle != from {
            return Err(StoreError::LifecycleConflict { expected: from, found: before.lifecycle });
        }
        let updated = sqlx::query(
            "update sessions set lifecycle = $3, updated_at = $4,
             failed_resumes = case when $3 = 'active' then 0 else failed_resumes end
             where id = $1 and lifecycle = $2 and node = $5",
        )
        .bind(id.to_string())
        .bind(from.as_str())
        .bind(to.as_str())
        .bind(at.as_millisecond())
        .bind(node.to_string())
        .execute(write.connection())
        .await;
        let moved = match updated {
            Ok(done) => done.rows_affected() > 0,
            Err(error) if is_taken(&error) => {
                return Err(StoreError::NameTaken { name: before.name.to_string() });
            }
            Err(error) => return Err(error.into()),
        };
        let after = fetch_row(write.connection(), id).await?;
        if !moved {
            // On PostgreSQL another writer can come between the look and the change.
            return Err(StoreError::LifecycleConflict { expected: from, found: after.lifecycle });
        }
        if from == Lifecycle::Active {
            leases::release(write.connection(), id, node).await?;
        }
        write.changes(id);
        write.commit().await?;
        Ok(after)
    }
}
