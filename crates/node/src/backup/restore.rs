//! Makes a data folder of a backup.

use super::manifest::Manifest;
use super::stage::{Old, Stage};
use super::{BackupError, DATABASE, KEY, SESSIONS, extract};
use crate::auth::revoke_local_keys;
use crate::data::write_private;
use crate::{DataFolder, clock};
use baton_session::NodeId;
use baton_store::{
    Config, DatabaseUrl, Epoch, FileKey, Limits, MasterKey, Store, StoreError, refuse_filled,
};
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
    /// The PostgreSQL database that has it now, without its password; none when it is a file in the
    /// data folder.
    pub server: Option<String>,
    /// Where the data folder is now that stood there before.
    pub old: Option<PathBuf>,
}

/// Restores the backup at `from` as the data folder `data`, which must be empty or missing unless
/// `force` is given, and on which no node may run. The database becomes a file in it, or goes to
/// `server`: a PostgreSQL database, which must be empty. Everything is checked before anything
/// changes.
pub async fn restore(
    from: &Path,
    data: &DataFolder,
    server: Option<&DatabaseUrl>,
    unlock: Unlock,
    force: bool,
) -> Result<Restored, BackupError> {
    let server = server_of(server, data)?;
    let old = Old::look(data, force)?;
    if let Some(server) = server {
        refuse_filled(server).await.map_err(BackupError::server)?;
    }
    let stage = Stage::create(data)?;
    let (from, data) = (from.to_owned(), data.clone());
    let (stage, key, manifest) = blocking(move || {
        let (key, manifest) = fill(&from, &unlock, stage.path())?;
        Ok((stage, key, manifest))
    })
    .await?;
    let node = NodeId::new(clock::now(), rand::random());
    write_private(&stage.path().join("node.id"), format!("{node}\n").as_bytes())?;
    let epoch = begin_epoch(&stage.path().join(DATABASE), key, node, server).await?;
    if server.is_some() {
        remove_database(stage.path())?;
    }
    let moved = blocking(move || stage.take_place(&data)).await;
    drop(old);
    Ok(Restored { manifest, node, epoch, server: server.map(DatabaseUrl::to_string), old: moved? })
}

/// Where the database goes, when it does not stay in the data folder.
fn server_of<'a>(
    named: Option<&'a DatabaseUrl>,
    data: &DataFolder,
) -> Result<Option<&'a DatabaseUrl>, BackupError> {
    match named {
        Some(DatabaseUrl::Sqlite(path)) if *path != data.database() => {
            Err(BackupError::OtherFile(path.display().to_string()))
        }
        Some(DatabaseUrl::Sqlite(_)) | None => Ok(None),
        server @ Some(DatabaseUrl::Postgres(_)) => Ok(server),
    }
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

/// Opens the database, which brings it up to date and proves that the key is its own, and carries it
/// to the server when there is one. That comes last: a server knows no stage.
async fn begin_epoch(
    path: &Path,
    key: MasterKey,
    node: NodeId,
    server: Option<&DatabaseUrl>,
) -> Result<Epoch, BackupError> {
    let database = DatabaseUrl::Sqlite(path.to_owned());
    let store = Store::open(Config { database, key, limits: Limits::default() }).await?;
    let begun = async {
        let epoch = store.begin_epoch(node, clock::now()).await?;
        revoke_local_keys(&store).await?;
        if let Some(server) = server {
            store.copy_to(server).await.map_err(BackupError::server)?;
        }
        Ok(epoch)
    };
    let begun = begun.await;
    store.close().await;
    let file = fs::File::open(path).and_then(|file| file.sync_all());
    file.map_err(BackupError::file(path))?;
    begun
}

/// The server has it now; a file of that name would be taken for the database by a node that is not
/// told of the server.
fn remove_database(folder: &Path) -> Result<(), BackupError> {
    for entry in fs::read_dir(folder).map_err(BackupError::file(folder))?.flatten() {
        if entry.file_name().as_encoded_bytes().starts_with(DATABASE.as_bytes()) {
            fs::remove_file(entry.path()).map_err(BackupError::file(entry.path()))?;
        }
    }
    Ok(())
}
