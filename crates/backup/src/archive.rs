//! The archive: files in tar, tar in zstd, zstd in the seal, the seal in a file; and last in it the manifest,
//! which says what a whole one holds.
//!
//! A reader believes nothing that the manifest does not confirm, and writes it into an empty folder.

use super::{
    BYTES_MAX, BackupError, DATABASE, FILES_MAX, FORMAT, KEY, MANIFEST, MANIFEST_MAX, SESSIONS,
};
use baton_browser::profile::packed::BoundedTar;
use baton_session::{NodeId, SessionId};
use baton_store::{FileKey, SealedReader, SealedWriter};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use std::collections::BTreeSet;
use std::error::Error;
use std::fs::{DirBuilder, File, OpenOptions};
use std::io;
use std::io::{BufReader, BufWriter, Read, Write, repeat};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Component, Path, PathBuf};
use tar::{Entry, EntryType, Header};

/// What a backup holds.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Manifest {
    /// The layout of the archive.
    pub format: u32,
    /// The version of Baton that made it.
    pub baton: String,
    /// When it was begun.
    pub made_at: Timestamp,
    /// The node that it is of; none when that had never started.
    pub node: Option<NodeId>,
    /// The version of the database's schema.
    pub schema: i64,
    /// Sessions in the database.
    pub sessions: u64,
    /// Snapshots in the database.
    pub snapshots: u64,
    /// Sealed pieces in the database.
    pub parts: u64,
    /// Whether the master key is in it.
    pub has_key: bool,
    /// Sessions whose profiles are in it, whole.
    pub profiles: Vec<SessionId>,
    /// Sessions whose profiles were asked for and are not in it.
    pub left_out: Vec<LeftOut>,
    /// Every file but this one.
    pub files: Vec<FileEntry>,
}

/// A profile that is not in a backup.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LeftOut {
    /// Whose profile.
    pub session: SessionId,
    /// Why.
    pub why: String,
}

/// One file of an archive.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct FileEntry {
    /// Its path in the data folder, with `/`.
    pub path: String,
    /// Its bytes.
    pub size: u64,
    /// SHA-256 of them, in hexadecimal digits.
    pub sha256: String,
}

const ZSTD_LEVEL: i32 = 3;

type Tar = tar::Builder<zstd::Encoder<'static, SealedWriter<BufWriter<File>>>>;

/// An archive that is being written.
pub(super) struct Archive {
    tar: Tar,
    path: PathBuf,
    bytes: u64,
    files: Vec<FileEntry>,
}

impl Archive {
    /// Begins one in `file`, which is at `path`.
    pub(super) fn create(file: File, path: &Path, key: &FileKey) -> Result<Self, BackupError> {
        let sealed = SealedWriter::create(BufWriter::new(file), key);
        let sealed = sealed.map_err(|error| BackupError::sealed(path, error))?;
        let packed = zstd::Encoder::new(sealed, ZSTD_LEVEL).map_err(BackupError::file(path))?;
        let tar = tar::Builder::new(packed);
        Ok(Self { tar, path: path.to_owned(), bytes: 0, files: Vec::new() })
    }

    /// Adds the file at `from` under `name`. One that grows or shrinks meanwhile keeps the size that it had
    /// at first: a caller that lets it change must not count on it.
    pub(super) fn add_file(&mut self, from: &Path, name: &str) -> Result<(), BackupError> {
        let file = File::open(from).map_err(BackupError::file(from))?;
        let size = file.metadata().map_err(BackupError::file(from))?.len();
        self.add(file.chain(repeat(0)).take(size), size, name)
    }

    /// Adds bytes under `name`.
    pub(super) fn add_bytes(&mut self, bytes: &[u8], name: &str) -> Result<(), BackupError> {
        self.add(bytes, bytes.len() as u64, name)
    }

    /// Writes the manifest with what was added, and syncs the file.
    pub(super) fn finish(mut self, mut manifest: Manifest) -> Result<Manifest, BackupError> {
        manifest.files = std::mem::take(&mut self.files);
        let text = serde_json::to_vec(&manifest);
        let text = text.map_err(|error| BackupError::damaged(&self.path, error.to_string()))?;
        self.add_bytes(&text, MANIFEST)?;
        let failed = BackupError::file(&self.path);
        let done = || -> io::Result<()> {
            let sealed = self.tar.into_inner()?.finish()?;
            let file = sealed.finish()?.into_inner().map_err(io::IntoInnerError::into_error)?;
            file.sync_all()
        };
        done().map_err(failed)?;
        Ok(manifest)
    }

    fn add(&mut self, from: impl Read, size: u64, name: &str) -> Result<(), BackupError> {
        self.bytes += size;
        if self.bytes > BYTES_MAX || self.files.len() >= FILES_MAX {
            return Err(BackupError::TooLarge);
        }
        let mut header = Header::new_gnu();
        header.set_entry_type(EntryType::Regular);
        header.set_mode(0o600);
        header.set_size(size);
        let mut hashed = Hashed { from, hash: Sha256::new() };
        let added = self.tar.append_data(&mut header, name, &mut hashed);
        added.map_err(BackupError::file(&self.path))?;
        let sha256 = hex(&hashed.hash.finalize());
        self.files.push(FileEntry { path: name.to_owned(), size, sha256 });
        Ok(())
    }
}

/// Hashes what is read through it.
struct Hashed<R> {
    from: R,
    hash: Sha256,
}

impl<R: Read> Read for Hashed<R> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let read = self.from.read(into)?;
        self.hash.update(&into[..read]);
        Ok(read)
    }
}

/// Lower-case hexadecimal digits.
fn hex(bytes: &[u8]) -> String {
    use std::fmt::Write;
    bytes.iter().fold(String::new(), |mut text, byte| {
        // Writing to a `String` cannot fail.
        let _ = write!(text, "{byte:02x}");
        text
    })
}

/// The longest path in an archive, in bytes, and how deep it goes.
const PATH_BYTES: usize = 1024;
const DEPTH: usize = 24;

/// What is around each file, in bytes: two headers, a long name, and what fills its last block.
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

#[cfg(test)]
mod tests {
    use super::{Archive, Manifest, extract};
    use crate::{BackupError, FORMAT};
    use baton_store::{FileKey, MasterKey, SealedWriter};
    use std::fs::File;
    use std::io::Read;
    use std::path::PathBuf;
    use tar::{EntryType, Header};

    type Tar = tar::Builder<zstd::Encoder<'static, SealedWriter<File>>>;

    fn key() -> FileKey {
        FileKey::Master(MasterKey::from_bytes([7; 32]))
    }

    /// A folder with an archive made by `fill`, and what comes of extracting it.
    fn extracted(
        fill: impl FnOnce(&mut Tar),
    ) -> (tempfile::TempDir, Result<Manifest, BackupError>) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("backup");
        let sealed = SealedWriter::create(File::create(&path).unwrap(), &key()).unwrap();
        let mut tar = tar::Builder::new(zstd::Encoder::new(sealed, 0).unwrap());
        fill(&mut tar);
        tar.into_inner().unwrap().finish().unwrap().finish().unwrap();
        let outcome = extract(&path, &key(), &inside(&folder));
        (folder, outcome)
    }

    fn inside(folder: &tempfile::TempDir) -> PathBuf {
        folder.path().join("data")
    }

    /// The name goes in as it is: the tar crate would refuse some of these.
    fn add(tar: &mut Tar, name: &str, kind: EntryType, size: u64, bytes: impl Read) {
        let mut header = Header::new_gnu();
        header.as_gnu_mut().unwrap().name[..name.len()].copy_from_slice(name.as_bytes());
        header.set_entry_type(kind);
        header.set_size(size);
        header.set_cksum();
        tar.append(&header, bytes).unwrap();
    }

    fn add_text(tar: &mut Tar, name: &str, text: &str) {
        add(tar, name, EntryType::Regular, text.len() as u64, text.as_bytes());
    }

    fn manifest() -> Manifest {
        Manifest {
            format: FORMAT,
            baton: "0.0.0".to_owned(),
            made_at: jiff::Timestamp::UNIX_EPOCH,
            node: None,
            schema: 1,
            sessions: 0,
            snapshots: 0,
            parts: 0,
            has_key: false,
            profiles: Vec::new(),
            left_out: Vec::new(),
            files: Vec::new(),
        }
    }

    #[test]
    fn a_name_that_leads_elsewhere_is_refused() {
        let long = format!("sessions/01890000-0000-7000-8000-000000000000/{}x", "d/".repeat(25));
        for name in [
            "../evil",
            "/tmp/evil",
            "sessions/../../evil",
            "sessions/01890000-0000-7000-8000-000000000000/../../../evil",
            "sessions/elsewhere/evil",
            "node.id",
            "baton.toml",
            &long,
        ] {
            let (folder, outcome) = extracted(|tar| add_text(tar, name, "evil"));
            let error = outcome.unwrap_err();
            assert!(matches!(&error, BackupError::Damaged { .. }), "{name}: {error}");
            let left = std::fs::read_dir(folder.path()).unwrap().count();
            assert_eq!(left, 1, "{name}: only the backup is there");
        }
    }

    #[test]
    fn links_and_folders_are_refused() {
        for kind in [EntryType::Symlink, EntryType::Link, EntryType::Directory, EntryType::Fifo] {
            let (_folder, outcome) =
                extracted(|tar| add(tar, "baton.db", kind, 0, std::io::empty()));
            assert!(matches!(outcome, Err(BackupError::Damaged { .. })), "{kind:?}");
        }
    }

    #[test]
    fn sizes_are_bounded_before_anything_is_written() {
        let (folder, outcome) = extracted(|tar| {
            add(tar, "baton.db", EntryType::Regular, 1 << 40, std::io::empty());
        });
        assert!(matches!(outcome, Err(BackupError::TooLarge)));
        assert!(!inside(&folder).exists());
        let (_folder, outcome) = extracted(|tar| {
            let much = 65 << 20;
            add(tar, "manifest.json", EntryType::Regular, much, std::io::repeat(b' ').take(much));
        });
        assert!(outcome.unwrap_err().to_string().contains("its manifest is too large"));
    }

    #[test]
    fn what_describes_a_file_is_short() {
        // The library would take all of it into memory before it shows us the file.
        for kind in [EntryType::XHeader, EntryType::GNULongName] {
            let (_folder, outcome) = extracted(|tar| {
                let much = 65 << 20;
                add(tar, "baton.db", kind, much, std::io::repeat(b'x').take(much));
                add_text(tar, "baton.db", "rows");
            });
            let why = outcome.unwrap_err().to_string();
            assert!(why.contains("found a longer description"), "{kind:?}: {why}");
        }
    }

    #[test]
    fn what_the_manifest_does_not_confirm_is_refused() {
        let text = serde_json::to_string(&manifest()).unwrap();
        let (rows, list) = (("baton.db", "rows"), ("manifest.json", text.as_str()));
        let cases: [(&str, &[(&str, &str)]); 4] = [
            ("its manifest is missing", &[rows]),
            ("its files are not those that its manifest names", &[rows, list]),
            ("its database or its key is missing", &[list]),
            ("baton.db stands behind the manifest", &[list, rows]),
        ];
        for (why, files) in cases {
            let (_folder, outcome) =
                extracted(|tar| files.iter().for_each(|(name, text)| add_text(tar, name, text)));
            let error = outcome.unwrap_err().to_string();
            assert!(error.contains(why), "expected {why:?}, found {error}");
        }
    }

    #[test]
    fn a_newer_layout_is_named() {
        let newer = Manifest { format: FORMAT + 1, ..manifest() };
        let text = serde_json::to_string(&newer).unwrap();
        let (_folder, outcome) = extracted(|tar| add_text(tar, "manifest.json", &text));
        let error = outcome.unwrap_err();
        assert!(matches!(&error, BackupError::Newer { found: 2, .. }), "{error}");
    }

    #[test]
    fn what_an_archive_takes_it_gives_back() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("backup");
        let database = folder.path().join("rows");
        std::fs::write(&database, "rows").unwrap();
        let file = File::create(&path).unwrap();
        let mut archive = Archive::create(file, &path, &key()).unwrap();
        archive.add_file(&database, "baton.db").unwrap();
        archive.finish(manifest()).unwrap();
        extract(&path, &key(), &inside(&folder)).unwrap();
        assert_eq!(std::fs::read_to_string(inside(&folder).join("baton.db")).unwrap(), "rows");
    }
}
