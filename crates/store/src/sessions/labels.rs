//! Which labels a session asks its node for, as a row of its own: most ask for none.

use super::not_found;
use crate::cluster::{labels_of, labels_text};
use crate::error::StoreError;
use crate::store::Store;
use baton_session::{NodeLabel, SessionId};
use std::collections::BTreeSet;

impl Store {
    /// Notes which labels a session asks its node for. Fails with `SessionNotFound`.
    pub async fn set_session_labels(
        &self,
        session: SessionId,
        labels: &BTreeSet<NodeLabel>,
    ) -> Result<(), StoreError> {
        let mut write = self.write().await?;
        let set = sqlx::query(
            "insert into session_labels (session, labels) select id, $2 from sessions where id = $1
             on conflict (session) do update set labels = excluded.labels",
        )
        .bind(session.to_string())
        .bind(labels_text(labels))
        .execute(write.connection())
        .await?;
        if set.rows_affected() == 0 {
            return Err(not_found(session));
        }
        write.commit().await
    }

    /// Which labels a session asks its node for.
    pub async fn fetch_session_labels(
        &self,
        session: SessionId,
    ) -> Result<BTreeSet<NodeLabel>, StoreError> {
        let row = sqlx::query("select labels from session_labels where session = $1")
            .bind(session.to_string())
            .fetch_optional(self.pool())
            .await?;
        row.as_ref().map(labels_of).transpose().map(Option::unwrap_or_default)
    }
}
