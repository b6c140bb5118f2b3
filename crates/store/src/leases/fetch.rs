//! Fetches leases.

use super::Lease;
use crate::error::StoreError;
use crate::row::word;
use crate::store::Store;
use baton_session::{NodeId, SessionId, Term};
use sqlx::{AnyConnection, Row};

impl Store {
    /// Who holds a session; none when nobody ever did.
    pub async fn fetch_lease(&self, session: SessionId) -> Result<Option<Lease>, StoreError> {
        let row =
            sqlx::query("select coalesce(node, '') as node, term from leases where session = $1")
                .bind(session.to_string())
                .fetch_optional(self.pool())
                .await?;
        let Some(row) = row else { return Ok(None) };
        let is_free = row.try_get::<String, _>("node")?.is_empty();
        let node = if is_free { None } else { Some(word::<NodeId>(&row, "node")?) };
        Ok(Some(Lease { node, term: Term::from_i64(row.try_get("term")?) }))
    }
}

/// Whether a term runs, and runs until the transaction ends: the row is taken, so that on PostgreSQL
/// nobody ends the term in between.
pub(crate) async fn is_current(
    connection: &mut AnyConnection,
    session: SessionId,
    term: Term,
) -> Result<bool, StoreError> {
    let taken = sqlx::query(
        "update leases set term = term where session = $1 and term = $2 and node is not null",
    )
    .bind(session.to_string())
    .bind(term.to_i64())
    .execute(connection)
    .await?;
    Ok(taken.rows_affected() > 0)
}
