//! A look at a node's folder and database from outside, for a doctor. Nothing is changed.

use crate::config::Config;
use crate::data::DataError;
use crate::data::DataFolder;
use crate::serve::master_key;
use baton_net::tls::TlsFiles;
use baton_net::tls::{self, TlsError};
use baton_session::SessionId;
use baton_store::{DatabaseUrl, StoreError, is_sealed};
use std::fs::{File, TryLockError};
use std::path::{Path, PathBuf};

pub use baton_store::Look;

/// Looks at the database; none when it is not made yet.
pub async fn database(config: &Config) -> Result<Option<Look>, StoreError> {
    if !has_begun(&config.database).await? {
        return Ok(None);
    }
    let key = master_key(config, baton_store::MasterKey::load)?;
    let node = config.data.node_id().ok().flatten();
    baton_store::look(&config.database, &key, node).await.map(Some)
}

/// Whether a node has ever used the database: its file is there, or the server holds a data key.
pub(crate) async fn has_begun(database: &DatabaseUrl) -> Result<bool, StoreError> {
    match database {
        DatabaseUrl::Sqlite(path) => Ok(path.exists()),
        DatabaseUrl::Postgres(_) => is_sealed(database).await,
    }
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

/// The sessions that have a folder here, the oldest first.
pub fn session_folders(data: &DataFolder) -> Vec<SessionId> {
    let entries = std::fs::read_dir(data.sessions()).into_iter().flatten().flatten();
    let mut found: Vec<SessionId> =
        entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok()).collect();
    found.sort_unstable();
    found
}

/// Reads certificate and key as the node would.
pub fn certificate(files: &TlsFiles) -> Result<(), TlsError> {
    tls::load(files).map(drop)
}
