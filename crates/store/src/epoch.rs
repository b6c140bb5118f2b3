//! A new epoch: a database that was brought back from a backup belongs to one node.
//!
//! The node that made the backup may still run. So what was restored takes nothing for granted that
//! only one of the two can have: no lease, no running browser.

use crate::error::StoreError;
use crate::store::Store;
use baton_session::NodeId;
use jiff::Timestamp;

/// What became of the sessions that were active in the backup.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Epoch {
    /// They have a snapshot and can be resumed.
    pub recoverable: u64,
    /// They died before their first snapshot.
    pub closed: u64,
}

impl Store {
    /// Gives every session to `node`, and ends every lease.
    pub async fn begin_epoch(&self, node: NodeId, now: Timestamp) -> Result<Epoch, StoreError> {
        let mut write = self.write().await?;
        let recoverable = sqlx::query(
            "update sessions set lifecycle = 'recoverable', updated_at = $1
             where lifecycle = 'active'
               and exists (select 1 from snapshots where snapshots.session = sessions.id)",
        )
        .bind(now.as_millisecond())
        .execute(write.connection())
        .await?
        .rows_affected();
        let closed = sqlx::query(
            "update sessions set lifecycle = 'closed', updated_at = $1 where lifecycle = 'active'",
        )
        .bind(now.as_millisecond())
        .execute(write.connection())
        .await?
        .rows_affected();
        sqlx::query("update sessions set node = $1")
            .bind(node.to_string())
            .execute(write.connection())
            .await?;
        sqlx::query("update leases set node = null").execute(write.connection()).await?;
        sqlx::query("delete from nodes").execute(write.connection()).await?;
        write.commit().await?;
        Ok(Epoch { recoverable, closed })
    }
}
