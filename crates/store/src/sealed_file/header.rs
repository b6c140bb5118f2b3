//! The header of a sealed file: from what its key is made, and whether ours is the right one.

use super::{FileKey, FileKeyKind, MAGIC, SealedFileError};
use crate::seal::{fingerprint, hex, mac, random};
use argon2::{Algorithm, Argon2, Params, Version};
use secrecy::ExposeSecret;
use std::io::Read;
use zeroize::Zeroizing;

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
pub(super) struct Header {
    pub(super) bytes: [u8; LENGTH],
    pub(super) key: Zeroizing<[u8; 32]>,
}

impl Header {
    /// A new one, with a salt of its own.
    pub(super) fn create(key: &FileKey) -> Result<Self, SealedFileError> {
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
    pub(super) fn read(from: &mut impl Read, key: &FileKey) -> Result<Self, SealedFileError> {
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
pub(super) fn read_kind(from: &mut impl Read) -> Result<FileKeyKind, SealedFileError> {
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
