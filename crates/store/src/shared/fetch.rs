//! Fetches what is held of one session's revisions.

use super::sealed::Belongs;
use super::{Generation, Shared};
use crate::blocking::blocking;
use crate::error::StoreError;
use crate::store::Store;
use baton_session::{Owner, SessionId};
use sqlx::Row;

impl Store {
    /// What is held of a session's revisions, and its generation; none when nothing is. Fails with
    /// `SharedCorrupt`.
    pub async fn fetch_shared(
        &self,
        owner: &Owner,
        session: SessionId,
    ) -> Result<Option<(Generation, Shared)>, StoreError> {
        let row = sqlx::query(
            "select generation, body from shared_sessions where owner = $1 and session = $2",
        )
        .bind(owner.as_str())
        .bind(session.to_string())
        .fetch_optional(self.pool())
        .await?;
        let Some(row) = row else { return Ok(None) };
        let generation = Generation(row.try_get("generation")?);
        let body: Vec<u8> = row.try_get("body")?;
        let (seal, belongs) = (self.seal(), Belongs { owner: owner.clone(), session });
        let shared = blocking(move || belongs.open(&seal, &body)).await??;
        Ok(Some((generation, shared)))
    }

    /// How often what an owner shares has changed: what was read at this generation is still so.
    pub async fn owner_generation(&self, owner: &Owner) -> Result<Generation, StoreError> {
        let found: Option<i64> =
            sqlx::query_scalar("select generation from sync_owners where owner = $1")
                .bind(owner.as_str())
                .fetch_optional(self.pool())
                .await?;
        Ok(found.map(Generation).unwrap_or_default())
    }
}
