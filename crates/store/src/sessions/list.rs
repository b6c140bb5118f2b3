//! Lists sessions, newest first, a page at a time.

use super::{decode_all, select};
use crate::row::page;
use crate::{Store, StoreError};
use baton_session::{Lifecycle, NodeId, Owner, Session, SessionId};

impl Store {
    /// Up to `limit` (at most 1000) of the owner's sessions, newest first: those older than
    /// `after`, if given, and in the state `lifecycle`, if given.
    pub async fn list_sessions(
        &self,
        owner: &Owner,
        lifecycle: Option<Lifecycle>,
        after: Option<SessionId>,
        limit: u32,
    ) -> Result<Vec<Session>, StoreError> {
        // An empty text stands for "any": a parameter that is null has no type on PostgreSQL.
        let rows = sqlx::query(select!(
            "where owner = $1 and ($2 = '' or lifecycle = $2) and ($3 = '' or id < $3)
             order by id desc limit $4"
        ))
        .bind(owner.as_str())
        .bind(lifecycle.map(Lifecycle::as_str).unwrap_or_default())
        .bind(after.map(|id| id.to_string()).unwrap_or_default())
        .bind(page(limit))
        .fetch_all(self.pool())
        .await?;
        decode_all(&rows)
    }

    /// Every active session of a node, of whatever owner, oldest first.
    pub async fn list_active_sessions(&self, node: NodeId) -> Result<Vec<Session>, StoreError> {
        let rows = sqlx::query(select!("where node = $1 and lifecycle = 'active' order by id"))
            .bind(node.to_string())
            .fetch_all(self.pool())
            .await?;
        decode_all(&rows)
    }
}
