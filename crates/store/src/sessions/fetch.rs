//! Fetches one session: by its id, or by what a person typed.

use super::{decode, decode_all, not_found, select};
use crate::error::StoreError;
use crate::prefix::{self, MATCHES_MAX};
use crate::store::Store;
use baton_session::{Owner, Session, SessionId};

impl Store {
    /// The owner's session with this id.
    pub async fn fetch_session(&self, owner: &Owner, id: SessionId) -> Result<Session, StoreError> {
        let row = sqlx::query(select!("where owner = $1 and id = $2"))
            .bind(owner.as_str())
            .bind(id.to_string())
            .fetch_optional(self.pool())
            .await?;
        decode(&row.ok_or_else(|| not_found(id))?)
    }

    /// The session with this id, of whatever owner and node; none when there is no such session.
    pub async fn fetch_any_session(&self, id: SessionId) -> Result<Option<Session>, StoreError> {
        let row = sqlx::query(select!("where id = $1"))
            .bind(id.to_string())
            .fetch_optional(self.pool())
            .await?;
        row.as_ref().map(decode).transpose()
    }

    /// The owner's session that a person means: by its whole id; by its name (if only closed ones
    /// bear it, the newest of them); or by the start of its id, at least four digits, when no other
    /// id starts so.
    pub async fn find_session(
        &self,
        owner: &Owner,
        reference: &str,
    ) -> Result<Session, StoreError> {
        if let Ok(id) = reference.parse() {
            return self.fetch_session(owner, id).await;
        }
        let unknown = || StoreError::SessionNotFound { reference: reference.to_owned() };
        if reference.contains('\0') {
            return Err(unknown());
        }
        if let Some(session) = self.find_by_name(owner, reference).await? {
            return Ok(session);
        }
        let prefix = prefix::parse(reference).ok_or_else(unknown)?;
        let mut sessions = self.find_by_prefix(owner, &prefix).await?;
        match sessions.len() {
            0 => Err(unknown()),
            1 => Ok(sessions.remove(0)),
            _ => Err(StoreError::Ambiguous {
                reference: reference.to_owned(),
                matches: sessions.iter().map(|session| session.id).collect(),
            }),
        }
    }

    async fn find_by_name(&self, owner: &Owner, name: &str) -> Result<Option<Session>, StoreError> {
        let row = sqlx::query(select!(
            "where owner = $1 and name = $2
             order by case when lifecycle = 'closed' then 1 else 0 end, id desc limit 1"
        ))
        .bind(owner.as_str())
        .bind(name)
        .fetch_optional(self.pool())
        .await?;
        row.as_ref().map(decode).transpose()
    }

    async fn find_by_prefix(
        &self,
        owner: &Owner,
        prefix: &str,
    ) -> Result<Vec<Session>, StoreError> {
        let rows =
            sqlx::query(select!("where owner = $1 and id >= $2 and id < $3 order by id limit $4"))
                .bind(owner.as_str())
                .bind(prefix)
                .bind(prefix::end(prefix))
                .bind(MATCHES_MAX)
                .fetch_all(self.pool())
                .await?;
        decode_all(&rows)
    }
}
