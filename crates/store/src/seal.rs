//! Sealing: what a browser held is compressed, then encrypted, before the database sees it.
//!
//! A sealed blob is a version byte, a random nonce, and AES-256-GCM over what is *packed*: a tag byte
//! (0 raw, 1 zstd) and the bytes. Packed is also how a part travels to another node. Its associated data says what it is and whose; so a blob that was moved to another
//! owner, kind or row does not open.

use aes_gcm::aead::{Aead, AeadInOut, KeyInit, Payload};
use aes_gcm::{Aes256Gcm, Nonce};
use baton_session::{Owner, PartHash, PartKind};
use hmac::{Hmac, Mac};
use rand::Rng;
use sha2::Sha256;
use std::fmt::Write;
use zeroize::Zeroizing;

/// The layout described above.
const VERSION: u8 = 1;
const NONCE: usize = 12;
const TAG: usize = 16;
const RAW: u8 = 0;
const ZSTD: u8 = 1;
const ZSTD_LEVEL: i32 = 3;

/// Why a blob does not open.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
pub(crate) enum SealError {
    #[error("expected a sealed blob of version {VERSION}, found {0}")]
    Version(String),
    #[error("its seal is broken: it was changed, or it belongs elsewhere")]
    Broken,
    #[error("expected at most {limit} bytes in it, found more")]
    TooLarge { limit: u64 },
    #[error("expected zstd data in it, found something else")]
    Compression,
}

/// Seals and opens blobs under one key.
pub(crate) struct Seal {
    cipher: Aes256Gcm,
    /// From which each owner's key for ids is derived.
    ids: Zeroizing<[u8; 32]>,
    /// From which secrets are derived that all nodes of the database know.
    secrets: Zeroizing<[u8; 32]>,
    key_id: String,
}

/// Names the parts of one owner at rest.
pub(crate) struct PartIds(Zeroizing<[u8; 32]>);

impl Seal {
    /// The seal of a key. Encryption and naming use keys of their own, derived from it.
    pub(crate) fn new(key: &[u8; 32], key_id: impl Into<String>) -> Self {
        let sealing = mac(key, &[b"baton seal v1"]);
        Self {
            cipher: Aes256Gcm::new((&*sealing).into()),
            ids: mac(key, &[b"baton part ids v1"]),
            secrets: mac(key, &[b"baton shared secrets v1"]),
            key_id: key_id.into(),
        }
    }

    /// What its key is called; nothing of the key can be told from it.
    pub(crate) fn key_id(&self) -> &str {
        &self.key_id
    }

    /// Compresses and encrypts `plain`. `subject` says what it is, and must be said again to open.
    pub(crate) fn seal(&self, plain: &[u8], subject: &[&str]) -> Result<Vec<u8>, SealError> {
        self.seal_packed(&pack(plain), subject)
    }

    /// Encrypts `plain` as it is: of what is small and opened by the thousand, little is gained by
    /// compressing it.
    pub(crate) fn seal_raw(&self, plain: &[u8], subject: &[&str]) -> Result<Vec<u8>, SealError> {
        self.seal_packed(&[&[RAW], plain].concat(), subject)
    }

    /// Encrypts what is packed already.
    pub(crate) fn seal_packed(
        &self,
        packed: &[u8],
        subject: &[&str],
    ) -> Result<Vec<u8>, SealError> {
        let nonce: [u8; NONCE] = random();
        let too_large = |_| SealError::TooLarge { limit: aes_gcm::P_MAX };
        let mut sealed = Vec::with_capacity(1 + NONCE + packed.len() + TAG);
        sealed.push(VERSION);
        sealed.extend(nonce);
        sealed.extend(packed);
        let (nonce, aad) = (Nonce::from(nonce), self.associated(subject));
        let body = sealed.get_mut(1 + NONCE..).unwrap_or_default();
        let tag =
            self.cipher.encrypt_inout_detached(&nonce, &aad, body.into()).map_err(too_large)?;
        sealed.extend(tag);
        Ok(sealed)
    }

    /// Decrypts and decompresses `sealed` into at most `limit` bytes.
    pub(crate) fn open(
        &self,
        sealed: &[u8],
        subject: &[&str],
        limit: u64,
    ) -> Result<Vec<u8>, SealError> {
        unpack(&self.open_packed(sealed, subject)?, limit)
    }

    /// Decrypts `sealed`, and leaves it packed.
    pub(crate) fn open_packed(
        &self,
        sealed: &[u8],
        subject: &[&str],
    ) -> Result<Vec<u8>, SealError> {
        let body = match sealed.split_first() {
            Some((&VERSION, body)) => body,
            Some((version, _)) => return Err(SealError::Version(format!("version {version}"))),
            None => return Err(SealError::Version("nothing".to_owned())),
        };
        let (nonce, encrypted) = body.split_first_chunk::<NONCE>().ok_or(SealError::Broken)?;
        let aad = self.associated(subject);
        let payload = Payload { msg: encrypted, aad: &aad };
        self.cipher.decrypt(&Nonce::from(*nonce), payload).map_err(|_| SealError::Broken)
    }

    /// A secret for this purpose, the same wherever the key is known.
    pub(crate) fn secret(&self, purpose: &str) -> Zeroizing<[u8; 32]> {
        mac(&self.secrets, &[purpose.as_bytes()])
    }

    /// The names at rest of the parts of `owner`.
    pub(crate) fn part_ids(&self, owner: &Owner) -> PartIds {
        PartIds(mac(&self.ids, &[b"owner", owner.as_str().as_bytes()]))
    }

    /// What a part is, as associated data.
    pub(crate) fn part_subject<'a>(owner: &'a Owner, id: &'a str, kind: PartKind) -> [&'a str; 4] {
        ["part", owner.as_str(), id, kind.as_str()]
    }

    /// Every field is preceded by its length, so that no two subjects read the same.
    fn associated(&self, subject: &[&str]) -> Vec<u8> {
        let mut out = Vec::new();
        for field in subject.iter().copied().chain([self.key_id.as_str()]) {
            out.extend((field.len() as u64).to_be_bytes());
            out.extend(field.as_bytes());
        }
        out
    }
}

impl PartIds {
    /// The name at rest of a part. The kind belongs to it: two parts of different kinds with the
    /// same bytes are sealed apart.
    pub(crate) fn id(&self, kind: PartKind, hash: &PartHash) -> String {
        hex(&*mac(&self.0, &[kind.as_str().as_bytes(), &hash.0]))
    }

    /// The name at rest of a list of parts that began with this snapshot.
    pub(crate) fn list(&self, snapshot: &str) -> String {
        hex(&*mac(&self.0, &[b"list", snapshot.as_bytes(), b""]))
    }

    /// The name at rest of a place, which holds one part at a time.
    pub(crate) fn place(&self, kind: PartKind, name: &str) -> String {
        let digest = mac(&self.0, &[b"place", kind.as_str().as_bytes(), name.as_bytes()]);
        hex(&digest[..16])
    }
}

/// A short name for a key, from which the key cannot be found.
pub(crate) fn fingerprint(key: &[u8; 32]) -> String {
    hex(&mac(key, &[b"baton key fingerprint v1"])[..8])
}

/// Random bytes from the process's cryptographic generator.
pub(crate) fn random<const N: usize>() -> [u8; N] {
    let mut bytes = [0; N];
    rand::rng().fill_bytes(&mut bytes);
    bytes
}

/// Lower-case hexadecimal digits.
pub(crate) fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::with_capacity(bytes.len() * 2), |mut text, byte| {
        // Writing to a `String` cannot fail.
        let _ = write!(text, "{byte:02x}");
        text
    })
}

/// HMAC-SHA-256 over the fields, each preceded by its length.
pub(crate) fn mac(key: &[u8; 32], fields: &[&[u8]]) -> Zeroizing<[u8; 32]> {
    // HMAC fills a key up with zeros to a block of 64 bytes; doing it here leaves nothing to fail.
    let mut block = Zeroizing::new([0_u8; 64]);
    block[..32].copy_from_slice(key);
    let mut mac = Hmac::<Sha256>::new((&*block).into());
    for field in fields {
        mac.update(&(field.len() as u64).to_be_bytes());
        mac.update(field);
    }
    Zeroizing::new(mac.finalize().into_bytes().into())
}

pub(crate) fn pack(plain: &[u8]) -> Vec<u8> {
    match zstd::bulk::compress(plain, ZSTD_LEVEL) {
        Ok(small) if small.len() < plain.len() => [&[ZSTD], small.as_slice()].concat(),
        _ => [&[RAW], plain].concat(),
    }
}

/// What is packed, as at most `limit` bytes. Zstd data says how many it has before it is read.
pub(crate) fn unpack(packed: &[u8], limit: u64) -> Result<Vec<u8>, SealError> {
    let too_large = SealError::TooLarge { limit };
    match packed.split_first() {
        Some((&RAW, plain)) if plain.len() as u64 > limit => Err(too_large),
        Some((&RAW, plain)) => Ok(plain.to_vec()),
        Some((&ZSTD, small)) => {
            let frame = zstd::zstd_safe::get_frame_content_size(small).ok().flatten();
            let size = frame.ok_or(SealError::Compression)?;
            if size > limit {
                return Err(too_large);
            }
            let capacity = usize::try_from(size).map_err(|_| too_large)?;
            zstd::bulk::decompress(small, capacity).map_err(|_| SealError::Compression)
        }
        _ => Err(SealError::Compression),
    }
}
