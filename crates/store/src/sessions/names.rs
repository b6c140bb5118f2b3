//! What sessions are called here that other nodes have too: their revisions may call them otherwise.

use crate::error::StoreError;
use crate::row::word;
use crate::store::Store;
use baton_session::{Owner, SessionId, SessionName};

impl Store {
    /// The names here of the owner's sessions that are shared and have a row.
    pub async fn list_shared_names(
        &self,
        owner: &Owner,
    ) -> Result<Vec<(SessionId, SessionName)>, StoreError> {
        let rows = sqlx::query(
            "select sessions.id, sessions.name from sessions
             join shared_sessions on shared_sessions.session = sessions.id
             and shared_sessions.owner = sessions.owner
             where sessions.owner = $1",
        )
        .bind(owner.as_str())
        .fetch_all(self.pool())
        .await?;
        rows.iter().map(|row| Ok((word(row, "id")?, word(row, "name")?))).collect()
    }
}
