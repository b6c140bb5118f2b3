//! Gives a session that nobody holds a new home.

use super::fetch_row;
use crate::error::StoreError;
use crate::store::Store;
use baton_session::{Lifecycle, NodeId, SessionId};

impl Store {
    /// Makes `node` the home of a session that nobody holds and that is not active. Fails with
    /// `LifecycleConflict` or `HeldElsewhere` when that is not so.
    pub async fn adopt_session(&self, id: SessionId, node: NodeId) -> Result<(), StoreError> {
        let mut write = self.write().await?;
        let moved = sqlx::query(
            "update sessions set node = $2 where id = $1 and lifecycle <> 'active' and not exists (
                 select 1 from leases where session = $1 and leases.node is not null
             )",
        )
        .bind(id.to_string())
        .bind(node.to_string())
        .execute(write.connection())
        .await?;
        if moved.rows_affected() > 0 {
            write.changes(id);
            return write.commit().await;
        }
        let session = fetch_row(write.connection(), id).await?;
        drop(write);
        match self.fetch_lease(id).await?.and_then(|lease| lease.node) {
            Some(holder) => Err(StoreError::HeldElsewhere { node: holder }),
            None => Err(StoreError::LifecycleConflict {
                expected: Lifecycle::Recoverable,
                found: session.lifecycle,
            }),
        }
    }
}
