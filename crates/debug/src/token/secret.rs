//! The secret that signs: of a file that the node makes, or of a text that other programs share.

use hkdf::Hkdf;
use secrecy::{ExposeSecret, SecretString};
use sha2::Sha256;
use std::fmt;
use std::fs::{File, Permissions};
use std::io::{self, Read, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use zeroize::Zeroizing;

/// Bytes of a secret.
const LENGTH: usize = 32;
/// What is derived from a shared text is good for this only.
const PURPOSE: &[u8] = b"baton debug token v1";
/// The shortest text that is taken: shorter ones can be guessed from a token.
const SHORTEST: usize = 16;

/// What signs tokens. Wiped from memory when dropped, never shown.
#[derive(Clone)]
pub struct DebugSecret(Zeroizing<[u8; LENGTH]>);

/// A secret that cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum SecretError {
    /// The file cannot be read or written.
    #[error("cannot read or write {}: {source}", path.display())]
    File {
        /// Which file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// The file holds something else.
    #[error(
        "expected 32 bytes in {}, found another number\nremove the file, and a new one is made",
        path.display()
    )]
    Length {
        /// Which file.
        path: PathBuf,
    },
    /// Others than its owner can read the file.
    #[error(
        "expected {} to be private (mode 0600), found mode {mode:04o}\n\
         others may know it: remove the file, and a new one is made", path.display()
    )]
    Exposed {
        /// Which file.
        path: PathBuf,
        /// Its permission bits.
        mode: u32,
    },
    /// The shared text can be guessed.
    #[error("expected HIVE_SECRET to have at least {SHORTEST} bytes, found {found}")]
    TooShort {
        /// How many bytes it has.
        found: usize,
    },
}

impl DebugSecret {
    /// The secret of these bytes.
    pub fn from_bytes(bytes: [u8; LENGTH]) -> Self {
        Self(Zeroizing::new(bytes))
    }

    /// The secret of a text that several programs share (HKDF with SHA-256, RFC 5869).
    pub fn from_text(text: &SecretString) -> Result<Self, SecretError> {
        let text = text.expose_secret().as_bytes();
        if text.len() < SHORTEST {
            return Err(SecretError::TooShort { found: text.len() });
        }
        let mut bytes = Zeroizing::new([0; LENGTH]);
        // It fails for more than 255 times 32 bytes only; a key of zeros must not come of it.
        let derived = Hkdf::<Sha256>::new(None, text).expand(PURPOSE, &mut *bytes);
        derived.map_err(|_| SecretError::TooShort { found: text.len() })?;
        Ok(Self(bytes))
    }

    /// The secret of a file; `random` becomes it when there is none yet. Of two processes that
    /// make it at once, both get the first one's.
    pub fn load_or_create(path: &Path, random: [u8; LENGTH]) -> Result<Self, SecretError> {
        let failed = |source| SecretError::File { path: path.to_owned(), source };
        match load(path) {
            Err(SecretError::File { source, .. }) if source.kind() == io::ErrorKind::NotFound => {}
            done => return done,
        }
        let made = Self::from_bytes(random);
        match create(path, made.bytes()) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => load(path),
            Err(error) => Err(failed(error)),
            Ok(()) => Ok(made),
        }
    }

    pub(super) fn bytes(&self) -> &[u8; LENGTH] {
        &self.0
    }
}

impl fmt::Debug for DebugSecret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("DebugSecret(***)")
    }
}

fn load(path: &Path) -> Result<DebugSecret, SecretError> {
    let failed = |source| SecretError::File { path: path.to_owned(), source };
    let file = File::open(path).map_err(failed)?;
    let mode = file.metadata().map_err(failed)?.permissions().mode() & 0o7777;
    if mode & 0o077 != 0 {
        return Err(SecretError::Exposed { path: path.to_owned(), mode });
    }
    let mut bytes = Zeroizing::new(Vec::with_capacity(LENGTH + 1));
    file.take(LENGTH as u64 + 1).read_to_end(&mut bytes).map_err(failed)?;
    let exact = bytes.as_slice().try_into().map(DebugSecret::from_bytes);
    exact.map_err(|_| SecretError::Length { path: path.to_owned() })
}

/// Writes beside the place, syncs, and links there, which fails when another process was first.
fn create(path: &Path, bytes: &[u8; LENGTH]) -> io::Result<()> {
    let folder = path.parent().unwrap_or(Path::new("."));
    let mut file =
        tempfile::Builder::new().permissions(Permissions::from_mode(0o600)).tempfile_in(folder)?;
    file.write_all(bytes)?;
    file.as_file().sync_all()?;
    file.persist_noclobber(path).map_err(|error| error.error)?;
    File::open(folder)?.sync_all()
}
