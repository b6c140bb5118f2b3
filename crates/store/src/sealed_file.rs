//! A file that is sealed as it is written, for what leaves the data folder.
//!
//! A header says how the key is found: from a passphrase (Argon2id), or from the master key of a
//! node. Then follow pieces of 64 KiB, each sealed with AES-256-GCM under a key of this file alone.
//! The number of a piece, and whether it is the last one, are its nonce, and the header is its
//! associated data: a piece that was changed, moved or cut off does not open.

use crate::master_key::MasterKey;
use crate::seal::{fingerprint, hex, mac, random};
use aes_gcm::aead::{Aead, KeyInit, Payload};
use aes_gcm::{Aes256Gcm, Nonce};
use argon2::{Algorithm, Argon2, Params, Version};
use secrecy::{ExposeSecret, SecretString};
use std::io;
use std::io::{Read, Write};
use zeroize::Zeroizing;

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

/// Argon2id with 64 MiB and three passes: about a fifth of a second, and dear to guess against.
const MEMORY_KIB: u32 = 64 << 10;
const PASSES: u32 = 3;
/// What a header may ask for at most.
const MEMORY_KIB_MAX: u32 = 1 << 20;
const PASSES_MAX: u32 = 20;

const PASSPHRASE: u8 = 1;
const MASTER: u8 = 2;

/// Magic, kind, salt, memory, passes, fingerprint of the master key, proof of the key.
const LENGTH: usize = 8 + 1 + 16 + 4 + 4 + 8 + 16;
/// What the proof covers.
const PROVED: usize = LENGTH - 16;

/// A header with the key that belongs to it.
struct Header {
    bytes: [u8; LENGTH],
    key: Zeroizing<[u8; 32]>,
}

impl Header {
    /// A new one, with a salt of its own.
    fn create(key: &FileKey) -> Result<Self, SealedFileError> {
        let (kind, memory, passes, name) = match key {
            FileKey::Passphrase(_) => (PASSPHRASE, MEMORY_KIB, PASSES, [0; 8]),
            FileKey::Master(master) => (MASTER, 0, 0, name_of(master.bytes())),
        };
        let salt: [u8; 16] = random();
        let fields: [&[u8]; 6] =
            [&MAGIC, &[kind], &salt, &memory.to_be_bytes(), &passes.to_be_bytes(), &name];
        let proved = fields.concat();
        let key = derive(key, &salt, memory, passes)?;
        let whole = [proved.as_slice(), &prove(&key, &proved)].concat();
        let bytes = whole.try_into().map_err(|_| SealedFileError::Header)?;
        Ok(Self { bytes, key })
    }

    /// Reads one and finds its key.
    fn read(from: &mut impl Read, key: &FileKey) -> Result<Self, SealedFileError> {
        let bytes = read_bytes(from)?;
        let (expected, found) = (kind(&bytes)?, key.kind());
        if expected != found {
            return Err(SealedFileError::OtherKind { expected, found });
        }
        if let FileKey::Master(master) = key
            && name_of(master.bytes()) != bytes[33..41]
        {
            let (expected, found) = (hex(&bytes[33..41]), fingerprint(master.bytes()));
            return Err(SealedFileError::WrongMaster { expected, found });
        }
        let (memory, passes) = (number(&bytes, 25), number(&bytes, 29));
        let derived = derive(key, &bytes[9..25], memory, passes)?;
        if prove(&derived, &bytes[..PROVED]) == bytes[PROVED..] {
            return Ok(Self { bytes, key: derived });
        }
        Err(match key {
            FileKey::Passphrase(_) => SealedFileError::WrongPassphrase,
            FileKey::Master(_) => SealedFileError::Header,
        })
    }
}

/// Which kind of key opens the file that begins so.
fn read_kind(from: &mut impl Read) -> Result<FileKeyKind, SealedFileError> {
    kind(&read_bytes(from)?)
}

fn read_bytes(from: &mut impl Read) -> Result<[u8; LENGTH], SealedFileError> {
    let mut bytes = [0; LENGTH];
    match from.read_exact(&mut bytes) {
        Err(error) if error.kind() == std::io::ErrorKind::UnexpectedEof => {
            return Err(SealedFileError::NotSealed);
        }
        read => read?,
    }
    let (name, version) = (&bytes[..7], bytes[7]);
    if *name != MAGIC[..7] {
        return Err(SealedFileError::NotSealed);
    }
    if version > MAGIC[7] {
        return Err(SealedFileError::Newer { found: version });
    }
    Ok(bytes)
}

fn kind(bytes: &[u8; LENGTH]) -> Result<FileKeyKind, SealedFileError> {
    match bytes[8] {
        PASSPHRASE => Ok(FileKeyKind::Passphrase),
        MASTER => Ok(FileKeyKind::Master),
        _ => Err(SealedFileError::Header),
    }
}

fn number(bytes: &[u8; LENGTH], at: usize) -> u32 {
    bytes[at..at + 4].iter().fold(0, |number, byte| (number << 8) | u32::from(*byte))
}

fn derive(
    key: &FileKey,
    salt: &[u8],
    memory: u32,
    passes: u32,
) -> Result<Zeroizing<[u8; 32]>, SealedFileError> {
    let base = match key {
        FileKey::Master(master) => Zeroizing::new(*master.bytes()),
        FileKey::Passphrase(text) => {
            if memory > MEMORY_KIB_MAX || passes > PASSES_MAX {
                return Err(SealedFileError::Header);
            }
            let params = Params::new(memory, passes, 1, Some(32));
            let params = params.map_err(|_| SealedFileError::Header)?;
            let mut derived = Zeroizing::new([0; 32]);
            Argon2::new(Algorithm::Argon2id, Version::V0x13, params)
                .hash_password_into(text.expose_secret().as_bytes(), salt, &mut *derived)
                .map_err(|_| SealedFileError::Header)?;
            derived
        }
    };
    Ok(mac(&base, &[b"baton sealed file v1", salt]))
}

fn prove(key: &[u8; 32], header: &[u8]) -> [u8; 16] {
    let mut proof = [0; 16];
    proof.copy_from_slice(&mac(key, &[b"baton sealed file proof v1", header])[..16]);
    proof
}

/// The fingerprint of a master key as bytes.
fn name_of(key: &[u8; 32]) -> [u8; 8] {
    let mut name = [0; 8];
    name.copy_from_slice(&mac(key, &[b"baton key fingerprint v1"])[..8]);
    name
}

/// Seals what is written to it. What was written counts only after [`finish`](Self::finish).
pub struct SealedWriter<W> {
    to: W,
    cipher: Aes256Gcm,
    header: Header,
    number: u64,
    piece: Vec<u8>,
}

impl<W: Write> SealedWriter<W> {
    /// Writes the header. With a passphrase this takes about a fifth of a second.
    pub fn create(mut to: W, key: &FileKey) -> Result<Self, SealedFileError> {
        let header = Header::create(key)?;
        to.write_all(&header.bytes)?;
        let cipher = Aes256Gcm::new((&*header.key).into());
        Ok(Self { to, cipher, header, number: 0, piece: Vec::with_capacity(PIECE) })
    }

    /// Writes the last piece, and gives back what was written to; it is not synced.
    pub fn finish(mut self) -> io::Result<W> {
        self.seal(true)?;
        self.to.flush()?;
        Ok(self.to)
    }

    fn seal(&mut self, last: bool) -> io::Result<()> {
        let payload = Payload { msg: &self.piece, aad: &self.header.bytes };
        let sealed = self
            .cipher
            .encrypt(&Nonce::from(nonce(self.number, last)), payload)
            .map_err(|_| io::Error::other("a piece could not be sealed"))?;
        self.number += 1;
        self.piece.clear();
        self.to.write_all(&sealed)
    }
}

impl<W: Write> Write for SealedWriter<W> {
    /// A full piece is sealed when the next byte comes, so that the last one is never empty unless
    /// nothing was written.
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.piece.len() == PIECE && !bytes.is_empty() {
            self.seal(false)?;
        }
        let taken = bytes.len().min(PIECE - self.piece.len());
        self.piece.extend_from_slice(&bytes[..taken]);
        Ok(taken)
    }

    /// A piece is sealed when it is full; there is nothing to push out before.
    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Gives what was sealed, piece by piece; a piece that does not open is an error of the kind
/// `InvalidData` that holds a [`SealedFileError`].
pub struct SealedReader<R> {
    from: R,
    cipher: Aes256Gcm,
    header: Header,
    number: u64,
    /// The sealed piece that comes next, and one byte more when another follows.
    ahead: Vec<u8>,
    plain: Zeroizing<Vec<u8>>,
    given: usize,
    ended: bool,
}

impl<R: Read> SealedReader<R> {
    /// Reads the header and checks the key. With a passphrase this takes about a fifth of a second.
    pub fn open(mut from: R, key: &FileKey) -> Result<Self, SealedFileError> {
        let header = Header::read(&mut from, key)?;
        let cipher = Aes256Gcm::new((&*header.key).into());
        Ok(Self {
            from,
            cipher,
            header,
            number: 0,
            ahead: Vec::with_capacity(PIECE + TAG + 1),
            plain: Zeroizing::default(),
            given: 0,
            ended: false,
        })
    }

    /// Which kind of key opens the file.
    pub fn kind(mut from: R) -> Result<FileKeyKind, SealedFileError> {
        read_kind(&mut from)
    }

    fn next_piece(&mut self) -> io::Result<()> {
        let whole = PIECE + TAG;
        let wanted = (whole + 1 - self.ahead.len()) as u64;
        self.from.by_ref().take(wanted).read_to_end(&mut self.ahead)?;
        let last = self.ahead.len() <= whole;
        let length = self.ahead.len().min(whole);
        let payload = Payload { msg: &self.ahead[..length], aad: &self.header.bytes };
        let plain = self.cipher.decrypt(&Nonce::from(nonce(self.number, last)), payload);
        self.plain = Zeroizing::new(plain.map_err(|_| self.broken())?);
        self.ahead.drain(..length);
        self.given = 0;
        self.number += 1;
        self.ended = last;
        Ok(())
    }

    fn broken(&self) -> io::Error {
        let at = self.header.bytes.len() as u64 + self.number * (PIECE + TAG) as u64;
        io::Error::new(io::ErrorKind::InvalidData, SealedFileError::Broken { at })
    }
}

impl<R: Read> Read for SealedReader<R> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        if self.given == self.plain.len() && !self.ended {
            self.next_piece()?;
        }
        let left = &self.plain[self.given..];
        let taken = left.len().min(into.len());
        into[..taken].copy_from_slice(&left[..taken]);
        self.given += taken;
        Ok(taken)
    }
}
