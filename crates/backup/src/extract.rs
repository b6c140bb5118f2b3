//! Reads an archive into an empty folder, and believes nothing that the manifest does not confirm.

use super::archive::{Hashed, hex};
use super::error::BackupError;
use super::manifest::{FORMAT, FileEntry, Manifest};
use super::{BYTES_MAX, DATABASE, FILES_MAX, KEY, MANIFEST, MANIFEST_MAX, SESSIONS};
use baton_browser::profile::packed::BoundedTar;
use baton_session::SessionId;
use baton_store::{FileKey, SealedReader};
use sha2::{Digest, Sha256};
use std::collections::BTreeSet;
use std::error::Error;
use std::fs::{DirBuilder, File, OpenOptions};
use std::io::{self, BufReader, Read, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Component, Path, PathBuf};
use tar::{Entry, EntryType};

/// The longest path in an archive, in bytes, and how deep it goes.
const PATH_BYTES: usize = 1024;
const DEPTH: usize = 24;

/// What stands around each file, in bytes: two headers, a long name, and what fills its last block.
const AROUND: u64 = 4 << 10;

type Packed = BoundedTar<zstd::Decoder<'static, BufReader<SealedReader<BufReader<File>>>>>;

/// Writes what the backup at `path` holds into `folder`, each file synced, and returns the manifest,
/// which every file fits.
pub(super) fn extract(path: &Path, key: &FileKey, folder: &Path) -> Result<Manifest, BackupError> {
    let file = File::open(path).map_err(BackupError::file(path))?;
    let sealed = SealedReader::open(BufReader::new(file), key);
    let sealed = sealed.map_err(|error| BackupError::sealed(path, error))?;
    let packed = zstd::Decoder::new(sealed).map_err(BackupError::file(path))?;
    let packed = BoundedTar::new(packed, BYTES_MAX.saturating_add(AROUND * FILES_MAX as u64));
    let mut extract = Extract { path, folder, bytes: 0, files: Vec::new() };
    let manifest = extract.read(tar::Archive::new(packed))?;
    extract.confirm(&manifest)?;
    Ok(manifest)
}

struct Extract<'a> {
    path: &'a Path,
    folder: &'a Path,
    bytes: u64,
    files: Vec<FileEntry>,
}

impl Extract<'_> {
    fn read(&mut self, mut archive: tar::Archive<Packed>) -> Result<Manifest, BackupError> {
        let mut manifest = None;
        for entry in archive.entries().map_err(|error| self.unreadable(&error))? {
            let mut entry = entry.map_err(|error| self.unreadable(&error))?;
            let name = self.name_of(&entry)?;
            if manifest.is_some() {
                return Err(self.damaged(format!("{name} stands behind the manifest")));
            }
            if name == MANIFEST {
                manifest = Some(self.read_manifest(&mut entry)?);
            } else {
                self.read_file(&mut entry, name)?;
            }
        }
        // The archive ends before its seal does: only the end of the seal tells that nothing is cut off.
        let mut rest = archive.into_inner();
        let trailing = io::copy(&mut rest.by_ref().take(1 << 20), &mut io::sink());
        if trailing.map_err(|error| self.unreadable(&error))? == 1 << 20 {
            return Err(self.damaged("something stands behind its end"));
        }
        manifest.ok_or_else(|| self.damaged("its manifest is missing"))
    }

    /// The name of an entry, if it is one that a backup may have.
    fn name_of(&self, entry: &Entry<Packed>) -> Result<String, BackupError> {
        let found = entry.path().map_err(|error| self.unreadable(&error))?.into_owned();
        let plain = found.components().all(|part| matches!(part, Component::Normal(_)));
        let short = found.as_os_str().len() <= PATH_BYTES && found.components().count() <= DEPTH;
        let name = found.to_str().filter(|_| plain && short);
        let regular = entry.header().entry_type() == EntryType::Regular;
        match name.filter(|name| regular && is_known(name)) {
            Some(name) => Ok(name.to_owned()),
            None => Err(self.damaged(format!("it holds {:?}", found.display().to_string()))),
        }
    }

    fn read_manifest(&self, entry: &mut Entry<Packed>) -> Result<Manifest, BackupError> {
        let mut text = Vec::new();
        let read = entry.take(MANIFEST_MAX + 1).read_to_end(&mut text);
        if read.map_err(|error| self.unreadable(&error))? as u64 > MANIFEST_MAX {
            return Err(self.damaged("its manifest is too large"));
        }
        let value: serde_json::Value = serde_json::from_slice(&text)
            .map_err(|error| self.damaged(format!("its manifest cannot be read: {error}")))?;
        let format = value["format"].as_u64().unwrap_or(0);
        if format > u64::from(FORMAT) {
            return Err(BackupError::Newer { path: self.path.to_owned(), found: format });
        }
        serde_json::from_value(value)
            .map_err(|error| self.damaged(format!("its manifest cannot be read: {error}")))
    }

    fn read_file(&mut self, entry: &mut Entry<Packed>, name: String) -> Result<(), BackupError> {
        let size = entry.size();
        self.bytes = self.bytes.saturating_add(size);
        if self.bytes > BYTES_MAX || self.files.len() >= FILES_MAX {
            return Err(BackupError::TooLarge);
        }
        let to = self.folder.join(&name);
        let mut file = create(&to).map_err(BackupError::file(&to))?;
        let mut hashed = Hashed { from: entry, hash: Sha256::new() };
        self.copy(&mut hashed, &mut file, &to)?;
        file.sync_all().map_err(BackupError::file(&to))?;
        let sha256 = hex(&hashed.hash.finalize());
        self.files.push(FileEntry { path: name, size, sha256 });
        Ok(())
    }

    /// Tells a backup that cannot be read from a disk that cannot be written.
    fn copy(&self, from: &mut impl Read, into: &mut File, to: &Path) -> Result<(), BackupError> {
        let mut buffer = vec![0; 128 << 10];
        loop {
            let read = from.read(&mut buffer).map_err(|error| self.unreadable(&error))?;
            if read == 0 {
                return Ok(());
            }
            into.write_all(&buffer[..read]).map_err(BackupError::file(to))?;
        }
    }

    fn confirm(mut self, manifest: &Manifest) -> Result<(), BackupError> {
        let mut expected = manifest.files.clone();
        expected.sort_unstable();
        self.files.sort_unstable();
        let names: BTreeSet<&str> = self.files.iter().map(|file| file.path.as_str()).collect();
        if expected != self.files {
            return Err(self.damaged("its files are not those that its manifest names"));
        }
        if !names.contains(DATABASE) || names.contains(KEY) != manifest.has_key {
            return Err(self.damaged("its database or its key is missing"));
        }
        Ok(())
    }

    fn unreadable(&self, error: &io::Error) -> BackupError {
        // The cause says more than the layers around it.
        let mut cause: &dyn Error = error;
        while let Some(source) = cause.source() {
            cause = source;
        }
        self.damaged(format!("it cannot be read: {cause}"))
    }

    fn damaged(&self, why: impl Into<String>) -> BackupError {
        BackupError::damaged(self.path, why)
    }
}

/// Files of a data folder that a backup may hold.
fn is_known(name: &str) -> bool {
    let below_session = || {
        let (session, _) = name.strip_prefix(SESSIONS)?.strip_prefix('/')?.split_once('/')?;
        session.parse::<SessionId>().ok()
    };
    [DATABASE, KEY, MANIFEST].contains(&name) || below_session().is_some()
}

/// A new file that only its owner can read, in folders that only its owner can enter.
fn create(path: &Path) -> io::Result<File> {
    let folder = path.parent().map_or_else(PathBuf::new, Path::to_owned);
    DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
    OpenOptions::new().write(true).create_new(true).mode(0o600).open(path)
}
