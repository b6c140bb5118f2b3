//! How much of sessions goes to a peer and is taken from it: a column of JSON.
//!
//! The one idea: what cannot be read is an error. It never means that there are no limits, or whoever
//! damages a row would open everything to a peer.

use super::not_found;
use crate::error::StoreError;
use crate::store::Store;
use baton_session::{NodeId, Owner, PeerLimits, View};
use serde::{Deserialize, Serialize};
use sqlx::Row;
use sqlx::any::AnyRow;

/// How much of a column is shown that cannot be read, in characters.
const SHOWN_MAX: usize = 200;

/// Limits as the column has them: both directions are always named.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields, expecting = "an object with give and take")]
struct Stored {
    give: View,
    take: View,
}

impl Store {
    /// Sets how much of sessions goes to a peer and is taken from it, in the place of what was set
    /// before. Fails with `PeerNotFound`.
    pub async fn limit_peer(
        &self,
        owner: &Owner,
        node: NodeId,
        limits: &PeerLimits,
    ) -> Result<(), StoreError> {
        let mut write = self.write().await?;
        let limited = sqlx::query("update peers set limits = $3 where owner = $1 and node = $2")
            .bind(owner.as_str())
            .bind(node.to_string())
            .bind(text(limits))
            .execute(write.connection())
            .await?;
        if limited.rows_affected() == 0 {
            return Err(not_found(node));
        }
        write.commit().await
    }
}

/// What the column holds; nothing when there are no limits.
pub(super) fn text(limits: &PeerLimits) -> Option<String> {
    let PeerLimits { give, take } = limits.clone();
    // Lists of words, so this cannot fail.
    let text = || serde_json::json!(Stored { give, take }).to_string();
    (!limits.is_none()).then(text)
}

/// What a row says.
pub(super) fn read(row: &AnyRow) -> Result<PeerLimits, StoreError> {
    let Some(found) = row.try_get::<Option<String>, _>("limits")? else {
        return Ok(PeerLimits::default());
    };
    let why = match serde_json::from_str(&found) {
        Ok(Stored { give, take }) => match (PeerLimits { give, take }) {
            limits if limits.is_none() => "these limit nothing".to_owned(),
            limits => return Ok(limits),
        },
        Err(error) => error.to_string(),
    };
    Err(StoreError::InvalidRow {
        column: "limits",
        expected: format!("limits of a peer in JSON ({why})"),
        found: found.chars().take(SHOWN_MAX).collect(),
    })
}
