//! Fetches one snapshot, and decodes the rows of several.

use super::draft::total;
use super::manifest::{self, Base, Belongs, List};
use super::{Snapshot, SnapshotReason};
use crate::blocking::blocking;
use crate::error::StoreError;
use crate::row::{flag, instant, word};
use crate::seal::Seal;
use crate::store::Store;
use baton_session::{Owner, SessionId, SnapshotId, Term};
use jiff::Timestamp;
use sqlx::Row;
use sqlx::any::AnyRow;

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
pub(super) use select;

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

    pub(super) async fn open_snapshot(&self, row: &AnyRow) -> Result<Snapshot, StoreError> {
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
        opened: &mut Option<Base>,
    ) -> Result<Snapshot, StoreError> {
        let belongs = Belongs { owner: &self.owner, session: self.session, snapshot: self.id };
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
    to: &Belongs,
    list: Option<List>,
    opened: &mut Option<Base>,
) -> Result<Base, String> {
    let list = list.ok_or("expected the list that it differs from, found none")?;
    if let Some(base) = opened.as_ref().filter(|base| base.list.id == list.id) {
        return Ok(base.clone());
    }
    let base = Base { parts: manifest::open_list(seal, to, &list)?, list };
    *opened = Some(base.clone());
    Ok(base)
}
