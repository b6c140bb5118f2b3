//! Opens the values of cookies as Chromium encrypts them on Linux.
//!
//! The one idea: the first three bytes say where the password comes from: `v10` a fixed one, `v11`
//! the one in the keyring. From the password on both are the same (Chromium's `components/os_crypt`).

use aes::Aes128;
use cbc::cipher::block_padding::Pkcs7;
use cbc::cipher::{BlockModeDecrypt, KeyIvInit};
use sha1::Sha1;
use sha2::{Digest, Sha256};
use zeroize::Zeroizing;

/// The mark of a value that is encrypted with the fixed password.
const FIXED: &[u8] = b"v10";
/// The mark of a value that is encrypted with the keyring's password.
const KEYRING: &[u8] = b"v11";
/// The mark of a value whose key comes from the desktop's secret portal.
const PORTAL: &[u8] = b"v12";

/// From this version of the cookie store on, a value stands behind the SHA-256 of its host.
const FIRST_WITH_HOST: u32 = 24;

/// Each value is encrypted with the same initial block.
const FIRST_BLOCK: [u8; 16] = [b' '; 16];

/// What a value is encrypted with; gone from memory when dropped.
pub struct Key(pub(super) Zeroizing<[u8; 16]>);

impl Key {
    /// The key that Chromium makes of a password.
    pub fn from_password(password: &[u8]) -> Self {
        let mut key = Zeroizing::new([0; 16]);
        pbkdf2::pbkdf2_hmac::<Sha1>(password, b"saltysalt", 1, key.as_mut_slice());
        Self(key)
    }

    /// The key of a browser that reaches no keyring, which is the same everywhere.
    pub fn v10() -> Self {
        Self::from_password(b"peanuts")
    }

    fn decrypt(&self, encrypted: &[u8]) -> Option<Zeroizing<Vec<u8>>> {
        let mut value = Zeroizing::new(encrypted.to_vec());
        let cipher = cbc::Decryptor::<Aes128>::new((&*self.0).into(), &FIRST_BLOCK.into());
        let length = cipher.decrypt_padded::<Pkcs7>(&mut value).ok()?.len();
        value.truncate(length);
        Some(value)
    }
}

/// The keys with which the values of one profile may be encrypted.
pub struct Keys {
    fixed: Key,
    keyring: Option<Key>,
    /// Some browsers encrypted with an empty password when their keyring failed, under either mark.
    empty: Key,
}

impl Keys {
    /// The keys of a profile; `keyring` is the key of the keyring's password, if one is known.
    pub fn new(keyring: Option<Key>) -> Self {
        Self { fixed: Key::v10(), keyring, empty: Key::from_password(b"") }
    }
}

/// Why a value was not opened. Nothing of the value is in it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CryptError {
    /// It is encrypted in a way that we do not know.
    #[error("expected an encrypted value that begins with v10 or v11, found {found}")]
    UnknownForm {
        /// Its mark, such as `v20`, or that it has none.
        found: String,
    },
    /// Its key is one that the desktop gives to the browser alone.
    #[error(
        "expected a value with a key from the keyring, found one with a key from the desktop's \
         secret portal (v12), which gives it to the browser alone"
    )]
    SecretPortal,
    /// The keyring's password is needed, and is not there.
    #[error(
        "expected the keyring's password for a value that is encrypted with it (v11), found none"
    )]
    NoKeyringKey,
    /// None of the keys fits, or the value is damaged.
    #[error("expected a value of this keyring's key, found one that is damaged or of another key")]
    WrongKey,
    /// It was written for another host, so it is not this cookie's.
    #[error("expected a value that was written for this host, found one of another host or key")]
    OtherHost,
    /// It opened to bytes that are no text.
    #[error("expected a value that is UTF-8, found other bytes")]
    NotText,
}

/// Opens the `encrypted_value` of a row whose `host_key` is given, as it stands there. `schema` is
/// the version of the store, from its table `meta`.
pub fn open(
    encrypted: &[u8],
    host_key: &str,
    keys: &Keys,
    schema: u32,
) -> Result<String, CryptError> {
    let Some((mark, rest)) = encrypted.split_at_checked(3) else { return Err(unknown(encrypted)) };
    let key = match mark {
        FIXED => &keys.fixed,
        KEYRING => keys.keyring.as_ref().ok_or(CryptError::NoKeyringKey)?,
        PORTAL => return Err(CryptError::SecretPortal),
        _ => return Err(unknown(mark)),
    };
    let open_with = |key: &Key| open_with(key, rest, host_key, schema);
    open_with(key).or_else(|error| match error {
        CryptError::WrongKey | CryptError::OtherHost => open_with(&keys.empty).map_err(|_| error),
        _ => Err(error),
    })
}

/// Chance makes a wrong key look right for one value in 256; then the host differs.
fn open_with(key: &Key, rest: &[u8], host_key: &str, schema: u32) -> Result<String, CryptError> {
    let value = key.decrypt(rest).ok_or(CryptError::WrongKey)?;
    let text = if schema < FIRST_WITH_HOST {
        &value[..]
    } else {
        let (host, text) = value.split_first_chunk::<32>().ok_or(CryptError::WrongKey)?;
        if host[..] != Sha256::digest(host_key)[..] {
            return Err(CryptError::OtherHost);
        }
        text
    };
    str::from_utf8(text).map(str::to_owned).map_err(|_| CryptError::NotText)
}

/// Shows a mark only if it looks like one: else these bytes may be the value itself.
fn unknown(mark: &[u8]) -> CryptError {
    let found = match mark {
        [b'v', b'0'..=b'9', b'0'..=b'9'] => String::from_utf8_lossy(mark).into_owned(),
        _ => "no mark of a version".to_owned(),
    };
    CryptError::UnknownForm { found }
}

/// Encrypts a value as a browser of today does.
#[cfg(test)]
pub(super) fn seal(mark: &str, key: &Key, host_key: &str, value: &[u8]) -> Vec<u8> {
    use cbc::cipher::BlockModeEncrypt;
    let mut sealed = [&Sha256::digest(host_key)[..], value, &[0; 16]].concat();
    let cipher = cbc::Encryptor::<Aes128>::new((&*key.0).into(), &FIRST_BLOCK.into());
    let sealed = cipher.encrypt_padded::<Pkcs7>(&mut sealed, 32 + value.len()).unwrap();
    [mark.as_bytes(), sealed].concat()
}
