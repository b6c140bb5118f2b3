//! What becomes of a session once it was made: `update adopt rename delete`, whether what its tabs do is recorded,
//! and how many of its resumes failed in a row.

use crate::error::StoreError;
use crate::leases;
use crate::pooled::PooledConnection;
use crate::row::{is_taken, refuse_nul, word};
use crate::sessions::{fetch_row, not_found};
use crate::store::Store;
use baton_session::{Lifecycle, NodeId, Owner, Session, SessionId, SessionName};
use jiff::Timestamp;

impl Store {
    /// Moves a session of `node` from the state `from`, in which it must be, to the state `to`; one that
    /// leaves `active` has no holder from then on. Fails with `LifecycleForbidden` when no session goes that
    /// way, `LifecycleConflict` when it is in another state, `HeldElsewhere` when it has another home by now,
    /// and `NameTaken` when it was closed and its name has another bearer.
    pub async fn update_lifecycle(
        &self,
        id: SessionId,
        node: NodeId,
        from: Lifecycle,
        to: Lifecycle,
        at: Timestamp,
    ) -> Result<Session, StoreError> {
        if !from.may_become(to) {
            return Err(StoreError::LifecycleForbidden { from, to });
        }
        let mut write = self.write().await?;
        let before = fetch_row(write.connection(), id).await?;
        if before.node != node {
            return Err(StoreError::HeldElsewhere { node: before.node });
        }
        if before.lifecycle != from {
            return Err(StoreError::LifecycleConflict { expected: from, found: before.lifecycle });
        }
        let updated = sqlx::query(
            "update sessions set lifecycle = $3, updated_at = $4,
             failed_resumes = case when $3 = 'active' then 0 else failed_resumes end
             where id = $1 and lifecycle = $2 and node = $5",
        )
        .bind(id.to_string())
        .bind(from.as_str())
        .bind(to.as_str())
        .bind(at.as_millisecond())
        .bind(node.to_string())
        .execute(write.connection())
        .await;
        let moved = match updated {
            Ok(done) => done.rows_affected() > 0,
            Err(error) if is_taken(&error) => {
                return Err(StoreError::NameTaken { name: before.name.to_string() });
            }
            Err(error) => return Err(error.into()),
        };
        let after = fetch_row(write.connection(), id).await?;
        if !moved {
            // On PostgreSQL another writer can come between the look and the change.
            return Err(StoreError::LifecycleConflict { expected: from, found: after.lifecycle });
        }
        if from == Lifecycle::Active {
            leases::release(write.connection(), id, node).await?;
        }
        write.changes_list(id, &after.owner);
        write.commit().await?;
        Ok(after)
    }
}

impl Store {
    /// Makes `node` the home of a session that no node holds and that is not active. Fails with
    /// `LifecycleConflict` or `HeldElsewhere` when that is not so.
    pub async fn adopt_session(&self, id: SessionId, node: NodeId) -> Result<(), StoreError> {
        let mut write = self.write().await?;
        let moved = sqlx::query(
            "update sessions set node = $2 where id = $1 and lifecycle <> 'active' and not exists (
                 select 1 from leases where session = $1 and leases.node is not null
             )",
        )
        .bind(id.to_string())
        .bind(node.to_string())
        .execute(write.connection())
        .await?;
        let session = fetch_row(write.connection(), id).await?;
        if moved.rows_affected() > 0 {
            write.changes_list(id, &session.owner);
            return write.commit().await;
        }
        drop(write);
        match self.fetch_lease(id).await?.and_then(|lease| lease.node) {
            Some(holder) => Err(StoreError::HeldElsewhere { node: holder }),
            None => Err(StoreError::LifecycleConflict {
                expected: Lifecycle::Recoverable,
                found: session.lifecycle,
            }),
        }
    }
}

impl Store {
    /// Counts a resume of one of `node`'s sessions that failed. The second in a row moves a session that is
    /// not closed to `failed`. Returns its lifecycle.
    pub async fn note_failed_resume(
        &self,
        id: SessionId,
        node: NodeId,
        at: Timestamp,
    ) -> Result<Lifecycle, StoreError> {
        let mut write = self.write().await?;
        sqlx::query(
            "update sessions set failed_resumes = failed_resumes + 1, updated_at = $3,
             lifecycle = case when failed_resumes >= 1 and lifecycle in ('recoverable', 'stale')
                 then 'failed' else lifecycle end
             where id = $1 and node = $2",
        )
        .bind(id.to_string())
        .bind(node.to_string())
        .bind(at.as_millisecond())
        .execute(write.connection())
        .await?;
        let after = fetch_row(write.connection(), id).await?;
        write.changes_list(id, &after.owner);
        write.commit().await?;
        Ok(after.lifecycle)
    }
}

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
        write.changes_list(id, &after.owner);
        write.commit().await?;
        Ok(after)
    }
}

impl Store {
    /// Notes whether what the tabs of a session do is recorded while its browser runs. Fails with
    /// `SessionNotFound`.
    pub async fn switch_debug(
        &self,
        id: SessionId,
        on: bool,
        at: Timestamp,
    ) -> Result<Session, StoreError> {
        let mut write = self.write().await?;
        let done = sqlx::query("update sessions set debug = $2, updated_at = $3 where id = $1")
            .bind(id.to_string())
            .bind(i64::from(on))
            .bind(at.as_millisecond())
            .execute(write.connection())
            .await?;
        if done.rows_affected() == 0 {
            return Err(not_found(id));
        }
        let after = fetch_row(write.connection(), id).await?;
        write.changes_list(id, &after.owner);
        write.commit().await?;
        Ok(after)
    }
}

impl Store {
    /// Deletes the owner's session with its snapshots and receipts; its parts can then be
    /// collected. Refuses one that is active with `LifecycleConflict`.
    pub async fn delete_session(&self, owner: &Owner, id: SessionId) -> Result<(), StoreError> {
        let mut write = self.write_parts(owner).await?;
        if delete(write.connection(), owner, id).await? {
            write.changes_list(id, owner);
            write.commit().await
        } else {
            Err(not_found(id))
        }
    }
}

/// Deletes the row of a session, with all that hangs on it; false when there is none. Refuses one that
/// is active with `LifecycleConflict`.
pub(crate) async fn delete(
    connection: &mut PooledConnection,
    owner: &Owner,
    id: SessionId,
) -> Result<bool, StoreError> {
    let gone =
        sqlx::query("delete from sessions where owner = $1 and id = $2 and lifecycle <> 'active'")
            .bind(owner.as_str())
            .bind(id.to_string())
            .execute(&mut *connection)
            .await?;
    if gone.rows_affected() > 0 {
        return Ok(true);
    }
    let row = sqlx::query("select lifecycle from sessions where owner = $1 and id = $2")
        .bind(owner.as_str())
        .bind(id.to_string())
        .fetch_optional(connection)
        .await?;
    let Some(row) = row else { return Ok(false) };
    let found = word(&row, "lifecycle")?;
    Err(StoreError::LifecycleConflict { expected: Lifecycle::Closed, found })
}
