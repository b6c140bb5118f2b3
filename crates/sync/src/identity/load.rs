//! Finds the identity of this node at its start, or makes one.
//!
//! The file `node.id` says which identity of the database is this folder's. After a crash the two may
//! disagree in two ways, and the next start mends both: an id that the database does not know gets an
//! identity that remembers it; an id that an identity remembers is the older name of that identity.

use super::Identity;
use age::x25519;
use baton_session::{Epoch, NodeId, NodeSecret};
use baton_store::data::DataError;
use baton_store::data::DataFolder;
use baton_store::{Store, StoreError, StoredIdentity};
use zeroize::Zeroizing;

/// This node cannot say who it is.
#[derive(Debug, thiserror::Error)]
pub enum IdentityError {
    /// The data folder.
    #[error(transparent)]
    Data(#[from] DataError),
    /// The database.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The database holds something else in the place of the identity.
    #[error(
        "expected the key of node {0} in the database, found another key\nthe database was changed: \
         restore a backup"
    )]
    Damaged(NodeId),
}

/// Who this node is. A folder without an identity gets one; a folder that was copied, moved or
/// restored begins a new epoch. The node's lock must be held.
pub async fn load_or_create(store: &Store, data: &DataFolder) -> Result<Identity, IdentityError> {
    let (named, place) = (data.node_id()?, data.place()?);
    let known = match named {
        Some(node) => store.fetch_identity(node).await?,
        None => None,
    };
    // A folder that was used with another database in between bears the id that it had there.
    let known = match known {
        Some(stored) => Some(stored),
        None => store.find_identity_at(&place).await?,
    };
    let mut stored = match known {
        Some(stored) => stored,
        None => create(store, data, named, &place).await?,
    };
    if stored.place != place {
        stored.epoch = Epoch::new(rand::random());
        store.move_identity(stored.node, &place, stored.epoch).await?;
        tracing::info!(node = %stored.node, epoch = %stored.epoch, "the data folder is elsewhere than before: a new epoch");
    }
    if named != Some(stored.node) {
        data.write_node_id(stored.node)?;
    }
    let damaged = IdentityError::Damaged(stored.node);
    match Identity::new(&stored.seed, &stored.seal_secret, stored.epoch) {
        Ok(identity) if identity.node() == stored.node => Ok(identity),
        _ => Err(damaged),
    }
}

/// Makes an identity. What belonged to `formerly`, the id of the folder from before nodes had keys,
/// belongs to it from then on.
async fn create(
    store: &Store,
    data: &DataFolder,
    formerly: Option<NodeId>,
    place: &str,
) -> Result<StoredIdentity, IdentityError> {
    let seed: Zeroizing<[u8; 32]> = Zeroizing::new(rand::random());
    let made = StoredIdentity {
        node: NodeSecret::from_seed(&seed).key().node_id(),
        place: place.to_owned(),
        epoch: Epoch::new(rand::random()),
        seed,
        seal_secret: x25519::Identity::generate().to_string(),
    };
    if formerly.is_none() {
        // Whoever dies behind this line leaves an id that the next start takes for a former one, and
        // no identity that nobody names.
        data.write_node_id(made.node)?;
    }
    store.create_identity(&made, formerly).await?;
    tracing::info!(node = %made.node, "made the key of this node");
    Ok(made)
}
