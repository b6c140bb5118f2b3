//! Makes a peer.

use super::{Peer, check_and_seal, limits, node_type_word};
use crate::error::StoreError;
use crate::fault::is_taken;
use crate::store::Store;
use jiff::Timestamp;
use sqlx::{AnyConnection, Row};

impl Store {
    /// Registers a peer. Fails with `PeerTaken` when the owner has registered the node already,
    /// `PeerNameTaken` when another peer bears the name, and `PeerKeyTaken` when another one shows the
    /// same API key.
    pub async fn create_peer(&self, peer: &Peer) -> Result<(), StoreError> {
        let sealed = check_and_seal(peer, &self.seal())?;
        let mut write = self.write().await?;
        if is_registered(write.connection(), peer).await? {
            return Err(taken(peer));
        }
        refuse_taken(write.connection(), peer).await?;
        let made = sqlx::query(
            "insert into peers (owner, node, name, url, node_type, auth, state, node_key, seal_key,
                 credential, api_key, limits, added_at, last_seen, last_sync)
             values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15)",
        )
        .bind(peer.owner.as_str())
        .bind(peer.node.to_string())
        .bind(&peer.name)
        .bind(&peer.url)
        .bind(node_type_word(peer.node_type))
        .bind(peer.auth.as_str())
        .bind(peer.state.as_str())
        .bind(peer.key.to_string())
        .bind(&peer.seal_key)
        .bind(sealed)
        .bind(&peer.api_key)
        .bind(limits::text(&peer.limits))
        .bind(peer.added_at.as_millisecond())
        .bind(peer.last_seen.map(Timestamp::as_millisecond))
        .bind(peer.last_sync.map(Timestamp::as_millisecond))
        .execute(write.connection())
        .await;
        match made {
            Ok(_) => write.commit().await,
            // On PostgreSQL another writer can come between the look and the row.
            Err(error) if is_taken(&error) => Err(taken(peer)),
            Err(error) => Err(error.into()),
        }
    }
}

async fn is_registered(connection: &mut AnyConnection, peer: &Peer) -> Result<bool, StoreError> {
    let row = sqlx::query("select node from peers where owner = $1 and node = $2")
        .bind(peer.owner.as_str())
        .bind(peer.node.to_string())
        .fetch_optional(connection)
        .await?;
    Ok(row.is_some())
}

/// Refuses a name or an API key that another peer of the owner has.
pub(super) async fn refuse_taken(
    connection: &mut AnyConnection,
    peer: &Peer,
) -> Result<(), StoreError> {
    let row = sqlx::query(
        "select name from peers where owner = $1 and node <> $2 and (name = $3 or api_key = $4)
         order by case when name = $3 then 0 else 1 end limit 1",
    )
    .bind(peer.owner.as_str())
    .bind(peer.node.to_string())
    .bind(&peer.name)
    .bind(&peer.api_key)
    .fetch_optional(connection)
    .await?;
    let Some(row) = row else { return Ok(()) };
    let name: String = row.try_get("name")?;
    if name == peer.name {
        return Err(StoreError::PeerNameTaken { name });
    }
    Err(StoreError::PeerKeyTaken { name })
}

/// Some value of a peer has another bearer.
pub(super) fn taken(peer: &Peer) -> StoreError {
    StoreError::PeerTaken { node: peer.node }
}
