//! What peers are known to hold: the revision of a session that each of them had last.

use super::not_found;
use crate::row::{instant, word};
use crate::{Store, StoreError};
use baton_session::{NodeId, Owner, RevisionId, SessionId};
use jiff::Timestamp;

impl Store {
    /// Notes that a peer holds this revision as its current one of a session, in the place of what was
    /// noted before. Fails with `PeerNotFound`.
    pub async fn note_ack(
        &self,
        owner: &Owner,
        node: NodeId,
        session: SessionId,
        revision: RevisionId,
        at: Timestamp,
    ) -> Result<(), StoreError> {
        let mut write = self.write().await?;
        let noted = sqlx::query(
            "insert into peer_acks (owner, node, session, revision, at)
             select owner, node, $3, $4, $5 from peers where owner = $1 and node = $2
             on conflict (owner, node, session) do update
             set revision = excluded.revision, at = excluded.at",
        )
        .bind(owner.as_str())
        .bind(node.to_string())
        .bind(session.to_string())
        .bind(revision.to_string())
        .bind(at.as_millisecond())
        .execute(write.connection())
        .await?;
        if noted.rows_affected() == 0 {
            return Err(not_found(node));
        }
        write.commit().await
    }

    /// What the owner's peers are known to hold of a session, and since when; by node.
    pub async fn list_acks(
        &self,
        owner: &Owner,
        session: SessionId,
    ) -> Result<Vec<(NodeId, RevisionId, Timestamp)>, StoreError> {
        let rows = sqlx::query(
            "select node, revision, at from peer_acks where owner = $1 and session = $2
             order by node",
        )
        .bind(owner.as_str())
        .bind(session.to_string())
        .fetch_all(self.pool())
        .await?;
        let ack = |row| Ok((word(row, "node")?, word(row, "revision")?, instant(row, "at")?));
        rows.iter().map(ack).collect()
    }
}
