//! The local admin key: written at the first start, so that commands on this machine just work.
//!
//! Whoever can read the file may do everything, and needs to be able to read the data folder for
//! it, which holds the same secrets.

use crate::audit::{Action, Note};
use crate::clock;
use crate::data::{DataError, DataFolder, write_private};
use crate::keys::KeySecret;
use crate::keys::{new_key, note};
use crate::runtime::Actor;
use baton_api::Scope;
use baton_session::{NodeId, Owner};
use baton_store::{ApiKey, Store, StoreError};
use std::io::ErrorKind;

/// The name of the key among those of the owner `local`.
const NAME: &str = "local-admin";

/// The local key could not be written or registered.
#[derive(Debug, thiserror::Error)]
pub enum LocalKeyError {
    /// The file.
    #[error(transparent)]
    Data(#[from] DataError),
    /// The database.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Sees to it that `admin.key` opens this node: a key that was revoked, or that another database
/// made, is replaced. A node that shares its database with others, `shared_by`, has a key of its own.
pub async fn ensure_local_key(
    store: &Store,
    data: &DataFolder,
    shared_by: Option<NodeId>,
) -> Result<(), LocalKeyError> {
    if let Some(secret) = read(data)?
        && store.find_key(secret.hash()).await?.is_some()
    {
        return Ok(());
    }
    let owner = Owner::local();
    let name = shared_by.map_or(NAME.to_owned(), |node| format!("{NAME}-{node}"));
    let keys = store.list_keys(&owner).await?;
    for old in keys.iter().filter(|key| key.name == name) {
        revoke(store, old).await?;
    }
    let secret = KeySecret::generate();
    let key = new_key(name, owner, Scope::ALL);
    store.create_key(&key, secret.hash()).await?;
    note(&Actor::node(), &key).done(store).await?;
    write_private(&data.admin_key(), format!("{}\n", secret.expose()).as_bytes())?;
    tracing::info!(file = %data.admin_key().display(), "wrote a new local admin key");
    Ok(())
}

/// Revokes the local keys of all nodes: what is restored belongs to a new one, and the folders of the
/// others may still hold their keys.
pub(crate) async fn revoke_local_keys(store: &Store) -> Result<(), StoreError> {
    for key in store.list_keys(&Owner::local()).await? {
        let node = key.name.strip_prefix(NAME).and_then(|rest| rest.strip_prefix('-'));
        if key.name == NAME || node.is_some_and(|node| node.parse::<NodeId>().is_ok()) {
            revoke(store, &key).await?;
        }
    }
    Ok(())
}

/// Revokes a key that is not revoked yet.
async fn revoke(store: &Store, key: &ApiKey) -> Result<(), StoreError> {
    if key.revoked_at.is_some() {
        return Ok(());
    }
    store.revoke_key(&key.owner, &key.id, clock::now()).await?;
    let revoked = Note::new(&Actor::node(), &key.owner, Action::RevokeKey, &key.id);
    revoked.with("name", key.name.as_str()).done(store).await
}

fn read(data: &DataFolder) -> Result<Option<KeySecret>, DataError> {
    let path = data.admin_key();
    match std::fs::read_to_string(&path) {
        Ok(text) => Ok(KeySecret::parse(text.trim())),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        Err(source) => Err(DataError::Io { path, source }),
    }
}
