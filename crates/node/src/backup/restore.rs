//! Makes a data folder of a backup.

use super::manifest::Manifest;
use super::stage::{Old, Stage};
use super::{BackupError, DATABASE, KEY, SESSIONS, extract};
use crate::auth::revoke_local_keys;
use crate::data::write_private;
use crate::{DataFolder, clock};
use baton_session::NodeId;
use baton_store::{Config, DatabaseUrl, Epoch, FileKey, Limits, MasterKey, Store, StoreError};
use secrecy::{ExposeSecret, SecretString};
use std::fs;
use std::path::{Path, PathBuf};

/// What opens a backup.
#[derive(Debug, Clone)]
pub enum Unlock {
    /// Its passphrase; the master key is inside.
    Passphrase(SecretString),
    /// A copy of the key file, which becomes the file `key` of the data folder.
    KeyFile(PathBuf),
    /// The master key in base64, which becomes that file too.
    KeyText(SecretString),
}

impl Unlock {
    fn file_key(&self) -> Result<FileKey, BackupError> {
        let master = match self {
            Self::Passphrase(text) => return Ok(FileKey::Passphrase(text.clone())),
            Self::KeyFile(path) => MasterKey::load(path),
            Self::KeyText(text) => MasterKey::from_base64(text.expose_secret()),
        };
        Ok(FileKey::Master(master.map_err(StoreError::from)?))
    }
}

/// A data folder that was restored.
#[derive(Debug)]
pub struct Restored {
    /// What the backup held.
    pub manifest: Manifest,
    /// The new node's id.
    pub node: NodeId,
    /// What became of the sessions that were active.
    pub epoch: Epoch,
    /// Where the data folder is now that stood there before.
    pub old: Option<PathBuf>,
}

/// Restores the backup at `from` as the data folder `data`, which must be empty or missing unless
/// `force` is given, and on which no node may run. Everything is checked before anything changes.
pub async fn restore(
    from: &Path,
    data: &DataFolder,
    unlock: Unlock,
    force: bool,
) -> Result<Restored, BackupError> {
    let old = Old::look(data, force)?;
    let stage = Stage::create(data)?;
    let (from, data) = (from.to_owned(), data.clone());
    let (stage, key, manifest) = blocking(move || {
        let (key, manifest) = fill(&from, &unlock, stage.path())?;
        Ok((stage, key, manifest))
    })
    .await?;
    let node = NodeId::new(clock::now(), rand::random());
    write_private(&stage.path().join("node.id"), format!("{node}\n").as_bytes())?;
    let epoch = begin_epoch(&stage.path().join(DATABASE), key, node).await?;
    let moved = blocking(move || stage.take_place(&data)).await;
    drop(old);
    Ok(Restored { manifest, node, epoch, old: moved? })
}

async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, BackupError> + Send + 'static,
) -> Result<T, BackupError> {
    tokio::task::spawn_blocking(work).await.map_err(|_| BackupError::Interrupted)?
}

/// Fills the new folder with what the backup holds.
fn fill(from: &Path, unlock: &Unlock, folder: &Path) -> Result<(MasterKey, Manifest), BackupError> {
    let file_key = unlock.file_key()?;
    let manifest = extract::extract(from, &file_key, folder)?;
    let path = folder.join(KEY);
    let key = match file_key {
        FileKey::Passphrase(_) => MasterKey::load(&path)
            .map_err(|_| BackupError::damaged(from, "the key in it is no key"))?,
        FileKey::Master(key) => {
            write_private(&path, key.expose())?;
            key
        }
    };
    remove_halves(&manifest, &folder.join(SESSIONS))?;
    Ok((key, manifest))
}

/// A profile that was in use when it was copied may be half of each: the snapshots bring it back.
fn remove_halves(manifest: &Manifest, sessions: &Path) -> Result<(), BackupError> {
    for left_out in &manifest.left_out {
        let folder = sessions.join(left_out.session.to_string());
        match fs::remove_dir_all(&folder) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                return Err(BackupError::File { path: folder, source: error });
            }
            _ => {}
        }
    }
    Ok(())
}

/// Opens the database, which brings it up to date and proves that the key is its own.
async fn begin_epoch(path: &Path, key: MasterKey, node: NodeId) -> Result<Epoch, BackupError> {
    let database = DatabaseUrl::Sqlite(path.to_owned());
    let store = Store::open(Config { database, key, limits: Limits::default() }).await?;
    let epoch = store.begin_epoch(node, clock::now()).await;
    let revoked = revoke_local_keys(&store).await;
    store.close().await;
    let file = fs::File::open(path).and_then(|file| file.sync_all());
    file.map_err(BackupError::file(path))?;
    revoked?;
    Ok(epoch?)
}
