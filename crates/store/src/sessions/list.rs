//! Lists sessions, newest first, a page at a time.

use super::{decode_all, select};
use crate::error::StoreError;
use crate::row::page;
use crate::store::Store;
use baton_session::{Lifecycle, NodeId, Owner, Session, SessionId};

/// A page of an owner's sessions, and one of those in one state. Each has an index of its own, so that
/// the work is that of the page, however many sessions there are.
const PAGE: &str = select!("where owner = $1 and id < $2 order by id desc limit $3");
const PAGE_IN_STATE: &str =
    select!("where owner = $1 and id < $2 and lifecycle = $4 order by id desc limit $3");

/// A text that sorts behind every id, which begin with a digit or a letter up to `f`.
const BEHIND_ALL: &str = "g";

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
        let sql = if lifecycle.is_some() { PAGE_IN_STATE } else { PAGE };
        let before = after.map_or_else(|| BEHIND_ALL.to_owned(), |id| id.to_string());
        let mut query = sqlx::query(sql).bind(owner.as_str()).bind(before).bind(page(limit));
        if let Some(lifecycle) = lifecycle {
            query = query.bind(lifecycle.as_str());
        }
        let rows = query.fetch_all(self.pool()).await?;
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

    /// Up to `limit` (at most 1000) sessions of a node that are not active, of whatever owner, the one
    /// that changed last first.
    pub async fn list_resting_sessions(
        &self,
        node: NodeId,
        limit: u32,
    ) -> Result<Vec<Session>, StoreError> {
        let sql = select!(
            "where node = $1 and lifecycle <> 'active' order by updated_at desc, id desc limit $2"
        );
        let query = sqlx::query(sql).bind(node.to_string()).bind(page(limit));
        decode_all(&query.fetch_all(self.pool()).await?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::{Config, DatabaseUrl, Limits};
    use crate::master_key::MasterKey;
    use sqlx::Row;

    #[tokio::test]
    async fn a_page_is_found_without_looking_at_other_sessions() {
        let folder = tempfile::tempdir().unwrap();
        let database = DatabaseUrl::Sqlite(folder.path().join("baton.db"));
        let (key, limits) = (MasterKey::from_bytes([7; 32]), Limits::default());
        let store = Store::open(Config { database, key, limits }).await.unwrap();
        for (sql, found_by) in [
            (PAGE, "sessions_owner (owner=? AND id<?)"),
            (PAGE_IN_STATE, "sessions_owner_lifecycle (owner=? AND lifecycle=? AND id<?)"),
        ] {
            let sql = sqlx::AssertSqlSafe(format!("explain query plan {sql}"));
            let steps = sqlx::query(sql).fetch_all(store.pool()).await.unwrap();
            let steps: Vec<String> = steps.iter().map(|row| row.get("detail")).collect();
            assert_eq!(steps, [format!("SEARCH sessions USING INDEX {found_by}")]);
        }
    }
}
