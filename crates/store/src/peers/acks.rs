//! What peers are known to hold: the revision of a session that each of them had last.
//!
//! The one idea: a peer that heard of a session may hold it, whether it has said so or not. Its row names no
//! revision until it has: the text is empty.

use super::not_found;
use crate::error::StoreError;
use crate::row::{instant, word};
use crate::store::Store;
use crate::write::Write;
use baton_session::{NodeId, Owner, RevisionId, SessionId};
use jiff::Timestamp;
use sqlx::Row;
use sqlx::any::AnyRow;

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

    /// Notes that a peer may hold something of a session that is shared here. What it is known to hold
    /// stays noted.
    pub async fn note_known(
        &self,
        owner: &Owner,
        node: NodeId,
        session: SessionId,
        at: Timestamp,
    ) -> Result<(), StoreError> {
        if self.list_knowers(owner, session).await?.iter().any(|(knower, _)| *knower == node) {
            return Ok(());
        }
        let mut write = self.write().await?;
        note_unless_noted(&mut write, (owner, node, session), None, at).await?;
        write.commit().await
    }

    /// Notes that a peer of which nothing is noted for these sessions has heard of a revision of each, all
    /// at once. What is noted already stays so.
    pub async fn note_heard(
        &self,
        owner: &Owner,
        node: NodeId,
        heard: &[(SessionId, RevisionId)],
        at: Timestamp,
    ) -> Result<(), StoreError> {
        if heard.is_empty() {
            return Ok(());
        }
        let mut write = self.write().await?;
        for (session, revision) in heard {
            note_unless_noted(&mut write, (owner, node, *session), Some(*revision), at).await?;
        }
        write.commit().await
    }

    /// The owner's peers that may hold something of a session, each with the revision that it is known
    /// to hold; by node.
    pub async fn list_knowers(
        &self,
        owner: &Owner,
        session: SessionId,
    ) -> Result<Vec<(NodeId, Option<RevisionId>)>, StoreError> {
        let rows = sqlx::query(
            "select node, revision from peer_acks where owner = $1 and session = $2 order by node",
        )
        .bind(owner.as_str())
        .bind(session.to_string())
        .fetch_all(self.pool())
        .await?;
        rows.iter().map(|row| Ok((word(row, "node")?, revision(row)?))).collect()
    }

    /// The sessions of which a peer may hold something, each with the revision that it is known to
    /// hold.
    pub async fn list_held(
        &self,
        owner: &Owner,
        node: NodeId,
    ) -> Result<Vec<(SessionId, Option<RevisionId>)>, StoreError> {
        let rows =
            sqlx::query("select session, revision from peer_acks where owner = $1 and node = $2")
                .bind(owner.as_str())
                .bind(node.to_string())
                .fetch_all(self.pool())
                .await?;
        rows.iter().map(|row| Ok((word(row, "session")?, revision(row)?))).collect()
    }

    /// What the owner's peers are known to hold of a session, and since when; by node.
    pub async fn list_acks(
        &self,
        owner: &Owner,
        session: SessionId,
    ) -> Result<Vec<(NodeId, RevisionId, Timestamp)>, StoreError> {
        let rows = sqlx::query(
            "select node, revision, at from peer_acks where owner = $1 and session = $2
             and revision <> '' order by node",
        )
        .bind(owner.as_str())
        .bind(session.to_string())
        .fetch_all(self.pool())
        .await?;
        let ack = |row| Ok((word(row, "node")?, word(row, "revision")?, instant(row, "at")?));
        rows.iter().map(ack).collect()
    }
}

/// Notes what a peer may hold of a session that is shared here, unless something is noted of that already.
async fn note_unless_noted(
    write: &mut Write,
    (owner, node, session): (&Owner, NodeId, SessionId),
    revision: Option<RevisionId>,
    at: Timestamp,
) -> Result<(), StoreError> {
    sqlx::query(
        "insert into peer_acks (owner, node, session, revision, at)
         select peers.owner, peers.node, shared_sessions.session, $4, $5
         from peers join shared_sessions on shared_sessions.owner = peers.owner
         where peers.owner = $1 and peers.node = $2 and shared_sessions.session = $3
         on conflict (owner, node, session) do nothing",
    )
    .bind(owner.as_str())
    .bind(node.to_string())
    .bind(session.to_string())
    .bind(revision.map(|revision| revision.to_string()).unwrap_or_default())
    .bind(at.as_millisecond())
    .execute(write.connection())
    .await?;
    Ok(())
}

/// The revision that a row names, if it names one.
fn revision(row: &AnyRow) -> Result<Option<RevisionId>, StoreError> {
    let is_named = !row.try_get::<String, _>("revision")?.is_empty();
    is_named.then(|| word(row, "revision")).transpose()
}
