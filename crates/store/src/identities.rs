//! Identities: the keys of the nodes that work, or worked, with this database.
//!
//! Who has them is the node for all others, so they are sealed as what a browser held is.

use crate::error::StoreError;
use crate::pooled::PooledConnection;
use crate::row::{is_taken, refuse_nul, word};
use crate::seal::{Seal, SealError};
use crate::store::Store;
use baton_session::{Epoch, NodeId};
use secrecy::{ExposeSecret, SecretString};
use sqlx::Row;
use sqlx::any::AnyRow;
use std::fmt;
use zeroize::Zeroizing;

/// The most bytes of what is sealed for one node.
const SECRETS_MAX: u64 = 64 << 10;

/// Who a node is.
#[derive(Clone)]
pub struct StoredIdentity {
    /// Its id, a hash of its public key.
    pub node: NodeId,
    /// Where it runs: a copy of its data folder differs in this.
    pub place: String,
    /// In which its counters go on; another one at another place.
    pub epoch: Epoch,
    /// Of which the key is made that it signs with.
    pub seed: Zeroizing<[u8; 32]>,
    /// What opens that which others seal for it.
    pub seal_secret: SecretString,
}

impl fmt::Debug for StoredIdentity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("StoredIdentity")
            .field("node", &self.node)
            .field("place", &self.place)
            .field("epoch", &self.epoch)
            .finish_non_exhaustive()
    }
}

impl Store {
    /// The identity of a node: by its id, or by the one that it had before it had keys. Fails with
    /// `IdentityCorrupt`.
    pub async fn fetch_identity(&self, node: NodeId) -> Result<Option<StoredIdentity>, StoreError> {
        let row = sqlx::query(
            "select node, place, epoch, sealed from identities where node = $1 or formerly = $1
             order by case when node = $1 then 0 else 1 end limit 1",
        )
        .bind(node.to_string())
        .fetch_optional(self.pool())
        .await?;
        row.map(|row| open(&row, &self.seal())).transpose()
    }

    /// The identity of the node that runs at a place; none when no node has run there. Fails with
    /// `IdentityCorrupt`.
    pub async fn find_identity_at(
        &self,
        place: &str,
    ) -> Result<Option<StoredIdentity>, StoreError> {
        let row = sqlx::query(
            "select node, place, epoch, sealed from identities where place = $1
             order by node limit 1",
        )
        .bind(place)
        .fetch_optional(self.pool())
        .await?;
        row.map(|row| open(&row, &self.seal())).transpose()
    }

    /// Stores who a node is. What belonged to the id `formerly`, which it had before it had keys,
    /// belongs to it from then on: sessions, leases, and its beat. Fails with `IdTaken` when either id
    /// has an identity.
    pub async fn create_identity(
        &self,
        identity: &StoredIdentity,
        formerly: Option<NodeId>,
    ) -> Result<(), StoreError> {
        refuse_nul("the place of a node", &identity.place)?;
        let taken = |error: sqlx::Error| {
            let id = identity.node.to_string();
            if is_taken(&error) { StoreError::IdTaken { id } } else { error.into() }
        };
        let sealed = seal(identity, &self.seal())?;
        let mut write = self.write().await?;
        sqlx::query(
            "insert into identities (node, formerly, place, epoch, sealed)
             values ($1, $2, $3, $4, $5)",
        )
        .bind(identity.node.to_string())
        .bind(formerly.map(|node| node.to_string()))
        .bind(&identity.place)
        .bind(identity.epoch.to_string())
        .bind(sealed)
        .execute(write.connection())
        .await
        .map_err(taken)?;
        if let Some(formerly) = formerly {
            write.connection().be_patient();
            rename(write.connection(), formerly, identity.node).await.map_err(taken)?;
        }
        write.commit().await
    }

    /// Notes that a node runs elsewhere now, in another epoch. Fails with `IdentityNotFound`.
    pub async fn move_identity(
        &self,
        node: NodeId,
        place: &str,
        epoch: Epoch,
    ) -> Result<(), StoreError> {
        refuse_nul("the place of a node", place)?;
        let mut write = self.write().await?;
        let moved = sqlx::query("update identities set place = $2, epoch = $3 where node = $1")
            .bind(node.to_string())
            .bind(place)
            .bind(epoch.to_string())
            .execute(write.connection())
            .await?;
        if moved.rows_affected() == 0 {
            return Err(StoreError::IdentityNotFound { node });
        }
        write.commit().await
    }
}

/// Gives all that belongs to a node to its new id.
async fn rename(connection: &mut PooledConnection, from: NodeId, to: NodeId) -> sqlx::Result<()> {
    for sql in [
        // Whose list shows where its sessions are.
        "insert into list_changes (owner, slot, changes)
         select distinct owner, 0, 1 from sessions where node = $1 and node <> $2
         on conflict (owner, slot) do update set changes = list_changes.changes + 1",
        "update sessions set node = $2 where node = $1",
        "update leases set node = $2 where node = $1",
        "update nodes set id = $2 where id = $1",
    ] {
        let query = sqlx::query(sql).bind(from.to_string()).bind(to.to_string());
        query.execute(&mut *connection).await?;
    }
    Ok(())
}

/// The seed comes first, then the other secret.
fn seal(identity: &StoredIdentity, seal: &Seal) -> Result<Vec<u8>, StoreError> {
    let secret = identity.seal_secret.expose_secret().as_bytes();
    let plain = Zeroizing::new([identity.seed.as_slice(), secret].concat());
    if plain.len() as u64 > SECRETS_MAX {
        return Err(corrupt(identity.node, SealError::TooLarge { limit: SECRETS_MAX }));
    }
    let sealed = seal.seal_raw(&plain, &["identity", &identity.node.to_string()]);
    sealed.map_err(|error| corrupt(identity.node, error))
}

fn open(row: &AnyRow, seal: &Seal) -> Result<StoredIdentity, StoreError> {
    let node: NodeId = word(row, "node")?;
    let sealed: Vec<u8> = row.try_get("sealed")?;
    let plain = seal
        .open(&sealed, &["identity", &node.to_string()], SECRETS_MAX)
        .map(Zeroizing::new)
        .map_err(|error| corrupt(node, error))?;
    let (seed, secret) = plain.split_first_chunk::<32>().ok_or_else(|| {
        corrupt(node, format!("expected 32 bytes or more, found {}", plain.len()))
    })?;
    let secret = std::str::from_utf8(secret).map_err(|error| corrupt(node, error))?;
    Ok(StoredIdentity {
        node,
        place: row.try_get("place")?,
        epoch: word(row, "epoch")?,
        seed: Zeroizing::new(*seed),
        seal_secret: secret.to_owned().into(),
    })
}

fn corrupt(node: NodeId, why: impl fmt::Display) -> StoreError {
    StoreError::IdentityCorrupt { node, why: why.to_string() }
}
