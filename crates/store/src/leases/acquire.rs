//! Takes and gives back leases.

use crate::error::StoreError;
use crate::store::Store;
use baton_session::{NodeId, SessionId, Term};
use sqlx::AnyConnection;

impl Store {
    /// Makes `node` the holder of a session, in a new term. Fails with `HeldElsewhere` while another
    /// node holds it, and with `SessionNotFound` when it is not a session of `node`.
    pub async fn acquire_lease(
        &self,
        session: SessionId,
        node: NodeId,
    ) -> Result<Term, StoreError> {
        let mut write = self.write().await?;
        let term = sqlx::query_scalar(
            "insert into leases (session, node, term)
             select id, node, 1 from sessions where id = $1 and node = $2
             on conflict (session) do update set node = excluded.node, term = leases.term + 1
             where leases.node is null or leases.node = excluded.node
             returning term",
        )
        .bind(session.to_string())
        .bind(node.to_string())
        .fetch_optional(write.connection())
        .await?;
        if let Some(term) = term {
            write.commit().await?;
            return Ok(Term::from_i64(term));
        }
        drop(write);
        match self.fetch_lease(session).await?.and_then(|lease| lease.node) {
            Some(holder) if holder != node => Err(StoreError::HeldElsewhere { node: holder }),
            _ => Err(StoreError::SessionNotFound { reference: session.to_string() }),
        }
    }
}

impl Store {
    /// Gives the lease of a session back, if `node` holds it.
    pub async fn release_lease(&self, session: SessionId, node: NodeId) -> Result<(), StoreError> {
        let mut write = self.write().await?;
        release(write.connection(), session, node).await?;
        write.commit().await
    }
}

/// Gives the lease of a session back, if `node` holds it.
pub(crate) async fn release(
    connection: &mut AnyConnection,
    session: SessionId,
    node: NodeId,
) -> Result<(), StoreError> {
    sqlx::query("update leases set node = null where session = $1 and node = $2")
        .bind(session.to_string())
        .bind(node.to_string())
        .execute(connection)
        .await?;
    Ok(())
}
