//! Makes a backup, beside a running node or without one, with the profiles that no browser is writing to.

use super::archive::{Archive, LeftOut, Manifest};
use super::stage::{Draft, Held};
use super::{BackupError, DATABASE, FORMAT, KEY, SESSIONS, may_be_replaced};
use baton_browser::launch::lock;
use baton_session::SessionId;
use baton_store::blocking::blocking;
use baton_store::data::DataFolder;
use baton_store::{
    Contents, DatabaseUrl, FileKey, MasterKey, StoreError, clock, copy_database, has_begun,
};
use secrecy::SecretString;
use std::fs;
use std::path::{Path, PathBuf};

/// What a backup is made of.
#[derive(Debug, Clone, Copy)]
pub struct Source<'a> {
    /// The data folder.
    pub data: &'a DataFolder,
    /// Its database.
    pub database: &'a DatabaseUrl,
    /// The master key in base64, when it does not come from the data folder.
    pub master_key: Option<&'a SecretString>,
}

/// A backup that is made.
#[derive(Debug)]
pub struct Backup {
    /// What it holds.
    pub manifest: Manifest,
    /// The size of its file in bytes.
    pub size: u64,
}

/// Writes a backup of `from` to `to`, where there is nothing or an older backup. With a passphrase the master
/// key is in it and the passphrase opens it; without one the master key opens it and is kept apart.
pub async fn create(
    from: Source<'_>,
    to: &Path,
    passphrase: Option<SecretString>,
    with_profiles: bool,
) -> Result<Backup, BackupError> {
    if !has_begun(from.database).await? {
        return Err(BackupError::NothingThere(from.database.to_string()));
    }
    if to.exists() && !may_be_replaced(to) {
        return Err(BackupError::InTheWay(to.to_owned()));
    }
    let key = from.data.master_key(from.master_key).map_err(StoreError::from)?;
    let held = Held::acquire(&from.data.path().join("backup.lock"))?;
    let draft = Draft::create(to)?;
    let copy = DatabaseCopy::new(from.data)?;
    let made_at = clock::now();
    let contents = copy_database(from.database, &key, &copy.0).await?;
    let work = Work { data: from.data.clone(), key, passphrase, with_profiles, made_at };
    let made = blocking(move || {
        let _held = held;
        work.write(draft, &copy, &contents)
    });
    made.await?
}

/// What goes into the archive.
struct Work {
    data: DataFolder,
    key: MasterKey,
    passphrase: Option<SecretString>,
    with_profiles: bool,
    made_at: jiff::Timestamp,
}

impl Work {
    fn write(
        self,
        mut draft: Draft,
        copy: &DatabaseCopy,
        contents: &Contents,
    ) -> Result<Backup, BackupError> {
        let has_key = self.passphrase.is_some();
        let seal = match &self.passphrase {
            Some(text) => FileKey::Passphrase(text.clone()),
            None => FileKey::Master(self.key.clone()),
        };
        let mut archive = Archive::create(draft.file()?, draft.path(), &seal)?;
        archive.add_file(&copy.0, DATABASE)?;
        if has_key {
            archive.add_bytes(self.key.expose(), KEY)?;
        }
        let (kept, left_out) = if self.with_profiles {
            add_profiles(&mut archive, &self.data)?
        } else {
            (Vec::new(), Vec::new())
        };
        let manifest = archive.finish(Manifest {
            format: FORMAT,
            baton: env!("CARGO_PKG_VERSION").to_owned(),
            made_at: self.made_at,
            node: self.data.node_id()?,
            schema: contents.version,
            sessions: contents.sessions,
            snapshots: contents.snapshots,
            parts: contents.parts,
            has_key,
            profiles: kept,
            left_out,
            files: Vec::new(),
        })?;
        let size = draft.publish()?;
        Ok(Backup { manifest, size })
    }
}

/// The copy of the database, which goes when the backup is made or has failed.
struct DatabaseCopy(PathBuf);

impl DatabaseCopy {
    /// The lock is held: what is there was left behind by a process that died.
    fn new(data: &DataFolder) -> Result<Self, BackupError> {
        let copy = Self(data.path().join("backup.db"));
        copy.remove().map_err(BackupError::file(&copy.0))?;
        Ok(copy)
    }

    fn remove(&self) -> std::io::Result<()> {
        for end in ["", "-journal", "-wal", "-shm"] {
            let mut name = self.0.as_os_str().to_owned();
            name.push(end);
            match std::fs::remove_file(name) {
                Err(error) if error.kind() != std::io::ErrorKind::NotFound => return Err(error),
                _ => {}
            }
        }
        Ok(())
    }
}

impl Drop for DatabaseCopy {
    fn drop(&mut self) {
        if let Err(error) = self.remove() {
            tracing::warn!(%error, "the copy of the database stays; the next backup removes it");
        }
    }
}

/// Folders of a profile that Chromium makes again by itself.
const CACHES: [&str; 10] = [
    "Cache",
    "Code Cache",
    "Crashpad",
    "DawnGraphiteCache",
    "DawnWebGPUCache",
    "GPUCache",
    "GraphiteDawnCache",
    "GrShaderCache",
    "ShaderCache",
    "component_crx_cache",
];

/// The log of keeper and browser is no part of a session.
const LOG: &str = "keeper.log";

/// Adds the profile of every session, and says which are in, and which are not and why.
fn add_profiles(
    archive: &mut Archive,
    data: &DataFolder,
) -> Result<(Vec<SessionId>, Vec<LeftOut>), BackupError> {
    let (mut profiles, mut left_out) = (Vec::new(), Vec::new());
    for session in data.session_folders() {
        let kept = match in_use(data, session) {
            None => {
                let name = format!("{SESSIONS}/{session}");
                add_folder(archive, &data.session(session), &name)?;
                // A browser that came meanwhile may have left us half of each.
                in_use(data, session)
            }
            used => used,
        };
        match kept {
            None => profiles.push(session),
            Some(why) => left_out.push(LeftOut { session, why }),
        }
    }
    Ok((profiles, left_out))
}

fn in_use(data: &DataFolder, session: SessionId) -> Option<String> {
    match lock::holder(&data.profile(session)) {
        Ok(None) => None,
        Ok(Some(_)) => Some("its browser runs".to_owned()),
        Err(error) => Some(error.to_string()),
    }
}

/// Links and sockets belong to a running browser, not to its state.
fn add_folder(archive: &mut Archive, folder: &Path, name: &str) -> Result<(), BackupError> {
    let failed = |source| BackupError::File { path: folder.to_owned(), source };
    for entry in fs::read_dir(folder).map_err(failed)? {
        let entry = entry.map_err(failed)?;
        let (kind, file) = (entry.file_type().map_err(failed)?, entry.file_name());
        let Some(file) = file.to_str() else {
            return Err(failed(std::io::Error::other("expected names of files in UTF-8")));
        };
        let inside = format!("{name}/{file}");
        if kind.is_dir() && !CACHES.contains(&file) {
            add_folder(archive, &entry.path(), &inside)?;
        } else if kind.is_file() && file != LOG {
            archive.add_file(&entry.path(), &inside)?;
        }
    }
    Ok(())
}
