//! A look at a node's folder and database from outside, for a doctor. Nothing is changed.

use crate::cluster::try_out_bus;
use crate::config::Config;
use baton_net::tls::{self, TlsError, TlsFiles};
use baton_store::data::{DataError, DataFolder};
use baton_store::{DatabaseUrl, StoreError, has_begun};
use std::fs::{File, TryLockError};
use std::path::{Path, PathBuf};

pub use baton_store::Look;

/// Looks at the database; none when it is not made yet.
pub async fn database(config: &Config) -> Result<Option<Look>, StoreError> {
    if !has_begun(&config.database).await? {
        return Ok(None);
    }
    let key = config.data.master_key(config.master_key.as_ref())?;
    let node = config.data.node_id().ok().flatten();
    baton_store::inspect(&config.database, &key, node).await.map(Some)
}

/// The file of the database, when it is one.
pub fn database_file(config: &Config) -> Option<PathBuf> {
    match &config.database {
        DatabaseUrl::Sqlite(path) => Some(path.clone()),
        DatabaseUrl::Postgres(_) => None,
    }
}

/// Whether a node holds the folder at this moment.
pub fn is_held(data: &DataFolder) -> bool {
    let lock = File::open(data.lock());
    lock.is_ok_and(|lock| matches!(lock.try_lock_shared(), Err(TryLockError::WouldBlock)))
}

/// Whether another folder, at `place`, bears the same node id as `data`.
pub fn is_twin(data: &DataFolder, place: &Path) -> Result<bool, DataError> {
    let other = DataFolder::at(place)?;
    let canonical = |folder: &DataFolder| folder.path().canonicalize().ok();
    // A link to our folder is no other folder.
    let same = canonical(&other).is_none() || canonical(&other) == canonical(data);
    let theirs = if same { None } else { other.node_id()? };
    Ok(theirs.is_some() && theirs == data.node_id()?)
}

/// Whether a server of the bus that the settings name lets this node in: which ones they are, or why not; none where
/// they name none.
pub async fn bus(config: &Config) -> Option<Result<String, String>> {
    let tried = try_out_bus(config.bus.as_ref()?).await;
    Some(tried.map_err(|error| error.to_string()))
}

/// Reads certificate and key as the node would.
pub fn certificate(files: &TlsFiles) -> Result<(), TlsError> {
    tls::load(files).map(drop)
}
