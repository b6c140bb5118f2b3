//! Stores a snapshot: one transaction, on disk when it is acknowledged.

use super::draft::Draft;
use super::lists;
use super::prune::{Pruned, try_prune};
use super::spans;
use super::{NewSnapshot, Snapshot};
use crate::error::StoreError;
use crate::parts::present;
use crate::seal::Seal;
use crate::store::Store;
use crate::{leases, sessions};
use baton_session::{Owner, Session, SessionId, Term};
use sqlx::AnyConnection;

impl Store {
    /// Stores a snapshot. Parts that the database has are not stored again, unless they are damaged;
    /// `carried` ones must be there (`PartMissing`). Fails with `SessionNotFound`, `IdTaken`, `TooManyParts`,
    /// `PartTooLarge` and `DuplicatePart`, and then stores nothing. When only the pruning that goes
    /// with it fails, the snapshot is stored.
    pub async fn create_snapshot(&self, new: NewSnapshot) -> Result<Snapshot, StoreError> {
        self.store_snapshot(None, new).await
    }

    /// Stores a session that comes from elsewhere together with its first snapshot: both or neither.
    /// Fails as [`create_session`](Self::create_session) and
    /// [`create_snapshot`](Self::create_snapshot) do.
    pub async fn create_session_with(
        &self,
        session: &Session,
        first: NewSnapshot,
    ) -> Result<Snapshot, StoreError> {
        self.store_snapshot(Some(session), first).await
    }

    async fn store_snapshot(
        &self,
        session: Option<&Session>,
        new: NewSnapshot,
    ) -> Result<Snapshot, StoreError> {
        let mut draft = self.draft(new).await?;
        let mut write = self.write_parts(&draft.owner).await?;
        let connection = write.connection();
        if let Some(session) = session {
            sessions::insert(connection, session).await?;
        }
        insert(connection, &mut draft, &self.seal()).await?;
        let pruned = prune_with(connection, &draft).await?;
        write.changes(draft.snapshot.session);
        write.commit().await?;
        self.collect_after(&draft.owner, &pruned).await;
        Ok(draft.snapshot)
    }
}

/// Writes a draft, and leaves the older snapshots as they are. The caller holds the owner's lock.
pub(crate) async fn insert(
    connection: &mut AnyConnection,
    draft: &mut Draft,
    seal: &Seal,
) -> Result<(), StoreError> {
    expect_session(connection, &draft.owner, draft.snapshot.session).await?;
    draft.snapshot.sibling |= is_late(connection, draft).await?;
    insert_parts(connection, draft, seal).await?;
    if let Some(list) = &draft.list {
        lists::insert(connection, &draft.owner, list).await?;
    }
    let ordinal = insert_snapshot(connection, draft).await?;
    spans::extend(connection, draft, ordinal).await
}

/// Lets the oldest snapshots go, as the draft that was written asks. Who does not hold the session
/// any more lets nothing of it go.
pub(crate) async fn prune_with(
    connection: &mut AnyConnection,
    draft: &Draft,
) -> Result<Pruned, StoreError> {
    match draft.keep.filter(|_| !draft.snapshot.sibling) {
        Some(keep) => try_prune(connection, draft.snapshot.session, keep).await,
        None => Ok(Pruned::default()),
    }
}

async fn expect_session(
    connection: &mut AnyConnection,
    owner: &Owner,
    id: SessionId,
) -> Result<(), StoreError> {
    let found = sqlx::query("select id from sessions where id = $1 and owner = $2")
        .bind(id.to_string())
        .bind(owner.as_str())
        .fetch_optional(connection)
        .await?;
    match found {
        Some(_) => Ok(()),
        None => Err(StoreError::SessionNotFound { reference: id.to_string() }),
    }
}

/// Whether another term than that of the writer runs by now.
async fn is_late(connection: &mut AnyConnection, draft: &Draft) -> Result<bool, StoreError> {
    let Some(term) = draft.term else { return Ok(false) };
    Ok(!leases::is_current(connection, draft.snapshot.session, term).await?)
}

/// Adds the parts that are not there, and replaces those that are damaged. One that was there when
/// the draft was made may have been collected since: it is sealed now.
async fn insert_parts(
    connection: &mut AnyConnection,
    draft: &mut Draft,
    seal: &Seal,
) -> Result<(), StoreError> {
    let wanted: Vec<&String> = draft.ids.keys().collect();
    let present = present(connection, &wanted).await?;
    let stands = |id: &String| present.contains(id) && !draft.damaged.contains(id);
    for (id, part) in draft.ids.iter().filter(|(id, _)| !stands(id)) {
        let content = draft
            .contents
            .get_mut(id)
            .ok_or_else(|| StoreError::PartMissing { kind: part.kind, name: part.name.clone() })?;
        let sealed = content.seal(seal, &draft.owner, id)?;
        sqlx::query(
            "insert into parts (id, owner, sealed) values ($1, $2, $3)
             on conflict (id) do update set sealed = excluded.sealed",
        )
        .bind(id)
        .bind(draft.owner.as_str())
        .bind(sealed)
        .execute(&mut *connection)
        .await?;
    }
    Ok(())
}

/// Returns its ordinal: one more than the newest of its session has.
async fn insert_snapshot(connection: &mut AnyConnection, draft: &Draft) -> Result<i64, StoreError> {
    let snapshot = &draft.snapshot;
    let ordinal = sqlx::query_scalar(
        "insert into snapshots
         (id, session, owner, ordinal, taken_at, reason, manifest, term, sibling, shrunk,
             saved)
         select $1, $2, $3, coalesce(max(ordinal), 0) + 1, $4, $5, $6, $7, $8, $9, $10
         from snapshots where session = $2
         on conflict (id) do nothing
         returning ordinal",
    )
    .bind(snapshot.id.to_string())
    .bind(snapshot.session.to_string())
    .bind(draft.owner.as_str())
    .bind(snapshot.taken_at.as_millisecond())
    .bind(snapshot.reason.as_str())
    .bind(draft.manifest.as_slice())
    .bind(draft.term.map_or(0, Term::to_i64))
    .bind(i64::from(snapshot.sibling))
    .bind(i64::from(snapshot.shrunk))
    .bind(i64::from(snapshot.saved))
    .fetch_optional(connection)
    .await?;
    ordinal.ok_or_else(|| StoreError::IdTaken { id: snapshot.id.to_string() })
}
