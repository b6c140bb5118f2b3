//! Lets go of what is held of a session's revisions.

use super::{Generation, commit};
use crate::error::StoreError;
use crate::store::Store;
use baton_session::{Owner, SessionId};

impl Store {
    /// Removes all that is held of a session's revisions, and what peers are known to hold of it: for
    /// a deletion that everybody has seen. The session's own row stays as it is; what revisions said
    /// is kept no longer than other snapshots. Fails with `SharedChanged` when the generation is
    /// another one by now.
    pub async fn delete_shared(
        &self,
        owner: &Owner,
        session: SessionId,
        expected: Generation,
    ) -> Result<Generation, StoreError> {
        let mut write = self.write_parts(owner).await?;
        let connection = write.connection();
        let generation = commit::advance(connection, owner).await?;
        let gone = sqlx::query(
            "delete from shared_sessions where owner = $1 and session = $2 and generation = $3",
        )
        .bind(owner.as_str())
        .bind(session.to_string())
        .bind(expected.0)
        .execute(&mut *connection)
        .await?;
        if gone.rows_affected() == 0 {
            return Err(StoreError::SharedChanged { session });
        }
        for sql in [
            "update snapshots set saved = 0 where id in (
                 select snapshot from revision_snapshots where owner = $1 and session = $2
             )",
            "delete from revision_snapshots where owner = $1 and session = $2",
            "delete from peer_acks where owner = $1 and session = $2",
        ] {
            let query = sqlx::query(sql).bind(owner.as_str()).bind(session.to_string());
            query.execute(&mut *connection).await?;
        }
        write.commit().await?;
        Ok(generation)
    }
}
