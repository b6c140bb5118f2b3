//! Removes a peer.

use super::not_found;
use crate::error::StoreError;
use crate::store::Store;
use baton_session::{NodeId, Owner};

impl Store {
    /// Removes a peer of the owner, and what it was known to hold. Fails with `PeerNotFound`.
    pub async fn delete_peer(&self, owner: &Owner, node: NodeId) -> Result<(), StoreError> {
        let mut write = self.write().await?;
        let gone = sqlx::query("delete from peers where owner = $1 and node = $2")
            .bind(owner.as_str())
            .bind(node.to_string())
            .execute(write.connection())
            .await?;
        if gone.rows_affected() == 0 {
            return Err(not_found(node));
        }
        write.commit().await
    }
}
