//! The nodes that are one, as rows: `enter beat list leave forget`.
//!
//! The one idea: the database says what time it is. Each row has the instant at which its node was last there by
//! that clock, so nodes whose own clocks differ agree on who is there, and each learns how far its own is off.

use crate::api_keys::revoke_local_key_of;
use crate::config::Engine;
use crate::error::StoreError;
use crate::row::{flag, instant, refuse_nul, word};
use crate::store::Store;
use baton_session::{InvalidText, NodeId, NodeKey, NodeLabel};
use jiff::Timestamp;
use sqlx::any::AnyRow;
use sqlx::{AssertSqlSafe, Row};
use std::collections::BTreeSet;
use std::time::Duration;

/// What a node says of itself to the others of its cluster.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ClusterMember {
    /// What the cluster is called.
    pub cluster: String,
    /// Which node.
    pub node: NodeId,
    /// What people call it.
    pub name: String,
    /// Where its own network asks it.
    pub internal_url: String,
    /// Its public key.
    pub key: NodeKey,
    /// Which version of Baton it runs.
    pub version: String,
    /// Random, of one start of the node.
    pub start: String,
    /// For how long it counts as there without another word of it.
    pub lease: Duration,
    /// What it is for.
    pub labels: BTreeSet<NodeLabel>,
}

/// What a node says of itself again and again.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ClusterBeat {
    /// How far its own clock is ahead of that of the database, in milliseconds; negative when it is behind.
    pub clock_ahead: i64,
    /// How many browsers it runs.
    pub browsers: u64,
    /// How many more it takes; none where it does not count them.
    pub places: Option<u64>,
    /// How many sandboxes it has.
    pub sandboxes: u64,
    /// How many more it makes; none where it does not count them.
    pub sandbox_places: Option<u64>,
    /// Whether what it has is being brought to other nodes.
    pub is_draining: bool,
}

/// A node of a cluster, as the others see it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ClusterRow {
    /// What it says of itself.
    pub member: ClusterMember,
    /// When it started, by the clock of the database.
    pub started_at: Timestamp,
    /// When it was last there, by the clock of the database.
    pub seen_at: Timestamp,
    /// What it said then.
    pub beat: ClusterBeat,
    /// Whether it was there within its lease.
    pub is_there: bool,
}

/// The instant by the clock of the database, in milliseconds since 1970. Within a transaction it goes on.
pub(crate) fn now(engine: Engine) -> &'static str {
    match engine {
        Engine::Sqlite => "cast(unixepoch('subsec') * 1000 as integer)",
        Engine::Postgres => "cast(extract(epoch from clock_timestamp()) * 1000 as bigint)",
    }
}

impl Store {
    /// What time it is by the clock of the database.
    pub async fn database_now(&self) -> Result<Timestamp, StoreError> {
        let sql = format!("select {} as now", now(self.inner.engine));
        let row = sqlx::query(AssertSqlSafe(sql)).fetch_one(&self.inner.beats).await?;
        instant(&row, "now")
    }

    /// Enters a node into its cluster. Where another start of it was there within its lease, nothing is changed,
    /// and the instant at which that one was last there is returned; who has seen it stand still names it as
    /// `stands_still`, and takes its place.
    pub async fn enter_cluster(
        &self,
        member: &ClusterMember,
        stands_still: Option<Timestamp>,
    ) -> Result<Option<Timestamp>, StoreError> {
        refuse_nul("the name of a cluster", &member.cluster)?;
        refuse_nul("the name of a node", &member.name)?;
        let now = now(self.inner.engine);
        let sql = format!(
            "insert into cluster_nodes (node, cluster, name, internal_url, node_key, version, start,
                 started_at, seen_at, lease, clock_ahead, browsers, labels, places, sandboxes, sandbox_places,
                 is_draining)
             values ($1, $2, $3, $4, $5, $6, $7, {now}, {now}, $8, 0, 0, $10, 0, 0, 0, 0)
             on conflict (node) do update set cluster = excluded.cluster, name = excluded.name,
                 internal_url = excluded.internal_url, node_key = excluded.node_key,
                 version = excluded.version, start = excluded.start,
                 started_at = excluded.started_at, seen_at = excluded.seen_at,
                 lease = excluded.lease, clock_ahead = 0, browsers = 0,
                 labels = excluded.labels, places = 0, sandboxes = 0, sandbox_places = 0,
                 is_draining = 0
             where cluster_nodes.start = excluded.start
                or cluster_nodes.seen_at + cluster_nodes.lease < {now}
                or cluster_nodes.seen_at = $9"
        );
        let mut write = self.write_beat().await?;
        let entered = sqlx::query(AssertSqlSafe(sql))
            .bind(member.node.to_string())
            .bind(&member.cluster)
            .bind(&member.name)
            .bind(&member.internal_url)
            .bind(member.key.to_string())
            .bind(&member.version)
            .bind(&member.start)
            .bind(millis(member.lease))
            .bind(stands_still.map_or(-1, Timestamp::as_millisecond))
            .bind(labels_text(&member.labels))
            .execute(write.connection())
            .await?;
        if entered.rows_affected() > 0 {
            write.commit().await?;
            return Ok(None);
        }
        let row = sqlx::query("select seen_at from cluster_nodes where node = $1")
            .bind(member.node.to_string())
            .fetch_one(write.connection())
            .await?;
        instant(&row, "seen_at").map(Some)
    }

    /// Says that a node is there, and how it is. False when another start has taken its place.
    pub async fn beat_cluster(
        &self,
        member: &ClusterMember,
        beat: ClusterBeat,
    ) -> Result<bool, StoreError> {
        let sql = format!(
            "update cluster_nodes set seen_at = {}, clock_ahead = $3, browsers = $4, places = $5,
                 sandboxes = $6, sandbox_places = $7, is_draining = $8
             where node = $1 and start = $2",
            now(self.inner.engine)
        );
        let count = |count: u64| i64::try_from(count).unwrap_or(i64::MAX);
        let mut write = self.write_beat().await?;
        let beaten = sqlx::query(AssertSqlSafe(sql))
            .bind(member.node.to_string())
            .bind(&member.start)
            .bind(beat.clock_ahead)
            .bind(count(beat.browsers))
            .bind(beat.places.map_or(UNCOUNTED, count))
            .bind(count(beat.sandboxes))
            .bind(beat.sandbox_places.map_or(UNCOUNTED, count))
            .bind(i64::from(beat.is_draining))
            .execute(write.connection())
            .await?;
        write.commit().await?;
        Ok(beaten.rows_affected() > 0)
    }

    /// The nodes of a cluster, those too that were last there a while ago, by name.
    pub async fn list_cluster(&self, cluster: &str) -> Result<Vec<ClusterRow>, StoreError> {
        let sql = format!(
            "select node, cluster, name, internal_url, node_key, version, start, started_at, seen_at,
                 lease, clock_ahead, browsers, labels, places, sandboxes, sandbox_places, is_draining,
                 cast(case when seen_at + lease < {} then 0 else 1 end as bigint) as is_there
             from cluster_nodes where cluster = $1 order by name, node",
            now(self.inner.engine)
        );
        let rows =
            sqlx::query(AssertSqlSafe(sql)).bind(cluster).fetch_all(&self.inner.beats).await?;
        rows.iter().map(decode).collect()
    }

    /// Notes which callers asked a node much of late, in words of the node; empty where nobody did.
    pub async fn tell_rates(&self, node: NodeId, spent: &str) -> Result<(), StoreError> {
        refuse_nul("what callers asked", spent)?;
        let mut write = self.write_beat().await?;
        sqlx::query(
            "insert into cluster_rates (node, spent) values ($1, $2)
             on conflict (node) do update set spent = excluded.spent",
        )
        .bind(node.to_string())
        .bind(spent)
        .execute(write.connection())
        .await?;
        write.commit().await
    }

    /// The same of the other nodes of a cluster that are there, each with its start.
    pub async fn hear_rates(
        &self,
        member: &ClusterMember,
    ) -> Result<Vec<(String, String)>, StoreError> {
        let sql = format!(
            "select cluster_nodes.start as start, cluster_rates.spent as spent
             from cluster_rates join cluster_nodes on cluster_nodes.node = cluster_rates.node
             where cluster = $1 and cluster_nodes.node <> $2 and spent <> ''
                 and seen_at + lease >= {}",
            now(self.inner.engine)
        );
        let rows = sqlx::query(AssertSqlSafe(sql))
            .bind(&member.cluster)
            .bind(member.node.to_string())
            .fetch_all(&self.inner.beats)
            .await?;
        rows.iter().map(|row| Ok((row.try_get("start")?, row.try_get("spent")?))).collect()
    }

    /// Takes a node out of its cluster, unless another start has its place.
    pub async fn leave_cluster(&self, member: &ClusterMember) -> Result<(), StoreError> {
        let mut write = self.write_beat().await?;
        sqlx::query("delete from cluster_nodes where node = $1 and start = $2")
            .bind(member.node.to_string())
            .bind(&member.start)
            .execute(write.connection())
            .await?;
        write.commit().await
    }
}

/// What became of a node that was to be forgotten.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Forgetting {
    /// It is forgotten.
    Done,
    /// It counts as there, by the clock of the database.
    There {
        /// Until when, unless it is heard again.
        until: Timestamp,
    },
    /// It holds sessions still.
    Holds {
        /// How many.
        sessions: u64,
    },
}

impl Store {
    /// Forgets a node of a cluster that is gone for good: its row, what it told of callers, the sandboxes that ended
    /// with it, and its local key, which is revoked. Nothing is changed while it counts as there, or holds a session.
    ///
    /// Sessions that rest keep its name, and that it once worked with this database stays known: by that they are told
    /// from those that a peer has, and are free once it was silent for a lease.
    pub async fn forget_node(&self, node: NodeId, at: Timestamp) -> Result<Forgetting, StoreError> {
        let sql = format!(
            "delete from cluster_nodes where node = $1 and seen_at + lease < {}",
            now(self.inner.engine)
        );
        let mut write = self.write().await?;
        let gone = sqlx::query(AssertSqlSafe(sql))
            .bind(node.to_string())
            .execute(write.connection())
            .await?;
        if gone.rows_affected() == 0 {
            let row =
                sqlx::query("select seen_at + lease as ends from cluster_nodes where node = $1")
                    .bind(node.to_string())
                    .fetch_optional(write.connection())
                    .await?;
            if let Some(row) = row {
                return Ok(Forgetting::There { until: instant(&row, "ends")? });
            }
        }
        let held: i64 =
            sqlx::query_scalar("select count(*) from leases where node is not null and node = $1")
                .bind(node.to_string())
                .fetch_one(write.connection())
                .await?;
        if held > 0 {
            return Ok(Forgetting::Holds { sessions: u64::try_from(held).unwrap_or_default() });
        }
        for sql in [
            "delete from cluster_rates where node = $1",
            "delete from sandbox_holds where node = $1",
        ] {
            sqlx::query(sql).bind(node.to_string()).execute(write.connection()).await?;
        }
        revoke_local_key_of(write.connection(), node, at).await?;
        write.commit().await?;
        Ok(Forgetting::Done)
    }
}

/// How places are written that nobody counts.
const UNCOUNTED: i64 = -1;

/// Labels as they are written: with a space around each.
pub(crate) fn labels_text(labels: &BTreeSet<NodeLabel>) -> String {
    labels.iter().fold(" ".to_owned(), |text, label| text + label.as_str() + " ")
}

/// Labels as they were written.
pub(crate) fn labels_of(row: &AnyRow) -> Result<BTreeSet<NodeLabel>, StoreError> {
    let text: String = row.try_get("labels")?;
    let read = |word: &str| {
        word.parse().map_err(|error: InvalidText| StoreError::InvalidRow {
            column: "labels",
            expected: error.to_string(),
            found: word.to_owned(),
        })
    };
    text.split_ascii_whitespace().map(read).collect()
}

fn millis(lease: Duration) -> i64 {
    i64::try_from(lease.as_millis()).unwrap_or(i64::MAX)
}

fn decode(row: &AnyRow) -> Result<ClusterRow, StoreError> {
    let lease = u64::try_from(row.try_get::<i64, _>("lease")?).unwrap_or_default();
    let member = ClusterMember {
        cluster: row.try_get("cluster")?,
        node: word(row, "node")?,
        name: row.try_get("name")?,
        internal_url: row.try_get("internal_url")?,
        key: word(row, "node_key")?,
        version: row.try_get("version")?,
        start: row.try_get("start")?,
        lease: Duration::from_millis(lease),
        labels: labels_of(row)?,
    };
    let count = |column| Ok::<_, StoreError>(u64::try_from(row.try_get::<i64, _>(column)?).ok());
    let beat = ClusterBeat {
        clock_ahead: row.try_get("clock_ahead")?,
        browsers: count("browsers")?.unwrap_or_default(),
        places: count("places")?,
        sandboxes: count("sandboxes")?.unwrap_or_default(),
        sandbox_places: count("sandbox_places")?,
        is_draining: flag(row, "is_draining")?,
    };
    Ok(ClusterRow {
        member,
        started_at: instant(row, "started_at")?,
        seen_at: instant(row, "seen_at")?,
        beat,
        is_there: flag(row, "is_there")?,
    })
}
