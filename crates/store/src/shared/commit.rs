//! Changes what is held of a session's revisions: one transaction, on disk when it is acknowledged.

use super::contents::{self, Prepared};
use super::sealed::{Belongs, Blobs};
use super::{CommitShared, Generation};
use crate::blocking::blocking;
use crate::error::StoreError;
use crate::seal::Seal;
use crate::snapshots::Pruned;
use crate::store::Store;
use crate::{sessions, snapshots, staged};
use baton_session::{Owner, RevisionId};
use sqlx::AnyConnection;

impl Store {
    /// Changes what is held of a session's revisions, with all that hangs on it: all or nothing. What
    /// was staged for the session is unstaged with it. Returns the new generation, which is that of
    /// the owner too. Fails with `SharedChanged` when another change came first; with
    /// `SharedCorrupt` when there is too much to store; with `SnapshotNotFound` when a snapshot that
    /// should exist does not; with `LifecycleConflict` when a session that is active should be
    /// forgotten; and as [`create_session`](Self::create_session) and
    /// [`create_snapshot`](Self::create_snapshot) do.
    pub async fn commit_shared(
        &self,
        mut commit: CommitShared<'_>,
    ) -> Result<Generation, StoreError> {
        let blobs = self.seal_shared(&commit).await?;
        let mut prepared = self.prepare(std::mem::take(&mut commit.snapshots)).await?;
        let mut write = self.write_parts(commit.owner).await?;
        let connection = write.connection();
        let generation = advance(connection, commit.owner).await?;
        set(connection, &commit, &blobs, generation).await?;
        if let Some(session) = commit.create {
            sessions::insert(connection, session).await?;
        }
        store_contents(connection, &commit, &mut prepared, &self.seal()).await?;
        contents::release(connection, &commit).await?;
        let mut pruned = prune(connection, &prepared).await?;
        pruned.has_left_parts |= !staged::unstage(connection, commit.owner, commit.session).await?;
        if commit.forget {
            sessions::delete(connection, commit.owner, commit.session).await?;
        }
        write.changes(commit.session);
        write.commit().await?;
        self.collect_after(commit.owner, &pruned).await;
        Ok(generation)
    }

    async fn seal_shared(&self, commit: &CommitShared<'_>) -> Result<Blobs, StoreError> {
        let belongs = Belongs { owner: commit.owner.clone(), session: commit.session };
        let body = serde_json::to_vec(commit.shared).map_err(|error| belongs.corrupt(error))?;
        let (seal, entry) = (self.seal(), commit.entry.clone());
        blocking(move || belongs.seal(&seal, &body, &entry)).await?
    }
}

/// Counts up the owner's generation.
pub(super) async fn advance(
    connection: &mut AnyConnection,
    owner: &Owner,
) -> Result<Generation, StoreError> {
    let generation = sqlx::query_scalar(
        "insert into sync_owners (owner, generation) values ($1, 1)
         on conflict (owner) do update set generation = sync_owners.generation + 1
         returning generation",
    )
    .bind(owner.as_str())
    .fetch_one(connection)
    .await?;
    Ok(Generation(generation))
}

/// Writes the row, if it is still the one that was read.
async fn set(
    connection: &mut AnyConnection,
    commit: &CommitShared<'_>,
    blobs: &Blobs,
    generation: Generation,
) -> Result<(), StoreError> {
    let sql = match commit.expected {
        None => {
            "insert into shared_sessions (owner, session, generation, entry, body, updated_at)
             values ($1, $2, $3, $4, $5, $6) on conflict (owner, session) do nothing"
        }
        Some(_) => {
            "update shared_sessions set generation = $3, entry = $4, body = $5, updated_at = $6
             where owner = $1 and session = $2 and generation = $7"
        }
    };
    let query = sqlx::query(sql)
        .bind(commit.owner.as_str())
        .bind(commit.session.to_string())
        .bind(generation.0)
        .bind(blobs.entry.as_slice())
        .bind(blobs.body.as_slice())
        .bind(commit.now.as_millisecond());
    let query = match commit.expected {
        None => query,
        Some(expected) => query.bind(expected.0),
    };
    if query.execute(connection).await?.rows_affected() == 0 {
        return Err(StoreError::SharedChanged { session: commit.session });
    }
    Ok(())
}

async fn store_contents(
    connection: &mut AnyConnection,
    commit: &CommitShared<'_>,
    prepared: &mut [(RevisionId, Prepared)],
    seal: &Seal,
) -> Result<(), StoreError> {
    for (revision, content) in prepared {
        if let Prepared::New(draft) = content {
            snapshots::insert(connection, draft, seal).await?;
        }
        contents::name(connection, commit, *revision, content.snapshot()).await?;
    }
    Ok(())
}

/// Lets the oldest snapshots go, as the newest of those that were stored asks.
async fn prune(
    connection: &mut AnyConnection,
    prepared: &[(RevisionId, Prepared)],
) -> Result<Pruned, StoreError> {
    let mut pruned = Pruned::default();
    for (_, content) in prepared.iter().rev() {
        if let Prepared::New(draft) = content {
            pruned.has_left_parts |= snapshots::prune_with(connection, draft).await?.has_left_parts;
        }
    }
    Ok(pruned)
}
