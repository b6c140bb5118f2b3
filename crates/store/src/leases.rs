//! Leases: which node holds a session, and in which term.
//!
//! The one idea: clocks of different machines are never compared. A node counts up its *beat*; a node that
//! has seen it stand still for the length of a lease, by a clock of its own, may end what the other holds.
//! Terms count up, so what an earlier holder still writes is kept apart from the line of the others.
//!
//! A database that was brought back from a backup begins a new epoch, and belongs to one node. The node that
//! made the backup may still run: so what was restored takes nothing for granted that only one of the two can
//! have, no lease and no running browser.

use crate::error::StoreError;
use crate::pooled::PooledConnection;
use crate::quotas::Counted;
use crate::row::word;
use crate::store::Store;
use baton_session::{Lifecycle, NodeId, Owner, SessionId, Term};
use jiff::Timestamp;
use sqlx::Row;
use sqlx::any::AnyRow;
use std::time::Duration;

/// Who holds a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Lease {
    /// The holder; none when no node holds it now.
    pub node: Option<NodeId>,
    /// The term that runs, or ran last.
    pub term: Term,
}

/// A node that works, or worked, with this database.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NodeRecord {
    /// Which one.
    pub id: NodeId,
    /// Where it runs: a copy of its data folder differs in this.
    pub place: String,
    /// The length of its leases; none when they never end by themselves, because the node has the
    /// database for itself.
    pub lease: Option<Duration>,
}

/// A node as others see it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NodeBeat {
    /// Which node.
    pub node: NodeRecord,
    /// Counts up while it runs. It says nothing but that it is another one than before.
    pub beat: i64,
}

impl Store {
    /// Writes down that a node works here from now on, and counts up its beat.
    pub async fn register_node(&self, node: &NodeRecord) -> Result<(), StoreError> {
        let mut write = self.write_beat().await?;
        let lease = node.lease.map_or(0, |lease| lease.as_millis());
        sqlx::query(
            "insert into nodes (id, place, beat, lease) values ($1, $2, 1, $3)
             on conflict (id) do update
             set place = excluded.place, beat = nodes.beat + 1, lease = excluded.lease",
        )
        .bind(node.id.to_string())
        .bind(&node.place)
        .bind(i64::try_from(lease).unwrap_or(i64::MAX))
        .execute(write.connection())
        .await?;
        write.commit().await
    }

    /// Counts up a node's beat. False when the node is registered at another place by now, and this
    /// one has to end.
    pub async fn beat_node(&self, node: &NodeRecord) -> Result<bool, StoreError> {
        let mut write = self.write_beat().await?;
        let beaten = sqlx::query("update nodes set beat = beat + 1 where id = $1 and place = $2")
            .bind(node.id.to_string())
            .bind(&node.place)
            .execute(write.connection())
            .await?;
        write.commit().await?;
        Ok(beaten.rows_affected() > 0)
    }

    /// Every node that ever worked with this database, with its beat.
    pub async fn list_nodes(&self) -> Result<Vec<NodeBeat>, StoreError> {
        let rows = sqlx::query("select id, place, beat, lease from nodes order by id")
            .fetch_all(&self.inner.beats)
            .await?;
        rows.iter().map(decode).collect()
    }
}

fn decode(row: &AnyRow) -> Result<NodeBeat, StoreError> {
    let lease = u64::try_from(row.try_get::<i64, _>("lease")?).unwrap_or_default();
    let lease = (lease > 0).then(|| Duration::from_millis(lease));
    let node = NodeRecord { id: word(row, "id")?, place: row.try_get("place")?, lease };
    Ok(NodeBeat { node, beat: row.try_get("beat")? })
}

impl Store {
    /// Makes `node` the holder of a session, in a new term. Fails with `HeldElsewhere` while another
    /// node holds it, and with `SessionNotFound` when it is not a session of `node`.
    pub async fn acquire_lease(
        &self,
        session: SessionId,
        node: NodeId,
    ) -> Result<Term, StoreError> {
        self.acquire(session, node, None).await
    }

    /// The same for a session that its owner wants to run. Fails with `QuotaReached` as well.
    pub async fn acquire_lease_within_quota(
        &self,
        session: SessionId,
        node: NodeId,
        owner: &Owner,
    ) -> Result<Term, StoreError> {
        self.acquire(session, node, Some(owner)).await
    }

    async fn acquire(
        &self,
        session: SessionId,
        node: NodeId,
        bounded: Option<&Owner>,
    ) -> Result<Term, StoreError> {
        let mut write = match bounded {
            Some(owner) => self.write_to_take(Counted::Browsers, owner).await?,
            None => self.write().await?,
        };
        if let Some(owner) = bounded {
            self.expect_place_for_browser(write.connection(), owner, session).await?;
        }
        let term = sqlx::query_scalar(
            "insert into leases (session, node, term)
             select id, node, 1 from sessions where id = $1 and node = $2
             on conflict (session) do update set node = excluded.node, term = leases.term + 1
             where leases.node is null or leases.node = excluded.node
             returning term",
        )
        .bind(session.to_string())
        .bind(node.to_string())
        .fetch_optional(write.connection())
        .await?;
        if let Some(term) = term {
            write.commit().await?;
            return Ok(Term::from_i64(term));
        }
        drop(write);
        match self.fetch_lease(session).await?.and_then(|lease| lease.node) {
            Some(holder) if holder != node => Err(StoreError::HeldElsewhere { node: holder }),
            _ => Err(StoreError::SessionNotFound { reference: session.to_string() }),
        }
    }
}

impl Store {
    /// Gives the lease of a session back, if `node` holds it.
    pub async fn release_lease(&self, session: SessionId, node: NodeId) -> Result<(), StoreError> {
        let mut write = self.write().await?;
        release(write.connection(), session, node).await?;
        write.commit().await
    }
}

/// Gives the lease of a session back, if `node` holds it.
pub(crate) async fn release(
    connection: &mut PooledConnection,
    session: SessionId,
    node: NodeId,
) -> Result<(), StoreError> {
    sqlx::query("update leases set node = null where session = $1 and node = $2")
        .bind(session.to_string())
        .bind(node.to_string())
        .execute(connection)
        .await?;
    Ok(())
}

impl Store {
    /// Who holds a session; none when no node ever did.
    pub async fn fetch_lease(&self, session: SessionId) -> Result<Option<Lease>, StoreError> {
        let row =
            sqlx::query("select coalesce(node, '') as node, term from leases where session = $1")
                .bind(session.to_string())
                .fetch_optional(self.pool())
                .await?;
        let Some(row) = row else { return Ok(None) };
        let is_free = row.try_get::<String, _>("node")?.is_empty();
        let node = if is_free { None } else { Some(word::<NodeId>(&row, "node")?) };
        Ok(Some(Lease { node, term: Term::from_i64(row.try_get("term")?) }))
    }
}

/// Whether a term runs, and runs until the transaction ends: the row is taken, so that on PostgreSQL no node
/// ends the term in between.
pub(crate) async fn is_current(
    connection: &mut PooledConnection,
    session: SessionId,
    term: Term,
) -> Result<bool, StoreError> {
    let taken = sqlx::query(
        "update leases set term = term where session = $1 and term = $2 and node is not null",
    )
    .bind(session.to_string())
    .bind(term.to_i64())
    .execute(connection)
    .await?;
    Ok(taken.rows_affected() > 0)
}

impl Store {
    /// Ends the term of `holder`, whose beat is still `beat`: from now on no node holds the session, and what
    /// `holder` writes late becomes a sibling. An active session is `next` then. Fails with `HeldElsewhere`
    /// when the beat went on, or another node was faster.
    pub async fn expire_lease(
        &self,
        session: SessionId,
        holder: NodeId,
        beat: i64,
        next: Lifecycle,
        at: Timestamp,
    ) -> Result<(), StoreError> {
        let mut write = self.write().await?;
        // Taking both rows keeps holder and rivals away until the transaction ends.
        let stands = sqlx::query("update nodes set beat = beat where id = $1 and beat = $2")
            .bind(holder.to_string())
            .bind(beat)
            .execute(write.connection())
            .await?;
        let ended = sqlx::query(
            "update leases set node = null, term = term + 1 where session = $1 and node = $2",
        )
        .bind(session.to_string())
        .bind(holder.to_string())
        .execute(write.connection())
        .await?;
        if stands.rows_affected() == 0 || ended.rows_affected() == 0 {
            return Err(StoreError::HeldElsewhere { node: holder });
        }
        sqlx::query(
            "update sessions set lifecycle = $3, updated_at = $4
             where id = $1 and node = $2 and lifecycle = 'active'",
        )
        .bind(session.to_string())
        .bind(holder.to_string())
        .bind(next.as_str())
        .bind(at.as_millisecond())
        .execute(write.connection())
        .await?;
        let row = sqlx::query("select owner from sessions where id = $1")
            .bind(session.to_string())
            .fetch_one(write.connection())
            .await?;
        write.changes_list(session, &word::<Owner>(&row, "owner")?);
        write.commit().await
    }
}

/// What became of the sessions that were active in the backup.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Epoch {
    /// They have a snapshot and can be resumed.
    pub recoverable: u64,
    /// They died before their first snapshot.
    pub closed: u64,
}

impl Store {
    /// Gives every session to `node`, and ends every lease.
    pub async fn begin_epoch(&self, node: NodeId, now: Timestamp) -> Result<Epoch, StoreError> {
        let mut write = self.write().await?;
        // Every session there is becomes another one.
        write.connection().be_patient();
        let recoverable = sqlx::query(
            "update sessions set lifecycle = 'recoverable', updated_at = $1
             where lifecycle = 'active'
               and exists (select 1 from snapshots where snapshots.session = sessions.id)",
        )
        .bind(now.as_millisecond())
        .execute(write.connection())
        .await?
        .rows_affected();
        let closed = sqlx::query(
            "update sessions set lifecycle = 'closed', updated_at = $1 where lifecycle = 'active'",
        )
        .bind(now.as_millisecond())
        .execute(write.connection())
        .await?
        .rows_affected();
        sqlx::query("update sessions set node = $1")
            .bind(node.to_string())
            .execute(write.connection())
            .await?;
        sqlx::query("update leases set node = null").execute(write.connection()).await?;
        sqlx::query("delete from nodes").execute(write.connection()).await?;
        sqlx::query("delete from cluster_nodes").execute(write.connection()).await?;
        sqlx::query("delete from cluster_rates").execute(write.connection()).await?;
        sqlx::query("delete from sandbox_holds").execute(write.connection()).await?;
        write.commit().await?;
        Ok(Epoch { recoverable, closed })
    }
}
