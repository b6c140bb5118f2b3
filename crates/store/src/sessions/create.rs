//! Makes a session.

use crate::error::StoreError;
use crate::fault::is_taken;
use crate::row::refuse_nul;
use crate::store::Store;
use baton_session::Session;
use sqlx::AnyConnection;

impl Store {
    /// Makes a session. Fails with `NameTaken` when another of the owner's sessions that are not
    /// closed bears its name, and with `IdTaken`.
    pub async fn create_session(&self, session: &Session) -> Result<(), StoreError> {
        let mut write = self.write().await?;
        insert(write.connection(), session).await?;
        write.changes(session.id);
        write.commit().await
    }
}

/// Adds the row of a session.
pub(crate) async fn insert(
    connection: &mut AnyConnection,
    session: &Session,
) -> Result<(), StoreError> {
    refuse_nul("a description", &session.description)?;
    let made = sqlx::query(
        "insert into sessions
         (id, name, description, owner, node, headed, debug, lifecycle, created_at, updated_at)
         values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)
         on conflict (id) do nothing",
    )
    .bind(session.id.to_string())
    .bind(session.name.as_str())
    .bind(&session.description)
    .bind(session.owner.as_str())
    .bind(session.node.to_string())
    .bind(i64::from(session.headed))
    .bind(i64::from(session.debug))
    .bind(session.lifecycle.as_str())
    .bind(session.created_at.as_millisecond())
    .bind(session.updated_at.as_millisecond())
    .execute(connection)
    .await;
    match made {
        Ok(done) if done.rows_affected() == 0 => {
            Err(StoreError::IdTaken { id: session.id.to_string() })
        }
        Ok(_) => Ok(()),
        Err(error) if is_taken(&error) => {
            Err(StoreError::NameTaken { name: session.name.to_string() })
        }
        Err(error) => Err(error.into()),
    }
}
