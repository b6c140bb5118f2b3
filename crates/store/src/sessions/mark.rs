//! Tells whether an owner's sessions are others than before, without listing them.

use crate::error::StoreError;
use crate::store::Store;
use baton_session::{NodeId, Owner};
use sqlx::Row;

/// What an owner's sessions were like at a node: as long as none is made, deleted, renamed, moved to another
/// state, or to this node or away from it, it is the same.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SessionsMark {
    count: i64,
    /// How many have their home at the node.
    here: i64,
    /// The instants at which they changed last, in milliseconds: the latest, and all added up by seconds and
    /// by what is left of one, so that the sums fit.
    latest: i64,
    seconds: i64,
    rests: i64,
}

impl Store {
    /// What an owner's sessions are like now, at `node`.
    pub async fn sessions_mark(
        &self,
        owner: &Owner,
        node: NodeId,
    ) -> Result<SessionsMark, StoreError> {
        let row = sqlx::query(
            "select count(*) as count, count(case when node = $2 then 1 end) as here,
                 coalesce(max(updated_at), 0) as latest,
                 cast(coalesce(sum(updated_at / 1000), 0) as bigint) as seconds,
                 cast(coalesce(sum(updated_at % 1000), 0) as bigint) as rests
             from sessions where owner = $1",
        )
        .bind(owner.as_str())
        .bind(node.to_string())
        .fetch_one(self.pool())
        .await?;
        Ok(SessionsMark {
            count: row.try_get("count")?,
            here: row.try_get("here")?,
            latest: row.try_get("latest")?,
            seconds: row.try_get("seconds")?,
            rests: row.try_get("rests")?,
        })
    }
}
