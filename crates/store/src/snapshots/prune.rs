//! Prunes the snapshots of a session: the oldest go, and what matters stays whatever its age.

use super::spans;
use crate::collect::collect_named;
use crate::error::StoreError;
use crate::row::word;
use crate::store::Store;
use baton_session::{Owner, SessionId};
use sqlx::{AnyConnection, Row};

/// What went.
#[derive(Debug, Default)]
pub(crate) struct Pruned {
    snapshots: u64,
    /// Whether more parts lost their last name than one transaction removes.
    pub(crate) has_left_parts: bool,
}

impl Store {
    /// Removes all but the newest `keep` snapshots of a session, then the parts that nothing names
    /// any more. Whatever `keep` is, these stay: the newest one, the last good one, saved ones, those
    /// of revisions, and the one that the session's latest receipt names. Returns how many snapshots went.
    pub async fn prune_snapshots(&self, session: SessionId, keep: u32) -> Result<u64, StoreError> {
        let owner = self.owner_of(session).await?;
        // As a rule there is nothing to do, and then no writer has to wait for us.
        if !is_over(&mut *self.pool().acquire().await?, session, keep).await? {
            return Ok(0);
        }
        let mut write = self.write_parts(&owner).await?;
        let pruned = prune(write.connection(), session, keep).await?;
        write.commit().await?;
        self.collect_left(&owner, &pruned).await?;
        Ok(pruned.snapshots)
    }

    /// Removes the parts that a prune has left. What was stored is on disk, and this is no reason to
    /// say otherwise.
    pub(crate) async fn collect_after(&self, owner: &Owner, pruned: &Pruned) {
        if let Err(error) = self.collect_left(owner, pruned).await {
            tracing::warn!(%error, "parts that nothing names were not removed");
        }
    }

    async fn collect_left(&self, owner: &Owner, pruned: &Pruned) -> Result<(), StoreError> {
        if pruned.has_left_parts {
            self.collect_parts_of(owner).await?;
        }
        Ok(())
    }

    async fn owner_of(&self, session: SessionId) -> Result<Owner, StoreError> {
        let row = sqlx::query("select owner from sessions where id = $1")
            .bind(session.to_string())
            .fetch_optional(self.pool())
            .await?;
        let unknown = || StoreError::SessionNotFound { reference: session.to_string() };
        word(&row.ok_or_else(unknown)?, "owner")
    }
}

/// Prunes within a transaction that does something else as well: when it fails, that goes on as if
/// nobody had tried.
pub(super) async fn try_prune(
    connection: &mut AnyConnection,
    session: SessionId,
    keep: u32,
) -> Result<Pruned, StoreError> {
    if !is_over(connection, session, keep).await? {
        return Ok(Pruned::default());
    }
    sqlx::query("savepoint before_prune").execute(&mut *connection).await?;
    let pruned = match prune(connection, session, keep).await {
        Ok(pruned) => pruned,
        Err(error) => {
            tracing::warn!(%session, %error, "old snapshots were not removed");
            sqlx::query("rollback to before_prune").execute(&mut *connection).await?;
            Pruned::default()
        }
    };
    sqlx::query("release before_prune").execute(connection).await?;
    Ok(pruned)
}

/// Whether a session has more snapshots than that.
async fn is_over(
    connection: &mut AnyConnection,
    session: SessionId,
    keep: u32,
) -> Result<bool, StoreError> {
    let row = sqlx::query("select count(*) as found from snapshots where session = $1")
        .bind(session.to_string())
        .fetch_one(connection)
        .await?;
    Ok(row.try_get::<i64, _>("found")? > i64::from(keep.max(1)))
}

async fn prune(
    connection: &mut AnyConnection,
    session: SessionId,
    keep: u32,
) -> Result<Pruned, StoreError> {
    let gone = sqlx::query(
        "delete from snapshots where session = $1 and saved = 0
         and ordinal < (
             select min(ordinal) from (
                 select ordinal from snapshots where session = $1
                 order by ordinal desc limit $2
             ) as newest
         )
         and ordinal <> coalesce((
             select ordinal from snapshots where session = $1 and sibling = 0
             order by ordinal desc limit 1
         ), 0)
         and ordinal <> coalesce((
             select ordinal from snapshots where session = $1 and sibling = 0 and shrunk = 0
             order by ordinal desc limit 1
         ), 0)
         and id not in (
             select snapshot from receipts where session = $1
             order by ordinal desc limit 1
         )
         and not exists (
             select 1 from revision_snapshots where revision_snapshots.snapshot = snapshots.id
         )",
    )
    .bind(session.to_string())
    .bind(i64::from(keep.max(1)))
    .execute(&mut *connection)
    .await?
    .rows_affected();
    if gone == 0 {
        return Ok(Pruned::default());
    }
    let named = spans::prune(connection, session).await?;
    let has_left_parts = !collect_named(connection, &named).await?;
    Ok(Pruned { snapshots: gone, has_left_parts })
}
