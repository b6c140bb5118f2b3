//! Which snapshot holds what a revision says.
//!
//! The one idea: what a row names is never pruned. The content of a revision that counts is saved; one
//! that was released stays as the base of a merge, until newer ones have taken its place.

use super::{CommitShared, RevisionContent};
use crate::error::StoreError;
use crate::pooled::PooledConnection;
use crate::row::{CHUNK, places};
use crate::snapshots::{Draft, Snapshot};
use crate::store::Store;
use baton_session::{Owner, RevisionId, SessionId, SnapshotId};
use sqlx::AssertSqlSafe;

/// How many released revisions of a session keep their content.
const RELEASED_KEPT: i64 = 8;

/// The content of a revision, made ready.
pub(super) enum Prepared {
    Existing(SnapshotId),
    New(Box<Draft>),
}

impl Prepared {
    /// The snapshot that holds it.
    pub(super) fn snapshot(&self) -> SnapshotId {
        match self {
            Self::Existing(id) => *id,
            Self::New(draft) => draft.snapshot.id,
        }
    }
}

impl Store {
    /// The snapshot that holds what a revision says; none when nothing here does.
    pub async fn fetch_content(
        &self,
        owner: &Owner,
        session: SessionId,
        revision: RevisionId,
    ) -> Result<Option<Snapshot>, StoreError> {
        let found: Option<String> = sqlx::query_scalar(
            "select snapshot from revision_snapshots
             where owner = $1 and session = $2 and revision = $3",
        )
        .bind(owner.as_str())
        .bind(session.to_string())
        .bind(revision.to_string())
        .fetch_optional(self.pool())
        .await?;
        let Some(id) = found.and_then(|id| id.parse().ok()) else { return Ok(None) };
        match self.fetch_snapshot(owner, id).await {
            Ok(snapshot) => Ok(Some(snapshot)),
            // It went after we had its id.
            Err(StoreError::SnapshotNotFound { .. }) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Every revision of a session whose content is here, also released ones, each with the snapshot
    /// that holds it. One that cannot be read is left out.
    pub async fn list_contents(
        &self,
        owner: &Owner,
        session: SessionId,
    ) -> Result<Vec<(RevisionId, Snapshot)>, StoreError> {
        let rows: Vec<(String,)> = sqlx::query_as(
            "select revision from revision_snapshots where owner = $1 and session = $2",
        )
        .bind(owner.as_str())
        .bind(session.to_string())
        .fetch_all(self.pool())
        .await?;
        let mut found = Vec::with_capacity(rows.len());
        for revision in rows.iter().filter_map(|(revision,)| revision.parse().ok()) {
            match self.fetch_content(owner, session, revision).await {
                Ok(Some(snapshot)) => found.push((revision, snapshot)),
                Ok(None) | Err(StoreError::SnapshotCorrupt { .. }) => {}
                Err(error) => return Err(error),
            }
        }
        Ok(found)
    }

    /// Hashes, compresses and seals what is new, before the transaction begins.
    pub(super) async fn prepare(
        &self,
        contents: Vec<(RevisionId, RevisionContent)>,
    ) -> Result<Vec<(RevisionId, Prepared)>, StoreError> {
        let mut prepared = Vec::with_capacity(contents.len());
        for (revision, content) in contents {
            let content = match content {
                RevisionContent::Existing(id) => Prepared::Existing(id),
                RevisionContent::New(new) => Prepared::New(Box::new(self.draft(new).await?)),
            };
            prepared.push((revision, content));
        }
        Ok(prepared)
    }
}

/// Notes which snapshot holds a revision. Fails with `SnapshotNotFound` when the session has no such
/// snapshot.
pub(super) async fn name(
    connection: &mut PooledConnection,
    commit: &CommitShared<'_>,
    revision: RevisionId,
    snapshot: SnapshotId,
) -> Result<(), StoreError> {
    // What held it before is kept for this revision no longer.
    sqlx::query(
        "update snapshots set saved = 0 where id = (
             select snapshot from revision_snapshots
             where owner = $1 and session = $2 and revision = $3
         )",
    )
    .bind(commit.owner.as_str())
    .bind(commit.session.to_string())
    .bind(revision.to_string())
    .execute(&mut *connection)
    .await?;
    let named = sqlx::query(
        "insert into revision_snapshots (owner, session, revision, snapshot)
         select owner, session, $3, id from snapshots
         where owner = $1 and session = $2 and id = $4
         on conflict (owner, session, revision) do update
         set snapshot = excluded.snapshot, released_at = null",
    )
    .bind(commit.owner.as_str())
    .bind(commit.session.to_string())
    .bind(revision.to_string())
    .bind(snapshot.to_string())
    .execute(connection)
    .await?;
    if named.rows_affected() == 0 {
        return Err(StoreError::SnapshotNotFound { reference: snapshot.to_string() });
    }
    Ok(())
}

/// Releases revisions, saves the snapshots of the others, and forgets the oldest that were released:
/// all but the newest few, and the one that the local state comes from.
pub(super) async fn release(
    connection: &mut PooledConnection,
    commit: &CommitShared<'_>,
) -> Result<(), StoreError> {
    for chunk in commit.released.chunks(CHUNK) {
        let sql = format!(
            "update revision_snapshots set released_at = $1
             where owner = $2 and session = $3 and released_at is null and revision in ({})",
            places(4, chunk.len())
        );
        let query = sqlx::query(AssertSqlSafe(sql)).persistent(false);
        let query = query.bind(commit.now.as_millisecond());
        let query = query.bind(commit.owner.as_str()).bind(commit.session.to_string());
        let query = chunk.iter().fold(query, |query, revision| query.bind(revision.to_string()));
        query.execute(&mut *connection).await?;
    }
    settle_saved(connection, commit).await?;
    let base = commit.shared.base.as_ref().map(|base| base.revision.id().to_string());
    sqlx::query(
        "delete from revision_snapshots
         where owner = $1 and session = $2 and released_at is not null and revision <> $3
         and revision not in (
             select revision from revision_snapshots
             where owner = $1 and session = $2 and released_at is not null
             order by released_at desc, snapshot desc limit $4
         )",
    )
    .bind(commit.owner.as_str())
    .bind(commit.session.to_string())
    .bind(base.unwrap_or_default())
    .bind(RELEASED_KEPT)
    .execute(connection)
    .await?;
    Ok(())
}

/// A snapshot is saved while a revision that is not released has it.
async fn settle_saved(
    connection: &mut PooledConnection,
    commit: &CommitShared<'_>,
) -> Result<(), StoreError> {
    for sql in [
        "update snapshots set saved = 0 where saved = 1 and id in (
             select snapshot from revision_snapshots
             where owner = $1 and session = $2 and released_at is not null
         )",
        "update snapshots set saved = 1 where saved = 0 and id in (
             select snapshot from revision_snapshots
             where owner = $1 and session = $2 and released_at is null
         )",
    ] {
        let query = sqlx::query(sql);
        let query = query.bind(commit.owner.as_str()).bind(commit.session.to_string());
        query.execute(&mut *connection).await?;
    }
    Ok(())
}
