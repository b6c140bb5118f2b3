//! Calls a session something else.

use super::fetch_row;
use crate::error::StoreError;
use crate::fault::is_taken;
use crate::row::refuse_nul;
use crate::store::Store;
use baton_session::{Session, SessionId, SessionName};
use jiff::Timestamp;

impl Store {
    /// Gives a session another name and another description. Fails with `SessionNotFound`, and with
    /// `NameTaken` when another of the owner's sessions that are not closed bears the name.
    pub async fn rename_session(
        &self,
        id: SessionId,
        name: &SessionName,
        description: &str,
        at: Timestamp,
    ) -> Result<Session, StoreError> {
        refuse_nul("a description", description)?;
        let mut write = self.write().await?;
        let renamed = sqlx::query(
            "update sessions set name = $2, description = $3, updated_at = $4 where id = $1",
        )
        .bind(id.to_string())
        .bind(name.as_str())
        .bind(description)
        .bind(at.as_millisecond())
        .execute(write.connection())
        .await;
        match renamed {
            Err(error) if is_taken(&error) => {
                return Err(StoreError::NameTaken { name: name.to_string() });
            }
            renamed => renamed?,
        };
        let after = fetch_row(write.connection(), id).await?;
        write.changes(id);
        write.commit().await?;
        Ok(after)
    }
}
