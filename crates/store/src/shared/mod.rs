//! What a node holds of the revisions of sessions: `fetch list commit delete`, and which snapshots hold
//! what revisions say (`contents`).
//!
//! The one idea: a session's revisions are one value, read and written whole. A writer says which generation
//! it read, and of two that have read the same one wins. What hangs on it, such as the snapshots, the row of
//! the session and the parts that were staged, changes in the same transaction. At rest it is sealed:
//! revisions name sessions and what is in them.

mod contents;

use crate::blocking::blocking;
use crate::error::StoreError;
use crate::pooled::PooledConnection;
use crate::row::word;
use crate::seal::Seal;
use crate::snapshots::{NewSnapshot, Pruned};
use crate::store::Store;
use crate::{packed, sessions, snapshots};
use baton_session::revision::Replica;
use baton_session::{Owner, PeerLease, RevisionId, Session, SessionId, Signed, SnapshotId};
use contents::Prepared;
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use sqlx::Row;
use sqlx::any::AnyRow;
use std::fmt;

/// How often what an owner shares has changed. Two changes of one owner never have the same.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Generation(i64);

impl fmt::Display for Generation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// What a node holds of a session's revisions.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Shared {
    /// The revisions.
    pub replica: Replica,
    /// Where the local state comes from; none before it was published or received.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub base: Option<Base>,
    /// Who holds the session among nodes, as far as is known; none before anybody did.
    #[serde(rename = "lease", default, skip_serializing_if = "Option::is_none")]
    pub peer_lease: Option<PeerLease>,
}

/// Where the local state of a session comes from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Base {
    /// The revision that it was.
    pub revision: Signed,
    /// The snapshot that holds that revision.
    pub snapshot: SnapshotId,
}

/// A change of what is held of a session's revisions: all of it or nothing.
#[derive(Debug)]
pub struct CommitShared<'a> {
    /// Whose session.
    pub owner: &'a Owner,
    /// Which session.
    pub session: SessionId,
    /// The generation that was read; none when nothing was there.
    pub expected: Option<Generation>,
    /// What is held from now on.
    pub shared: &'a Shared,
    /// What lists show of it, in the caller's own form.
    pub entry: Vec<u8>,
    /// The session to make with it, when it is not here yet.
    pub create: Option<&'a Session>,
    /// What revisions say, from now on kept for as long as they are not released.
    pub snapshots: Vec<(RevisionId, RevisionContent)>,
    /// Revisions that are not needed any more. The newest few stay, as bases of merges.
    pub released: Vec<RevisionId>,
    /// Whether the session's own row goes, with its snapshots. What is held of its revisions stays.
    pub forget: bool,
    /// The instant.
    pub now: Timestamp,
}

/// Where a revision's content is.
#[derive(Debug)]
pub enum RevisionContent {
    /// In a snapshot of the session that is stored.
    Existing(SnapshotId),
    /// In one that is stored with the change.
    New(NewSnapshot),
}

/// The most bytes of a session's revisions: those of a hundred heads and older ones, each with a
/// vector of a thousand actors, have a tenth of this.
const BODY_MAX: u64 = 64 << 20;
/// The most bytes of what a list shows of a session.
const ENTRY_MAX: u64 = 1 << 20;

/// Whose revisions they are. What is sealed opens for no other.
#[derive(Debug, Clone)]
struct RevisionsOwner {
    owner: Owner,
    session: SessionId,
}

/// Both blobs of a row.
#[derive(Debug)]
struct Blobs {
    entry: Vec<u8>,
    body: Vec<u8>,
}

impl RevisionsOwner {
    /// Seals both. What could not be opened again is refused.
    fn seal(&self, seal: &Seal, body: &[u8], entry: &[u8]) -> Result<Blobs, StoreError> {
        self.refuse_large(body, BODY_MAX)?;
        self.refuse_large(entry, ENTRY_MAX)?;
        let session = self.session.to_string();
        let corrupt = |error| self.corrupt(error);
        Ok(Blobs {
            body: seal.seal(body, &["shared", self.owner.as_str(), &session]).map_err(corrupt)?,
            entry: seal
                .seal_raw(entry, &["entry", self.owner.as_str(), &session])
                .map_err(corrupt)?,
        })
    }

    /// Opens a body.
    fn open(&self, seal: &Seal, sealed: &[u8]) -> Result<Shared, StoreError> {
        let subject = ["shared", self.owner.as_str(), &self.session.to_string()];
        let plain = seal.open(sealed, &subject, BODY_MAX).map_err(|error| self.corrupt(error))?;
        serde_json::from_slice(&plain).map_err(|error| self.corrupt(error))
    }

    /// Opens an entry.
    fn open_entry(&self, seal: &Seal, sealed: &[u8]) -> Result<Vec<u8>, StoreError> {
        let subject = ["entry", self.owner.as_str(), &self.session.to_string()];
        seal.open(sealed, &subject, ENTRY_MAX).map_err(|error| self.corrupt(error))
    }

    fn refuse_large(&self, plain: &[u8], limit: u64) -> Result<(), StoreError> {
        if plain.len() as u64 <= limit {
            return Ok(());
        }
        Err(self.corrupt(format!("expected at most {limit} bytes, found {}", plain.len())))
    }

    fn corrupt(&self, why: impl std::fmt::Display) -> StoreError {
        StoreError::SharedCorrupt { session: self.session, why: why.to_string() }
    }
}

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
        let (seal, belongs) = (self.seal(), RevisionsOwner { owner: owner.clone(), session });
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

impl Store {
    /// What lists show of every session that an owner shares, by id, and the generation of the whole.
    /// An entry that cannot be read is left out, with a warning in the log.
    pub async fn list_entries(
        &self,
        owner: &Owner,
    ) -> Result<(Generation, Vec<(SessionId, Vec<u8>)>), StoreError> {
        // One statement, so that the generation is that of the entries.
        let rows = sqlx::query(
            "select sync_owners.generation as generation, shared_sessions.session as session,
                 shared_sessions.entry as entry
             from sync_owners
             left join shared_sessions on shared_sessions.owner = sync_owners.owner
             where sync_owners.owner = $1 order by shared_sessions.session",
        )
        .bind(owner.as_str())
        .fetch_all(self.pool())
        .await?;
        let Some(first) = rows.first() else { return Ok((Generation::default(), Vec::new())) };
        let generation = Generation(first.try_get("generation")?);
        let found = rows.iter().filter_map(|row| entry(row, owner).transpose());
        let sealed: Vec<(RevisionsOwner, Vec<u8>)> = found.collect::<Result<_, _>>()?;
        let seal = self.seal();
        let opened = blocking(move || {
            let open = |(belongs, sealed): (RevisionsOwner, Vec<u8>)| {
                let entry = belongs.open_entry(&seal, &sealed);
                Some((belongs.session, entry.inspect_err(warn).ok()?))
            };
            sealed.into_iter().filter_map(open).collect()
        });
        Ok((generation, opened.await?))
    }

    /// The sessions of every owner of which nothing that is shared has changed since an instant, by owner
    /// and id.
    pub async fn list_quiet(
        &self,
        since: Timestamp,
    ) -> Result<Vec<(Owner, SessionId)>, StoreError> {
        let rows = sqlx::query(
            "select owner, session from shared_sessions where updated_at <= $1
             order by owner, session",
        )
        .bind(since.as_millisecond())
        .fetch_all(self.pool())
        .await?;
        rows.iter().map(|row| Ok((word(row, "owner")?, word(row, "session")?))).collect()
    }
}

/// The session of a row, with its sealed entry; none when the owner shares nothing any more.
fn entry(row: &AnyRow, owner: &Owner) -> Result<Option<(RevisionsOwner, Vec<u8>)>, StoreError> {
    let Some(sealed) = row.try_get::<Option<Vec<u8>>, _>("entry")? else { return Ok(None) };
    Ok(Some((RevisionsOwner { owner: owner.clone(), session: word(row, "session")? }, sealed)))
}

fn warn(error: &StoreError) {
    tracing::warn!(%error, "left a session out of what is shared");
}

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
            sessions::insert(self, connection, session).await?;
        }
        store_contents(connection, &commit, &mut prepared, &self.seal()).await?;
        contents::release(connection, &commit).await?;
        let mut pruned = prune(connection, &prepared).await?;
        pruned.has_left_parts |= !packed::unstage(connection, commit.owner, commit.session).await?;
        if commit.forget {
            sessions::delete(connection, commit.owner, commit.session).await?;
        }
        if commit.create.is_some() || commit.forget {
            write.changes_list(commit.session, commit.owner);
        } else {
            write.changes(commit.session);
        }
        write.commit().await?;
        self.collect_after(commit.owner, &pruned).await;
        Ok(generation)
    }

    async fn seal_shared(&self, commit: &CommitShared<'_>) -> Result<Blobs, StoreError> {
        let belongs = RevisionsOwner { owner: commit.owner.clone(), session: commit.session };
        let body = serde_json::to_vec(commit.shared).map_err(|error| belongs.corrupt(error))?;
        let (seal, entry) = (self.seal(), commit.entry.clone());
        blocking(move || belongs.seal(&seal, &body, &entry)).await?
    }
}

/// Counts up the owner's generation.
async fn advance(
    connection: &mut PooledConnection,
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
    connection: &mut PooledConnection,
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
    connection: &mut PooledConnection,
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
    connection: &mut PooledConnection,
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

impl Store {
    /// Removes all that is held of a session's revisions, and what peers are known to hold of it: for
    /// a deletion that everybody has seen. The session's own row stays as it is; what revisions said
    /// is kept no longer than other snapshots. Fails with `SharedChanged` when the generation is
    /// another one by now.
    pub async fn delete_shared(
        &self,
        owner: &Owner,
        session: SessionId,
        expected: Generation,
    ) -> Result<Generation, StoreError> {
        let mut write = self.write_parts(owner).await?;
        let connection = write.connection();
        let generation = advance(connection, owner).await?;
        let gone = sqlx::query(
            "delete from shared_sessions where owner = $1 and session = $2 and generation = $3",
        )
        .bind(owner.as_str())
        .bind(session.to_string())
        .bind(expected.0)
        .execute(&mut *connection)
        .await?;
        if gone.rows_affected() == 0 {
            return Err(StoreError::SharedChanged { session });
        }
        for sql in [
            "update snapshots set saved = 0 where id in (
                 select snapshot from revision_snapshots where owner = $1 and session = $2
             )",
            "delete from revision_snapshots where owner = $1 and session = $2",
            "delete from peer_acks where owner = $1 and session = $2",
        ] {
            let query = sqlx::query(sql).bind(owner.as_str()).bind(session.to_string());
            query.execute(&mut *connection).await?;
        }
        write.commit().await?;
        Ok(generation)
    }
}
