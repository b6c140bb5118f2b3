//! Makes a data folder of a backup.

use super::archive::{Manifest, extract};
use super::stage::{Old, Stage};
use super::{BackupError, DATABASE, KEY, SESSIONS};
use baton_session::{Epoch, NodeId};
use baton_store::blocking::blocking;
use baton_store::data::{DataFolder, write_private};
use baton_store::{
    Config, DatabaseUrl, FileKey, Limits, MasterKey, PERSON_KEY, Store, StoreError, clock,
    refuse_filled,
};
use secrecy::{ExposeSecret, SecretString};
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

/// Where an identity is that was restored and not started: at no place that a data folder has.
const RESTORED: &str = "restored";

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
    /// Which node it is: the one of the backup, or a new one when that had no key yet.
    pub node: NodeId,
    /// What became of the sessions that were active.
    pub epoch: baton_store::Epoch,
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
    let old = Old::inspect(data, force)?;
    if let Some(server) = server {
        refuse_filled(server).await.map_err(BackupError::server)?;
    }
    let stage = Stage::create(data)?;
    let (from, data) = (from.to_owned(), data.clone());
    let (stage, key, manifest) = blocking(move || {
        let (key, manifest) = fill(&from, &unlock, stage.path())?;
        Ok::<_, BackupError>((stage, key, manifest))
    })
    .await??;
    let database = stage.path().join(DATABASE);
    let (node, epoch) = begin_epoch(&database, key, manifest.node, server).await?;
    write_private(&stage.path().join("node.id"), format!("{node}\n").as_bytes())?;
    if server.is_some() {
        remove_database(stage.path())?;
    }
    let moved = blocking(move || stage.take_place(&data)).await;
    drop(old);
    Ok(Restored { manifest, node, epoch, server: server.map(DatabaseUrl::to_string), old: moved?? })
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

/// Fills the new folder with what the backup holds.
fn fill(from: &Path, unlock: &Unlock, folder: &Path) -> Result<(MasterKey, Manifest), BackupError> {
    let file_key = unlock.file_key()?;
    let manifest = extract(from, &file_key, folder)?;
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
    made_by: Option<NodeId>,
    server: Option<&DatabaseUrl>,
) -> Result<(NodeId, baton_store::Epoch), BackupError> {
    let database = DatabaseUrl::Sqlite(path.to_owned());
    let store = Store::open(Config { database, key, limits: Limits::default() }).await?;
    let begun = async {
        let node = identity_of(&store, made_by).await?;
        let epoch = store.begin_epoch(node, clock::now()).await?;
        store.revoke_local_keys(clock::now()).await?;
        // Nobody's page is at the new node.
        store.remove_keys(PERSON_KEY, &BTreeSet::new()).await?;
        if let Some(server) = server {
            store.copy_to(server).await.map_err(BackupError::server)?;
        }
        Ok((node, epoch))
    };
    let begun = begun.await;
    store.close().await;
    let file = fs::File::open(path).and_then(|file| file.sync_all());
    file.map_err(BackupError::file(path))?;
    begun
}

/// Which node is restored: the one that made the backup, in another epoch, for it may have gone on
/// since. One from before nodes had keys gets an id that its first start gives an identity.
async fn identity_of(store: &Store, made_by: Option<NodeId>) -> Result<NodeId, BackupError> {
    let known = match made_by {
        Some(node) => store.fetch_identity(node).await?,
        None => None,
    };
    let Some(known) = known else { return Ok(NodeId::new(clock::now(), rand::random())) };
    store.move_identity(known.node, RESTORED, Epoch::new(rand::random())).await?;
    Ok(known.node)
}

/// The server has it now; a file of that name would be taken for the database by a node that does not know of
/// the server.
fn remove_database(folder: &Path) -> Result<(), BackupError> {
    for entry in fs::read_dir(folder).map_err(BackupError::file(folder))?.flatten() {
        if entry.file_name().as_encoded_bytes().starts_with(DATABASE.as_bytes()) {
            fs::remove_file(entry.path()).map_err(BackupError::file(entry.path()))?;
        }
    }
    Ok(())
}
