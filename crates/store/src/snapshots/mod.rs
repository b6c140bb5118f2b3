//! Snapshots: immutable lists of parts, made ready and then stored in one transaction.
//!
//! A snapshot's row holds its list of parts sealed (`manifest`), because the names of parts are the names of
//! sites; beside it are the ids of the parts at rest (`prune`), so that parts which no snapshot names can be
//! collected. Hashing, compressing and encrypting happen in a draft, outside of the transaction, and only for
//! parts that the database does not have yet.

mod fetch;
mod manifest;
mod prune;

pub(crate) use prune::Pruned;

use crate::blocking::blocking;
use crate::config::Limits;
use crate::error::StoreError;
use crate::parts::present;
use crate::pins::Pins;
use crate::pooled::PooledConnection;
use crate::seal::{Seal, SealError};
use crate::store::Store;
use crate::{leases, sessions};
use baton_session::{Owner, Part, PartRef, Session, SessionId, SnapshotId, SnapshotReason, Term};
use jiff::Timestamp;
use manifest::{Current, LIST_PLACE, List, ManifestOwner, insert_list, seal_manifest};
use prune::{extend_spans, try_prune};
use std::collections::{BTreeMap, BTreeSet};

/// A snapshot to be stored.
#[derive(Debug, Clone)]
pub struct NewSnapshot {
    /// Its id.
    pub id: SnapshotId,
    /// Whose state it is.
    pub session: SessionId,
    /// The owner of that session.
    pub owner: Owner,
    /// When the browser was asked.
    pub taken_at: Timestamp,
    /// Why it was taken.
    pub reason: SnapshotReason,
    /// The term in which its writer holds the session; none when no node has to hold it. When another term
    /// runs by now, the snapshot becomes a sibling.
    pub term: Option<Term>,
    /// Whether more than half of what the last good one held is gone, and no client asked for it.
    pub shrunk: bool,
    /// Whether it is beside the line of the others from its start.
    pub sibling: bool,
    /// Whether it is kept for good.
    pub saved: bool,
    /// The parts that may be new, with their bytes.
    pub parts: Vec<Part>,
    /// The parts that did not change: they are in the database already.
    pub carried: Vec<PartRef>,
    /// To how many the snapshots of the session are pruned with it, see
    /// [`Store::prune_snapshots`](crate::Store::prune_snapshots); none prunes nothing, and a sibling
    /// does not either. One transaction writes less than two.
    pub keep: Option<u32>,
}

/// A stored snapshot.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Snapshot {
    /// Its id.
    pub id: SnapshotId,
    /// Whose state it is.
    pub session: SessionId,
    /// When the browser was asked, to the millisecond.
    pub taken_at: Timestamp,
    /// Why it was taken.
    pub reason: SnapshotReason,
    /// The term in which its writer held the session; none when no node had to hold it.
    pub term: Option<Term>,
    /// Whether its writer did not hold the session any more: it is beside the line of the others, and is
    /// never taken for the latest.
    pub sibling: bool,
    /// Whether more than half of what the last good one held was gone, and no client asked for it.
    pub shrunk: bool,
    /// Whether it is kept for good.
    pub saved: bool,
    /// Its parts, sorted by kind and name.
    pub parts: Vec<PartRef>,
    /// The bytes of its parts together, before compression.
    pub bytes: u64,
}

/// A snapshot made ready.
pub(crate) struct Draft {
    owner: Owner,
    pub(crate) snapshot: Snapshot,
    term: Option<Term>,
    keep: Option<u32>,
    /// The snapshots that no prune takes.
    pins: Pins,
    /// The sealed list of parts, or how it differs from `list`.
    manifest: Vec<u8>,
    list: Option<List>,
    /// The ids at rest of all of its parts, with one part that bears it.
    ids: BTreeMap<String, PartRef>,
    /// The id at rest of the part in each place, and of the list in its own.
    places: BTreeMap<String, String>,
    /// The bytes of those that may be new, by id at rest.
    contents: BTreeMap<String, Content>,
    /// Those of them that the database has, but cannot open any more.
    damaged: BTreeSet<String>,
}

/// The bytes of a part, before and after sealing.
enum Content {
    Plain(Part),
    Sealed(Vec<u8>),
}

/// Checks the limits, hashes and names the parts, and seals the list of them.
fn draft(
    new: NewSnapshot,
    current: Option<Current>,
    seal: &Seal,
    limits: &Limits,
    pins: Pins,
) -> Result<Draft, StoreError> {
    let found = new.parts.len() + new.carried.len();
    if found > limits.snapshot_parts {
        return Err(StoreError::TooManyParts { found, limit: limits.snapshot_parts });
    }
    let names = seal.part_ids(&new.owner);
    let mut parts = new.carried;
    let mut contents = BTreeMap::new();
    for part in new.parts {
        let reference = part.reference();
        refuse_large(&reference, limits)?;
        contents.insert(names.id(reference.kind, &reference.hash), Content::Plain(part));
        parts.push(reference);
    }
    sort_once(&mut parts)?;
    let mut ids = BTreeMap::new();
    let mut places = BTreeMap::new();
    for part in &parts {
        let id = names.id(part.kind, &part.hash);
        places.insert(names.place(part.kind, &part.name), id.clone());
        ids.insert(id, part.clone());
    }
    let belongs = ManifestOwner { owner: &new.owner, session: new.session, snapshot: new.id };
    let (manifest, list) = seal_manifest(seal, &names, &belongs, &parts, current)
        .map_err(|error| StoreError::SnapshotCorrupt { id: new.id, why: error.to_string() })?;
    places.extend(list.as_ref().map(|list| (LIST_PLACE.to_owned(), list.id.clone())));
    let snapshot = Snapshot {
        id: new.id,
        session: new.session,
        // As a reader will find it.
        taken_at: crate::row::to_millis(new.taken_at),
        reason: new.reason,
        term: new.term,
        // Or it becomes one when it is written.
        sibling: new.sibling,
        shrunk: new.shrunk,
        saved: new.saved,
        bytes: total(&parts),
        parts,
    };
    Ok(Draft {
        owner: new.owner,
        snapshot,
        term: new.term,
        keep: new.keep,
        pins,
        manifest,
        list,
        ids,
        places,
        contents,
        damaged: BTreeSet::new(),
    })
}

/// The bytes of parts together.
fn total(parts: &[PartRef]) -> u64 {
    parts.iter().fold(0, |sum, part| sum.saturating_add(part.size))
}

fn refuse_large(part: &PartRef, limits: &Limits) -> Result<(), StoreError> {
    if part.size <= limits.part_bytes {
        return Ok(());
    }
    Err(StoreError::PartTooLarge {
        kind: part.kind,
        name: part.name.clone(),
        found: part.size,
        limit: limits.part_bytes,
    })
}

fn sort_once(parts: &mut [PartRef]) -> Result<(), StoreError> {
    parts.sort_by(|a, b| (a.kind, &a.name).cmp(&(b.kind, &b.name)));
    let twice =
        parts.windows(2).find(|pair| pair[0].kind == pair[1].kind && pair[0].name == pair[1].name);
    match twice {
        Some(pair) => {
            Err(StoreError::DuplicatePart { kind: pair[0].kind, name: pair[0].name.clone() })
        }
        None => Ok(()),
    }
}

impl Draft {
    /// Seals the parts that the database does not have, or has no more.
    fn seal_missing(&mut self, seal: &Seal, present: &BTreeSet<String>) -> Result<(), StoreError> {
        for (id, content) in &mut self.contents {
            if !present.contains(id) || self.damaged.contains(id) {
                content.seal(seal, &self.owner, id)?;
            }
        }
        Ok(())
    }
}

impl Content {
    /// Seals it, unless it is sealed, and shows the result.
    fn seal(&mut self, seal: &Seal, owner: &Owner, id: &str) -> Result<&[u8], StoreError> {
        if let Self::Plain(part) = self {
            let sealed = seal
                .seal(&part.bytes, &Seal::part_subject(owner, id, part.kind))
                .map_err(|error| corrupt(part, &error))?;
            *self = Self::Sealed(sealed);
        }
        match self {
            Self::Sealed(sealed) => Ok(sealed),
            Self::Plain(_) => Ok(&[]),
        }
    }
}

fn corrupt(part: &Part, error: &SealError) -> StoreError {
    StoreError::PartCorrupt { kind: part.kind, name: part.name.clone(), why: error.to_string() }
}

impl Store {
    /// Makes a draft, and seals what the database does not have at this moment.
    pub(crate) async fn draft(&self, new: NewSnapshot) -> Result<Draft, StoreError> {
        let (seal, limits, pins) = (self.seal(), self.inner.limits, self.inner.pins.clone());
        let current = self.current_list(new.session).await?;
        let mut draft = blocking(move || draft(new, current, &seal, &limits, pins)).await??;
        let wanted: Vec<&String> = draft.contents.keys().collect();
        let mut connection = self.pool().acquire().await?;
        let present = crate::parts::present(&mut connection, &wanted).await?;
        drop(connection);
        draft.damaged = self.damaged(&draft, &present).await?;
        let seal = self.seal();
        blocking(move || draft.seal_missing(&seal, &present).map(|()| draft)).await?
    }

    /// Which of the parts whose bytes we have are in the database, but damaged: they are mended.
    async fn damaged(
        &self,
        draft: &Draft,
        present: &BTreeSet<String>,
    ) -> Result<BTreeSet<String>, StoreError> {
        let known: Vec<(&String, &PartRef)> = draft
            .ids
            .iter()
            .filter(|(id, _)| draft.contents.contains_key(*id) && present.contains(*id))
            .collect();
        let wanted: Vec<PartRef> = known.iter().map(|(_, part)| (*part).clone()).collect();
        let found = self.fetch_parts(&draft.owner, &wanted).await?;
        let damaged = known.into_iter().zip(found).filter(|(_, part)| part.is_err());
        Ok(damaged.map(|((id, _), _)| id.clone()).collect())
    }
}

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
            sessions::insert(self, connection, session).await?;
        }
        insert(connection, &mut draft, &self.seal()).await?;
        let pruned = prune_with(connection, &draft).await?;
        match session {
            Some(session) => write.changes_list(session.id, &session.owner),
            None => write.changes(draft.snapshot.session),
        }
        write.commit().await?;
        self.collect_after(&draft.owner, &pruned).await;
        Ok(draft.snapshot)
    }
}

/// Writes a draft, and leaves the older snapshots as they are. The caller holds the owner's lock.
pub(crate) async fn insert(
    connection: &mut PooledConnection,
    draft: &mut Draft,
    seal: &Seal,
) -> Result<(), StoreError> {
    expect_session(connection, &draft.owner, draft.snapshot.session).await?;
    draft.snapshot.sibling |= is_late(connection, draft).await?;
    insert_parts(connection, draft, seal).await?;
    if let Some(list) = &draft.list {
        insert_list(connection, &draft.owner, list).await?;
    }
    let ordinal = insert_snapshot(connection, draft).await?;
    extend_spans(connection, draft, ordinal).await
}

/// Lets the oldest snapshots go, as the draft that was written asks. Who does not hold the session
/// any more lets nothing of it go.
pub(crate) async fn prune_with(
    connection: &mut PooledConnection,
    draft: &Draft,
) -> Result<Pruned, StoreError> {
    match draft.keep.filter(|_| !draft.snapshot.sibling) {
        Some(keep) => {
            let session = draft.snapshot.session;
            try_prune(connection, session, keep, &draft.pins.of(session)).await
        }
        None => Ok(Pruned::default()),
    }
}

async fn expect_session(
    connection: &mut PooledConnection,
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
async fn is_late(connection: &mut PooledConnection, draft: &Draft) -> Result<bool, StoreError> {
    let Some(term) = draft.term else { return Ok(false) };
    Ok(!leases::is_current(connection, draft.snapshot.session, term).await?)
}

/// Adds the parts that are not there, and replaces those that are damaged. One that was there when
/// the draft was made may have been collected since: it is sealed now.
async fn insert_parts(
    connection: &mut PooledConnection,
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
async fn insert_snapshot(
    connection: &mut PooledConnection,
    draft: &Draft,
) -> Result<i64, StoreError> {
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
