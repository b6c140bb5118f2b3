//! Finds peers: the one that a person means, the one that shows an API key, or all of them.

use super::{Peer, decode, decode_all, not_found, select};
use crate::error::StoreError;
use crate::prefix::{self, MATCHES_MAX};
use crate::row::word;
use crate::store::Store;
use baton_session::{NodeId, Owner};

impl Store {
    /// The owner's peer that a person means: by its whole id; by its name; or by the start of its id,
    /// at least four digits, when no other one's starts so. Fails with `PeerNotFound` and
    /// `AmbiguousPeer`.
    pub async fn find_peer(&self, owner: &Owner, reference: &str) -> Result<Peer, StoreError> {
        if let Ok(node) = reference.parse::<NodeId>() {
            let (sql, id) = (select!("where owner = $1 and node = $2"), node.to_string());
            let found = self.peer_with(sql, owner, &id).await?;
            return found.ok_or_else(|| not_found(reference));
        }
        if reference.contains('\0') {
            return Err(not_found(reference));
        }
        let named = self.peer_with(select!("where owner = $1 and name = $2"), owner, reference);
        if let Some(peer) = named.await? {
            return Ok(peer);
        }
        let prefix = prefix::parse(reference).ok_or_else(|| not_found(reference))?;
        let mut peers = self.peers_from(owner, &prefix).await?;
        match peers.len() {
            0 => Err(not_found(reference)),
            1 => Ok(peers.remove(0)),
            _ => Err(StoreError::AmbiguousPeer {
                reference: reference.to_owned(),
                matches: peers.iter().map(|peer| peer.node).collect(),
            }),
        }
    }

    /// The owner's peer that shows this API key of ours, by the key's id.
    pub async fn peer_of_key(
        &self,
        owner: &Owner,
        api_key: &str,
    ) -> Result<Option<Peer>, StoreError> {
        self.peer_with(select!("where owner = $1 and api_key = $2"), owner, api_key).await
    }

    /// Every owner who has registered a peer.
    pub async fn list_peer_owners(&self) -> Result<Vec<Owner>, StoreError> {
        let rows = sqlx::query("select distinct owner from peers order by owner");
        let rows = rows.fetch_all(self.pool()).await?;
        rows.iter().map(|row| word(row, "owner")).collect()
    }

    /// The owner's peers, by name.
    pub async fn list_peers(&self, owner: &Owner) -> Result<Vec<Peer>, StoreError> {
        let rows = sqlx::query(select!("where owner = $1 order by name"))
            .bind(owner.as_str())
            .fetch_all(self.pool())
            .await?;
        decode_all(&rows, &self.seal())
    }

    async fn peer_with(
        &self,
        sql: &'static str,
        owner: &Owner,
        value: &str,
    ) -> Result<Option<Peer>, StoreError> {
        let query = sqlx::query(sql).bind(owner.as_str()).bind(value);
        let row = query.fetch_optional(self.pool()).await?;
        row.map(|row| decode(&row, &self.seal())).transpose()
    }

    async fn peers_from(&self, owner: &Owner, prefix: &str) -> Result<Vec<Peer>, StoreError> {
        let rows = sqlx::query(select!(
            "where owner = $1 and node >= $2 and node < $3 order by node limit $4"
        ))
        .bind(owner.as_str())
        .bind(prefix)
        .bind(prefix::end(prefix))
        .bind(MATCHES_MAX)
        .fetch_all(self.pool())
        .await?;
        decode_all(&rows, &self.seal())
    }
}
