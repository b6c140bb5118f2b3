//! Changes a peer: what is known of it, whether it is trusted, and when it was last heard of.

use super::create::{refuse_taken, taken};
use super::{Peer, check_and_seal, node_type_word, not_found};
use crate::error::StoreError;
use crate::fault::is_taken;
use crate::store::Store;
use baton_session::{NodeId, Owner, PeerState};
use jiff::Timestamp;

impl Store {
    /// Stores what may change of a peer: its name, address, type, way to authenticate, credential,
    /// seal key, and the API key that it shows. Its key is pinned, and its state, its limits and its
    /// instants have verbs of their own. Fails with `PeerNotFound`, and as [`create_peer`](Self::create_peer) does.
    pub async fn update_peer(&self, peer: &Peer) -> Result<(), StoreError> {
        let sealed = check_and_seal(peer, &self.seal())?;
        let mut write = self.write().await?;
        refuse_taken(write.connection(), peer).await?;
        let updated = sqlx::query(
            "update peers set name = $3, url = $4, node_type = $5, auth = $6, credential = $7,
                 seal_key = $8, api_key = $9
             where owner = $1 and node = $2",
        )
        .bind(peer.owner.as_str())
        .bind(peer.node.to_string())
        .bind(&peer.name)
        .bind(&peer.url)
        .bind(node_type_word(peer.node_type))
        .bind(peer.auth.as_str())
        .bind(sealed)
        .bind(&peer.seal_key)
        .bind(&peer.api_key)
        .execute(write.connection())
        .await;
        match updated {
            Ok(done) if done.rows_affected() == 0 => Err(not_found(peer.node)),
            Ok(_) => write.commit().await,
            Err(error) if is_taken(&error) => Err(taken(peer)),
            Err(error) => Err(error.into()),
        }
    }

    /// Notes that a person has compared the fingerprint of a peer. Fails with `PeerNotFound`.
    pub async fn confirm_peer(&self, owner: &Owner, node: NodeId) -> Result<(), StoreError> {
        let mut write = self.write().await?;
        let confirmed = sqlx::query("update peers set state = $3 where owner = $1 and node = $2")
            .bind(owner.as_str())
            .bind(node.to_string())
            .bind(PeerState::Confirmed.as_str())
            .execute(write.connection())
            .await?;
        if confirmed.rows_affected() == 0 {
            return Err(not_found(node));
        }
        write.commit().await
    }

    /// Notes when a peer was last heard of and, when sessions were exchanged with it, when that was.
    /// Fails with `PeerNotFound`.
    pub async fn touch_peer(
        &self,
        owner: &Owner,
        node: NodeId,
        seen: Timestamp,
        synced: Option<Timestamp>,
    ) -> Result<(), StoreError> {
        let mut write = self.write().await?;
        let touched = sqlx::query(
            "update peers set last_seen = $3, last_sync = coalesce($4, last_sync)
             where owner = $1 and node = $2",
        )
        .bind(owner.as_str())
        .bind(node.to_string())
        .bind(seen.as_millisecond())
        .bind(synced.map(Timestamp::as_millisecond))
        .execute(write.connection())
        .await?;
        if touched.rows_affected() == 0 {
            return Err(not_found(node));
        }
        write.commit().await
    }
}
