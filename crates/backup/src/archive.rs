//! Writes the archive: files into tar, tar into zstd, zstd into the seal, the seal into a file.

use super::error::BackupError;
use super::manifest::{FileEntry, Manifest};
use super::{BYTES_MAX, FILES_MAX, MANIFEST};
use baton_store::{FileKey, SealedWriter};
use sha2::{Digest, Sha256};
use std::fs::File;
use std::io::{self, BufWriter, Read, repeat};
use std::path::{Path, PathBuf};
use tar::{EntryType, Header};

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

    /// Adds the file at `from` under `name`. One that grows or shrinks meanwhile keeps the size that
    /// it had at first: whoever lets it change must not count on it.
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
pub(super) struct Hashed<R> {
    pub(super) from: R,
    pub(super) hash: Sha256,
}

impl<R: Read> Read for Hashed<R> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let read = self.from.read(into)?;
        self.hash.update(&into[..read]);
        Ok(read)
    }
}

/// Lower-case hexadecimal digits.
pub(super) fn hex(bytes: &[u8]) -> String {
    use std::fmt::Write;
    bytes.iter().fold(String::new(), |mut text, byte| {
        // Writing to a `String` cannot fail.
        let _ = write!(text, "{byte:02x}");
        text
    })
}
