//! Nodes that hold sessions, and their beats.

use crate::error::StoreError;
use crate::row::word;
use crate::store::Store;
use baton_session::NodeId;
use sqlx::Row;
use sqlx::any::AnyRow;
use std::time::Duration;

/// A node that works, or worked, with this database.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NodeRecord {
    /// Which one.
    pub id: NodeId,
    /// Where it runs: told apart from a copy of its data folder by this.
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
