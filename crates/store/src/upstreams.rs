//! Upstream services: services behind a node's proxy that were named over the API.
//!
//! What is said of one is kept as it was sent, and makes sense to the proxy that serves it.

use crate::error::StoreError;
use crate::row::{instant, refuse_nul, word};
use crate::store::Store;
use baton_session::Owner;
use jiff::Timestamp;
use sqlx::Row;
use sqlx::any::AnyRow;

/// An upstream service that was named over the API.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredUpstream {
    /// Which one. It is part of host names, so it is one of a kind among all owners.
    pub id: String,
    /// To whom it belongs.
    pub owner: Owner,
    /// What was said of it, in JSON.
    pub body: String,
    /// When that was.
    pub updated_at: Timestamp,
}

impl Store {
    /// Stores an upstream service, in the place of the owner's that had its id. Fails with `IdTaken` when it is
    /// another owner's.
    pub async fn put_upstream(&self, service: &StoredUpstream) -> Result<(), StoreError> {
        refuse_nul("a cocoon", &service.body)?;
        let mut write = self.write().await?;
        let put = sqlx::query(
            "insert into cocoons (id, owner, body, updated_at) values ($1, $2, $3, $4)
             on conflict (id) do update
             set body = excluded.body, updated_at = excluded.updated_at
             where cocoons.owner = excluded.owner",
        )
        .bind(&service.id)
        .bind(service.owner.as_str())
        .bind(&service.body)
        .bind(service.updated_at.as_millisecond())
        .execute(write.connection())
        .await?;
        if put.rows_affected() == 0 {
            return Err(StoreError::IdTaken { id: service.id.clone() });
        }
        write.commit().await
    }

    /// The upstream services of all owners, by id.
    pub async fn list_upstreams(&self) -> Result<Vec<StoredUpstream>, StoreError> {
        let sql = "select id, owner, body, updated_at from cocoons order by id";
        let rows = sqlx::query(sql).fetch_all(self.pool()).await?;
        rows.iter().map(decode).collect()
    }

    /// Deletes an upstream service of the owner. Fails with `UpstreamNotFound`.
    pub async fn delete_upstream(&self, owner: &Owner, id: &str) -> Result<(), StoreError> {
        refuse_nul("a cocoon's id", id)?;
        let mut write = self.write().await?;
        let deleted = sqlx::query("delete from cocoons where owner = $1 and id = $2")
            .bind(owner.as_str())
            .bind(id)
            .execute(write.connection())
            .await?;
        if deleted.rows_affected() == 0 {
            return Err(StoreError::UpstreamNotFound { id: id.to_owned() });
        }
        write.commit().await
    }
}

fn decode(row: &AnyRow) -> Result<StoredUpstream, StoreError> {
    Ok(StoredUpstream {
        id: row.try_get("id")?,
        owner: word(row, "owner")?,
        body: row.try_get("body")?,
        updated_at: instant(row, "updated_at")?,
    })
}
