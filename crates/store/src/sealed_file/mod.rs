//! A file that is sealed as it is written, for what leaves the data folder.
//!
//! A header says how the key is found: from a passphrase (Argon2id), or from the master key of a
//! node. Then follow pieces of 64 KiB, each sealed with AES-256-GCM under a key of this file alone.
//! The number of a piece, and whether it is the last one, are its nonce, and the header is its
//! associated data: a piece that was changed, moved or cut off does not open.

mod header;
mod read;
mod write;

pub use read::SealedReader;
pub use write::SealedWriter;

use crate::master_key::MasterKey;
use secrecy::SecretString;

/// Plain bytes of a piece.
const PIECE: usize = 64 << 10;
/// What AES-GCM adds to each piece.
const TAG: usize = 16;
/// What begins every sealed file; the last byte is the version of the layout.
const MAGIC: [u8; 8] = *b"BATONSF\x01";

/// With what a file is sealed, and opened again.
#[derive(Debug, Clone)]
pub enum FileKey {
    /// A passphrase that a person knows.
    Passphrase(SecretString),
    /// The master key of the node.
    Master(MasterKey),
}

/// Which kind of [`FileKey`] opens a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FileKeyKind {
    /// A passphrase.
    Passphrase,
    /// A master key.
    Master,
}

/// Why a sealed file does not open.
#[derive(Debug, thiserror::Error)]
pub enum SealedFileError {
    /// It does not begin as one.
    #[error("expected a file that Baton sealed, found something else")]
    NotSealed,
    /// A newer version of this program made it.
    #[error(
        "expected a sealed file of version 1, found version {found}\ninstall the version of Baton \
         that made it, or a newer one"
    )]
    Newer {
        /// Its version.
        found: u8,
    },
    /// The passphrase is another one.
    #[error("the passphrase does not open the file, or the file's beginning is damaged")]
    WrongPassphrase,
    /// The master key is another one.
    #[error(
        "the file is sealed with another master key: expected key {expected}, found key {found}"
    )]
    WrongMaster {
        /// The fingerprint of the key that opens it.
        expected: String,
        /// The fingerprint of the key that was given.
        found: String,
    },
    /// The other kind of key opens it.
    #[error("expected {expected} to open the file, found {found}")]
    OtherKind {
        /// What opens it.
        expected: FileKeyKind,
        /// What was given.
        found: FileKeyKind,
    },
    /// The header asks for more work or memory than any of ours does.
    #[error("the file's beginning is damaged")]
    Header,
    /// A piece was changed, or the end is missing.
    #[error("the file is damaged or cut off, at byte {at}")]
    Broken {
        /// Where the piece begins.
        at: u64,
    },
    /// The system refused.
    #[error(transparent)]
    Io(#[from] std::io::Error),
}

impl SealedFileError {
    /// Whether another key might open the file.
    pub fn is_key(&self) -> bool {
        matches!(self, Self::WrongPassphrase | Self::WrongMaster { .. } | Self::OtherKind { .. })
    }
}

impl FileKey {
    /// Which kind it is.
    pub fn kind(&self) -> FileKeyKind {
        match self {
            Self::Passphrase(_) => FileKeyKind::Passphrase,
            Self::Master(_) => FileKeyKind::Master,
        }
    }
}

impl std::fmt::Display for FileKeyKind {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Passphrase => "a passphrase",
            Self::Master => "a master key",
        })
    }
}

/// The nonce of a piece. A key seals one file only, so numbers never come twice.
fn nonce(number: u64, last: bool) -> [u8; 12] {
    let mut nonce = [0; 12];
    nonce[3..11].copy_from_slice(&number.to_be_bytes());
    nonce[11] = u8::from(last);
    nonce
}
