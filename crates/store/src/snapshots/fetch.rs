//! Fetches snapshots: one by its id, the one that a person means, or a page of them, newest first.

use super::manifest::{self, BaseList, List, ManifestOwner};
use super::{Snapshot, total};
use crate::blocking::blocking;
use crate::error::StoreError;
use crate::row::{
    CHUNK, MATCHES_MAX, behind_prefix, flag, instant, page, parse_prefix, places, word,
};
use crate::seal::Seal;
use crate::store::Store;
use baton_session::{Owner, SessionId, SnapshotId, SnapshotReason, Term};
use jiff::Timestamp;
use sqlx::any::AnyRow;
use sqlx::{AssertSqlSafe, Row};

/// A query for whole snapshots, each with the list from which it differs; the argument is what
/// follows `from snapshots` and its joins.
macro_rules! select {
    ($rest:literal) => {
        concat!(
            "select snapshots.id, snapshots.session, snapshots.owner, taken_at, reason, term, \
                 sibling, shrunk, saved, manifest, lists.id as list, lists.sealed as listed \
             from snapshots \
             left join part_spans on part_spans.session = snapshots.session \
                 and place = 'list' and ordinal between since and coalesce(until, ordinal) \
             left join parts as lists on lists.id = part_spans.part ",
            $rest
        )
    };
}

impl Store {
    /// The owner's snapshot with this id.
    pub async fn fetch_snapshot(
        &self,
        owner: &Owner,
        id: SnapshotId,
    ) -> Result<Snapshot, StoreError> {
        let row = sqlx::query(select!("where snapshots.owner = $1 and snapshots.id = $2"))
            .bind(owner.as_str())
            .bind(id.to_string())
            .fetch_optional(self.pool())
            .await?;
        let row = row.ok_or(StoreError::SnapshotNotFound { reference: id.to_string() })?;
        self.open_snapshot(&row).await
    }

    /// The snapshot of a session that was stored last, siblings aside.
    pub async fn latest_snapshot(
        &self,
        session: SessionId,
    ) -> Result<Option<Snapshot>, StoreError> {
        let row = sqlx::query(select!(
            "where snapshots.session = $1 and sibling = 0 order by ordinal desc limit 1"
        ))
        .bind(session.to_string())
        .fetch_optional(self.pool())
        .await?;
        match row {
            Some(row) => self.open_snapshot(&row).await.map(Some),
            None => Ok(None),
        }
    }

    /// The last snapshot of a session that was not shrunk, siblings aside.
    pub async fn last_good_snapshot(
        &self,
        session: SessionId,
    ) -> Result<Option<Snapshot>, StoreError> {
        let row = sqlx::query(select!(
            "where snapshots.session = $1 and sibling = 0 and shrunk = 0 order by ordinal desc limit 1"
        ))
        .bind(session.to_string())
        .fetch_optional(self.pool())
        .await?;
        match row {
            Some(row) => self.open_snapshot(&row).await.map(Some),
            None => Ok(None),
        }
    }

    async fn open_snapshot(&self, row: &AnyRow) -> Result<Snapshot, StoreError> {
        let (sealed, seal) = (Sealed::decode(row)?, self.seal());
        blocking(move || sealed.open(&seal, &mut None)).await?
    }
}

/// The row of a snapshot, before its list of parts is opened.
pub(super) struct Sealed {
    pub(super) id: SnapshotId,
    session: SessionId,
    owner: Owner,
    taken_at: Timestamp,
    reason: SnapshotReason,
    term: Option<Term>,
    sibling: bool,
    shrunk: bool,
    saved: bool,
    manifest: Vec<u8>,
    list: Option<List>,
}

impl Sealed {
    pub(super) fn decode(row: &AnyRow) -> Result<Self, StoreError> {
        let list: Option<String> = row.try_get("list")?;
        let listed: Option<Vec<u8>> = row.try_get("listed")?;
        Ok(Self {
            id: word(row, "id")?,
            session: word(row, "session")?,
            owner: word(row, "owner")?,
            taken_at: instant(row, "taken_at")?,
            reason: word(row, "reason")?,
            term: Some(row.try_get("term")?).filter(|term| *term != 0).map(Term::from_i64),
            sibling: flag(row, "sibling")?,
            shrunk: flag(row, "shrunk")?,
            saved: flag(row, "saved")?,
            manifest: row.try_get("manifest")?,
            list: list.zip(listed).map(|(id, sealed)| List { id, sealed }),
        })
    }

    /// Opens the list of parts. `opened` is the list that was opened last, which as a rule is that of
    /// the next one too.
    pub(super) fn open(
        self,
        seal: &Seal,
        opened: &mut Option<BaseList>,
    ) -> Result<Snapshot, StoreError> {
        let belongs =
            ManifestOwner { owner: &self.owner, session: self.session, snapshot: self.id };
        let base = || base(seal, &belongs, self.list, opened);
        let parts = manifest::open(seal, &belongs, &self.manifest, base)
            .map_err(|why| StoreError::SnapshotCorrupt { id: self.id, why })?;
        Ok(Snapshot {
            id: self.id,
            session: self.session,
            taken_at: self.taken_at,
            reason: self.reason,
            term: self.term,
            sibling: self.sibling,
            shrunk: self.shrunk,
            saved: self.saved,
            bytes: total(&parts),
            parts,
        })
    }
}

fn base(
    seal: &Seal,
    to: &ManifestOwner,
    list: Option<List>,
    opened: &mut Option<BaseList>,
) -> Result<BaseList, String> {
    let list = list.ok_or("expected the list that it differs from, found none")?;
    if let Some(base) = opened.as_ref().filter(|base| base.list.id == list.id) {
        return Ok(base.clone());
    }
    let base = BaseList { parts: manifest::open_list(seal, to, &list)?, list };
    *opened = Some(base.clone());
    Ok(base)
}

impl Store {
    /// The snapshot of a session with this id; or the one whose id starts so, at least four digits,
    /// when no other one's does. Fails with `SnapshotNotFound` and `AmbiguousSnapshot`.
    pub async fn find_snapshot(
        &self,
        session: SessionId,
        reference: &str,
    ) -> Result<Snapshot, StoreError> {
        let id = match reference.parse() {
            Ok(id) => id,
            Err(_) => self.only_one_with(session, reference).await?,
        };
        let row = sqlx::query(select!("where snapshots.session = $1 and snapshots.id = $2"))
            .bind(session.to_string())
            .bind(id.to_string())
            .fetch_optional(self.pool())
            .await?;
        self.open_snapshot(&row.ok_or_else(|| unknown(reference))?).await
    }

    /// Whether one of these sessions has a snapshot of this reason.
    pub async fn has_snapshot_of(
        &self,
        sessions: &[SessionId],
        reason: SnapshotReason,
    ) -> Result<bool, StoreError> {
        for some in sessions.chunks(CHUNK) {
            let sql = format!(
                "select 1 from snapshots where reason = $1 and session in ({}) limit 1",
                places(2, some.len())
            );
            let mut query = sqlx::query(AssertSqlSafe(sql)).bind(reason.as_str()).persistent(false);
            for session in some {
                query = query.bind(session.to_string());
            }
            if query.fetch_optional(self.pool()).await?.is_some() {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// The only snapshot whose id starts so.
    async fn only_one_with(
        &self,
        session: SessionId,
        reference: &str,
    ) -> Result<SnapshotId, StoreError> {
        let prefix = parse_prefix(reference).ok_or_else(|| unknown(reference))?;
        let matches = self.all_with(session, &prefix).await?;
        match matches[..] {
            [] => Err(unknown(reference)),
            [id] => Ok(id),
            _ => Err(StoreError::AmbiguousSnapshot { reference: reference.to_owned(), matches }),
        }
    }

    async fn all_with(
        &self,
        session: SessionId,
        prefix: &str,
    ) -> Result<Vec<SnapshotId>, StoreError> {
        let rows = sqlx::query(
            "select id from snapshots where session = $1 and id >= $2 and id < $3
             order by id limit $4",
        )
        .bind(session.to_string())
        .bind(prefix)
        .bind(behind_prefix(prefix))
        .bind(MATCHES_MAX)
        .fetch_all(self.pool())
        .await?;
        rows.iter().map(|row| word(row, "id")).collect()
    }
}

fn unknown(reference: &str) -> StoreError {
    StoreError::SnapshotNotFound { reference: reference.to_owned() }
}

impl Store {
    /// Up to `limit` (at most 1001) snapshots of a session, newest first: those stored before
    /// `after`, if given (`SnapshotNotFound` when it is none of them). One whose list of parts
    /// cannot be read is left out, with a warning in the log.
    pub async fn list_snapshots(
        &self,
        session: SessionId,
        after: Option<SnapshotId>,
        limit: u32,
    ) -> Result<Vec<Snapshot>, StoreError> {
        let found = self.list_history(session, after, limit).await?;
        Ok(found.into_iter().filter_map(readable).collect())
    }

    /// The same with those that cannot be read: `SnapshotCorrupt` is in their place.
    pub async fn list_history(
        &self,
        session: SessionId,
        after: Option<SnapshotId>,
        limit: u32,
    ) -> Result<Vec<Result<Snapshot, StoreError>>, StoreError> {
        let before = match after {
            Some(id) => self.ordinal(session, id).await?,
            None => i64::MAX,
        };
        let rows = sqlx::query(select!(
            "where snapshots.session = $1 and ordinal < $2 order by ordinal desc limit $3"
        ))
        .bind(session.to_string())
        .bind(before)
        .bind(page(limit))
        .fetch_all(self.pool())
        .await?;
        let sealed: Vec<Sealed> = rows.iter().map(Sealed::decode).collect::<Result<_, _>>()?;
        let seal = self.seal();
        let opening = blocking(move || {
            let mut opened = None;
            sealed.into_iter().map(|row| row.open(&seal, &mut opened)).collect()
        });
        Ok(opening.await?)
    }

    async fn ordinal(&self, session: SessionId, id: SnapshotId) -> Result<i64, StoreError> {
        let ordinal =
            sqlx::query_scalar("select ordinal from snapshots where session = $1 and id = $2")
                .bind(session.to_string())
                .bind(id.to_string())
                .fetch_optional(self.pool())
                .await?;
        ordinal.ok_or(StoreError::SnapshotNotFound { reference: id.to_string() })
    }
}

fn readable(opened: Result<Snapshot, StoreError>) -> Option<Snapshot> {
    opened.inspect_err(|error| tracing::warn!(%error, "left a snapshot out of a list")).ok()
}
