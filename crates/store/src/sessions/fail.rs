//! Counts the resumes of a session that fail.

use super::fetch_row;
use crate::error::StoreError;
use crate::store::Store;
use baton_session::{Lifecycle, NodeId, SessionId};
use jiff::Timestamp;

impl Store {
    /// Counts a resume of one of `node`'s sessions that failed. The second in a row moves a session
    /// that is not closed to `failed`. Returns where it stands.
    pub async fn note_failed_resume(
        &self,
        id: SessionId,
        node: NodeId,
        at: Timestamp,
    ) -> Result<Lifecycle, StoreError> {
        let mut write = self.write().await?;
        sqlx::query(
            "update sessions set failed_resumes = failed_resumes + 1, updated_at = $3,
             lifecycle = case when failed_resumes >= 1 and lifecycle in ('recoverable', 'stale')
                 then 'failed' else lifecycle end
             where id = $1 and node = $2",
        )
        .bind(id.to_string())
        .bind(node.to_string())
        .bind(at.as_millisecond())
        .execute(write.connection())
        .await?;
        let now = fetch_row(write.connection(), id).await?.lifecycle;
        write.changes(id);
        write.commit().await?;
        Ok(now)
    }
}
