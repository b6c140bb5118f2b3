//! Prunes the snapshots of a session: the oldest go, and what matters stays whatever its age. For those who
//! collect parts it is written in spans what the others name.
//!
//! The one idea: a place (the cookies of one site, one tab) holds the same part in most snapshots, so
//! what is written is from which snapshot to which it does. A snapshot writes a row for what changed,
//! and none for what was carried over.

use crate::error::StoreError;
use crate::parts::collect_named;
use crate::pins::PinnedSnapshot;
use crate::pooled::PooledConnection;
use crate::row::{CHUNK, places, word};
use crate::snapshots::Draft;
use crate::store::Store;
use baton_session::{Owner, SessionId, SnapshotId};
use sqlx::{AssertSqlSafe, Row};
use std::collections::BTreeMap;

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
    /// of revisions, those that are [pinned](Store::pin_snapshot), and the one that the session's latest receipt
    /// names. Returns how many snapshots went.
    pub async fn prune_snapshots(&self, session: SessionId, keep: u32) -> Result<u64, StoreError> {
        let owner = self.owner_of(session).await?;
        // As a rule there is nothing to do, and then no writer has to wait for us.
        if !is_over(&mut self.pool().acquire().await?, session, keep).await? {
            return Ok(0);
        }
        let mut write = self.write_parts(&owner).await?;
        let pinned = self.inner.pins.of(session);
        let pruned = prune(write.connection(), session, keep, &pinned).await?;
        write.commit().await?;
        self.collect_left(&owner, &pruned).await?;
        Ok(pruned.snapshots)
    }

    /// Keeps a snapshot of a session from being pruned by this process, for as long as what this returns lives.
    pub fn pin_snapshot(&self, session: SessionId, id: SnapshotId) -> PinnedSnapshot {
        self.inner.pins.pin(session, id)
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

/// Prunes within a transaction that does something else as well: when it fails, that goes on as if it had not
/// been tried.
pub(super) async fn try_prune(
    connection: &mut PooledConnection,
    session: SessionId,
    keep: u32,
    pinned: &[SnapshotId],
) -> Result<Pruned, StoreError> {
    if !is_over(connection, session, keep).await? {
        return Ok(Pruned::default());
    }
    sqlx::query("savepoint before_prune").execute(&mut *connection).await?;
    let pruned = match prune(connection, session, keep, pinned).await {
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
    connection: &mut PooledConnection,
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
    connection: &mut PooledConnection,
    session: SessionId,
    keep: u32,
    pinned: &[SnapshotId],
) -> Result<Pruned, StoreError> {
    let but_pinned = match pinned.len() {
        0 => String::new(),
        count => format!(" and id not in ({})", places(3, count)),
    };
    let sql = format!(
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
         ){but_pinned}",
    );
    let query = sqlx::query(AssertSqlSafe(sql)).persistent(pinned.is_empty());
    let query = query.bind(session.to_string()).bind(i64::from(keep.max(1)));
    let query = pinned.iter().fold(query, |query, id| query.bind(id.to_string()));
    let gone = query.execute(&mut *connection).await?.rows_affected();
    if gone == 0 {
        return Ok(Pruned::default());
    }
    let named = prune_spans(connection, session).await?;
    let has_left_parts = !collect_named(connection, &named).await?;
    Ok(Pruned { snapshots: gone, has_left_parts })
}

/// Notes what the snapshot with this ordinal names, the newest of its session: the spans of what it
/// no longer names end with the snapshot before it.
pub(super) async fn extend_spans(
    connection: &mut PooledConnection,
    draft: &Draft,
    ordinal: i64,
) -> Result<(), StoreError> {
    let session = draft.snapshot.session;
    let open = fetch_open(connection, session).await?;
    let changed = |(place, part): &(&String, &String)| draft.places.get(*place) != Some(*part);
    let ended: Vec<&String> = open.iter().filter(changed).map(|(place, _)| place).collect();
    let begun = draft.places.iter().filter(|(place, part)| open.get(*place) != Some(*part));
    end_spans(connection, session, &ended, ordinal - 1).await?;
    begin_spans(connection, session, &begun.collect::<Vec<_>>(), ordinal).await
}

/// Removes the spans of a session in which no snapshot is left, and returns the parts in them: those
/// that may have lost their last name.
async fn prune_spans(
    connection: &mut PooledConnection,
    session: SessionId,
) -> Result<Vec<String>, StoreError> {
    let parts = sqlx::query_scalar(
        "delete from part_spans where session = $1 and until is not null and not exists (
             select 1 from snapshots where snapshots.session = part_spans.session
             and snapshots.ordinal between part_spans.since and part_spans.until
         )
         returning part",
    )
    .bind(session.to_string())
    .fetch_all(connection)
    .await?;
    Ok(parts)
}

/// The parts that the newest snapshot names, by place.
async fn fetch_open(
    connection: &mut PooledConnection,
    session: SessionId,
) -> Result<BTreeMap<String, String>, StoreError> {
    let sql = "select place, part from part_spans where session = $1 and until is null";
    let rows = sqlx::query(sql).bind(session.to_string()).fetch_all(connection).await?;
    rows.iter().map(|row| Ok((row.try_get("place")?, row.try_get("part")?))).collect()
}

async fn end_spans(
    connection: &mut PooledConnection,
    session: SessionId,
    ended: &[&String],
    until: i64,
) -> Result<(), StoreError> {
    for chunk in ended.chunks(CHUNK) {
        let sql = format!(
            "update part_spans set until = $1
             where session = $2 and until is null and place in ({})",
            places(3, chunk.len())
        );
        let query = sqlx::query(AssertSqlSafe(sql)).persistent(false);
        let query = query.bind(until).bind(session.to_string());
        let query = chunk.iter().fold(query, |query, place| query.bind(place.as_str()));
        query.execute(&mut *connection).await?;
    }
    Ok(())
}

async fn begin_spans(
    connection: &mut PooledConnection,
    session: SessionId,
    begun: &[(&String, &String)],
    since: i64,
) -> Result<(), StoreError> {
    for chunk in begun.chunks(CHUNK) {
        // Every row has the session and the ordinal, the first two values, then a place and a part.
        let row = |row: usize| format!("($1, $2, {})", places(3 + 2 * row, 2));
        let rows: Vec<String> = (0..chunk.len()).map(row).collect();
        let sql = format!(
            "insert into part_spans (session, since, place, part) values {}",
            rows.join(", ")
        );
        let query = sqlx::query(AssertSqlSafe(sql)).persistent(false);
        let query = query.bind(session.to_string()).bind(since);
        let query = chunk
            .iter()
            .fold(query, |query, (place, part)| query.bind(place.as_str()).bind(part.as_str()));
        query.execute(&mut *connection).await?;
    }
    Ok(())
}
