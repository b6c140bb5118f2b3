//! The local admin key: written at the first start, so that commands on this machine just work.
//!
//! Whoever can read the file may do everything, and needs to be able to read the data folder for
//! it, which holds the same secrets.

use baton_api::Scope;
use baton_runtime::Actor;
use baton_runtime::keys::KeySecret;
use baton_runtime::keys::{new_key, note};
use baton_session::{NodeId, Owner};
use baton_store::clock;
use baton_store::data::{DataError, DataFolder, write_private};
use baton_store::{Store, StoreError, local_key_name};
use std::io::ErrorKind;

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
    let name = local_key_name(shared_by);
    store.revoke_local_key(&name, clock::now()).await?;
    let secret = KeySecret::generate();
    let key = new_key(name, Owner::local(), Scope::ALL);
    store.create_key(&key, secret.hash()).await?;
    note(&Actor::node(), &key).done(store).await?;
    write_private(&data.admin_key(), format!("{}\n", secret.expose()).as_bytes())?;
    tracing::info!(file = %data.admin_key().display(), "wrote a new local admin key");
    Ok(())
}

fn read(data: &DataFolder) -> Result<Option<KeySecret>, DataError> {
    let path = data.admin_key();
    match std::fs::read_to_string(&path) {
        Ok(text) => Ok(KeySecret::parse(text.trim())),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        Err(source) => Err(DataError::Io { path, source }),
    }
}
