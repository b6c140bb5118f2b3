//! Cocoons: services behind a node's proxy that were named over the API.
//!
//! What is said of one is kept as it was sent, and makes sense to whoever serves it.

use crate::error::StoreError;
use crate::row::{instant, refuse_nul, word};
use crate::store::Store;
use baton_session::Owner;
use jiff::Timestamp;
use sqlx::Row;
use sqlx::any::AnyRow;

/// A cocoon that was named over the API.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredCocoon {
    /// Which one. It stands in host names, so it is one of a kind among all owners.
    pub id: String,
    /// To whom it belongs.
    pub owner: Owner,
    /// What was said of it, in JSON.
    pub body: String,
    /// When that was.
    pub updated_at: Timestamp,
}

impl Store {
    /// Stores a cocoon, in the place of the owner's that had its id. Fails with `IdTaken` when it is
    /// another owner's.
    pub async fn put_cocoon(&self, cocoon: &StoredCocoon) -> Result<(), StoreError> {
        refuse_nul("a cocoon", &cocoon.body)?;
        let mut write = self.write().await?;
        let put = sqlx::query(
            "insert into cocoons (id, owner, body, updated_at) values ($1, $2, $3, $4)
             on conflict (id) do update
             set body = excluded.body, updated_at = excluded.updated_at
             where cocoons.owner = excluded.owner",
        )
        .bind(&cocoon.id)
        .bind(cocoon.owner.as_str())
        .bind(&cocoon.body)
        .bind(cocoon.updated_at.as_millisecond())
        .execute(write.connection())
        .await?;
        if put.rows_affected() == 0 {
            return Err(StoreError::IdTaken { id: cocoon.id.clone() });
        }
        write.commit().await
    }

    /// The cocoons of all owners, by id.
    pub async fn list_cocoons(&self) -> Result<Vec<StoredCocoon>, StoreError> {
        let sql = "select id, owner, body, updated_at from cocoons order by id";
        let rows = sqlx::query(sql).fetch_all(self.pool()).await?;
        rows.iter().map(decode).collect()
    }

    /// Deletes a cocoon of the owner. Fails with `CocoonNotFound`.
    pub async fn delete_cocoon(&self, owner: &Owner, id: &str) -> Result<(), StoreError> {
        refuse_nul("a cocoon's id", id)?;
        let mut write = self.write().await?;
        let deleted = sqlx::query("delete from cocoons where owner = $1 and id = $2")
            .bind(owner.as_str())
            .bind(id)
            .execute(write.connection())
            .await?;
        if deleted.rows_affected() == 0 {
            return Err(StoreError::CocoonNotFound { id: id.to_owned() });
        }
        write.commit().await
    }
}

fn decode(row: &AnyRow) -> Result<StoredCocoon, StoreError> {
    Ok(StoredCocoon {
        id: row.try_get("id")?,
        owner: word(row, "owner")?,
        body: row.try_get("body")?,
        updated_at: instant(row, "updated_at")?,
    })
}
