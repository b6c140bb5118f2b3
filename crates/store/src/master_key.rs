//! The master key: 32 bytes outside the database that unwrap the database's own key.
//!
//! A key file appears whole or not at all: it is written beside its place, synced, and then linked
//! there, which fails when another process was first.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use std::fmt;
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use zeroize::Zeroizing;

/// Bytes of a key.
const LENGTH: usize = 32;

/// The key that unwraps the database's own key. Wiped from memory when dropped, never shown.
#[derive(Clone)]
pub struct MasterKey(Zeroizing<[u8; LENGTH]>);

/// A key that cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum KeyError {
    /// The file cannot be read or written.
    #[error("cannot read or write the key file {}: {source}", path.display())]
    File {
        /// The key file.
        path: PathBuf,
        /// What the system says.
        source: io::Error,
    },
    /// There is no file, and something is sealed for it.
    #[error(
        "expected the key file {}, which opens the database, found none\nput it back; without it, \
         what is sealed stays sealed",
        path.display()
    )]
    Missing {
        /// The key file.
        path: PathBuf,
    },
    /// The file holds something else.
    #[error(
        "expected 32 bytes in the key file {}, found {found}\nput the right file there; without \
         it, what is sealed stays sealed",
        path.display()
    )]
    Length {
        /// The key file.
        path: PathBuf,
        /// How many bytes it holds; 33 means more.
        found: usize,
    },
    /// Others than its owner can read the file.
    #[error(
        "expected the key file {} to be private (mode 0600), found mode {mode:04o}\nrun: chmod 600 \
         {}",
        path.display(), path.display()
    )]
    Exposed {
        /// The key file.
        path: PathBuf,
        /// Its permission bits.
        mode: u32,
    },
    /// A key given as text is not 32 bytes in base64.
    #[error("expected a key of 32 bytes in base64, found {found}")]
    Text {
        /// What was wrong, without the text itself.
        found: String,
    },
}

impl MasterKey {
    /// Reads the key file, or makes one with mode 0600 when there is none. Refuses a file of the
    /// wrong length, and one that others can read.
    pub fn load_or_create(path: &Path) -> Result<Self, KeyError> {
        let failed = |source| KeyError::File { path: path.to_owned(), source };
        match load(path) {
            Err(KeyError::File { source, .. }) if source.kind() == io::ErrorKind::NotFound => {}
            done => return done,
        }
        match create(path) {
            // Another process was first: its key counts.
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => load(path),
            Err(error) => Err(failed(error)),
            Ok(key) => Ok(key),
        }
    }

    /// The key of these bytes.
    pub fn from_bytes(bytes: [u8; LENGTH]) -> Self {
        Self(Zeroizing::new(bytes))
    }

    /// The key of a text, as in an environment variable: 32 bytes in standard base64.
    pub fn from_base64(text: &str) -> Result<Self, KeyError> {
        let bytes = STANDARD
            .decode(text.trim())
            .map(Zeroizing::new)
            .map_err(|_| KeyError::Text { found: "something else".to_owned() })?;
        let exact = bytes.as_slice().try_into();
        exact
            .map(Self::from_bytes)
            .map_err(|_| KeyError::Text { found: format!("{} bytes", bytes.len()) })
    }

    /// Reads the key file of a database that exists: none is made.
    pub fn load(path: &Path) -> Result<Self, KeyError> {
        match load(path) {
            Err(KeyError::File { source, path }) if source.kind() == io::ErrorKind::NotFound => {
                Err(KeyError::Missing { path })
            }
            done => done,
        }
    }

    /// The key itself, to be kept where only its owner can read it.
    pub fn expose(&self) -> &[u8; LENGTH] {
        &self.0
    }

    pub(crate) fn bytes(&self) -> &[u8; LENGTH] {
        &self.0
    }
}

impl fmt::Debug for MasterKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("MasterKey(***)")
    }
}

fn load(path: &Path) -> Result<MasterKey, KeyError> {
    let failed = |source| KeyError::File { path: path.to_owned(), source };
    let file = std::fs::File::open(path).map_err(failed)?;
    refuse_exposed(path, &file.metadata().map_err(failed)?)?;
    let mut bytes = Zeroizing::new(Vec::with_capacity(LENGTH + 1));
    file.take(LENGTH as u64 + 1).read_to_end(&mut bytes).map_err(failed)?;
    let exact = bytes.as_slice().try_into();
    exact
        .map(MasterKey::from_bytes)
        .map_err(|_| KeyError::Length { path: path.to_owned(), found: bytes.len() })
}

#[cfg(unix)]
fn refuse_exposed(path: &Path, metadata: &std::fs::Metadata) -> Result<(), KeyError> {
    use std::os::unix::fs::PermissionsExt;
    let mode = metadata.permissions().mode() & 0o7777;
    let others = mode & 0o077;
    if others != 0 {
        return Err(KeyError::Exposed { path: path.to_owned(), mode });
    }
    Ok(())
}

#[cfg(not(unix))]
#[allow(clippy::unnecessary_wraps)]
fn refuse_exposed(_: &Path, _: &std::fs::Metadata) -> Result<(), KeyError> {
    Ok(())
}

fn create(path: &Path) -> io::Result<MasterKey> {
    let key = MasterKey(Zeroizing::new(crate::seal::random()));
    let suffix = crate::seal::hex(&crate::seal::random::<8>());
    let draft = path.with_added_extension(suffix);
    let written =
        write_private(&draft, key.bytes()).and_then(|()| std::fs::hard_link(&draft, path));
    // The draft goes whether it was linked or not; what counts is the outcome above.
    let removed = std::fs::remove_file(&draft);
    written?;
    removed?;
    sync_folder(path)?;
    Ok(key)
}

fn write_private(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut file = create_private(path)?;
    file.write_all(bytes)?;
    file.sync_all()
}

/// Makes a file that only its owner can read; fails when it exists.
pub(crate) fn create_private(path: &Path) -> io::Result<std::fs::File> {
    let mut options = std::fs::OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path)
}

/// Syncs the folder of `path`, so that the name survives a power cut too.
#[cfg(unix)]
pub(crate) fn sync_folder(path: &Path) -> io::Result<()> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    std::fs::File::open(folder.unwrap_or(Path::new(".")))?.sync_all()
}

/// Other systems cannot open a folder to sync it.
#[cfg(not(unix))]
#[allow(clippy::unnecessary_wraps)]
pub(crate) fn sync_folder(_: &Path) -> io::Result<()> {
    Ok(())
}
