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

/// From this version of the cookie store on, a value follows the SHA-256 of its host.
const FIRST_WITH_HOST: u32 = 24;

/// Each value is encrypted with the same initial block.
const FIRST_BLOCK: [u8; 16] = [b' '; 16];

/// What a value is encrypted with; gone from memory when dropped.
pub struct EncryptionKey(pub(super) Zeroizing<[u8; 16]>);

impl EncryptionKey {
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
    fixed: EncryptionKey,
    keyring: Option<EncryptionKey>,
    /// Some browsers encrypted with an empty password when their keyring failed, under either mark.
    empty: EncryptionKey,
}

impl Keys {
    /// The keys of a profile; `keyring` is the key of the keyring's password, if one is known.
    pub fn new(keyring: Option<EncryptionKey>) -> Self {
        Self { fixed: EncryptionKey::v10(), keyring, empty: EncryptionKey::from_password(b"") }
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
    let open_with = |key: &EncryptionKey| open_with(key, rest, host_key, schema);
    open_with(key).or_else(|error| match error {
        CryptError::WrongKey | CryptError::OtherHost => open_with(&keys.empty).map_err(|_| error),
        _ => Err(error),
    })
}

/// Chance makes a wrong key look right for one value in 256; then the host differs.
fn open_with(
    key: &EncryptionKey,
    rest: &[u8],
    host_key: &str,
    schema: u32,
) -> Result<String, CryptError> {
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
pub(super) fn seal(mark: &str, key: &EncryptionKey, host_key: &str, value: &[u8]) -> Vec<u8> {
    use cbc::cipher::BlockModeEncrypt;
    let mut sealed = [&Sha256::digest(host_key)[..], value, &[0; 16]].concat();
    let cipher = cbc::Encryptor::<Aes128>::new((&*key.0).into(), &FIRST_BLOCK.into());
    let sealed = cipher.encrypt_padded::<Pkcs7>(&mut sealed, 32 + value.len()).unwrap();
    [mark.as_bytes(), sealed].concat()
}

#[cfg(test)]
mod tests {
    // Values that another implementation encrypted, and what must hold for any bytes.

    use super::{CryptError, EncryptionKey, Keys, open, seal};
    use baton_testing::cases;
    use proptest::prelude::*;

    const HOST: &str = ".app.test";
    const PASSWORD: &[u8] = b"bG9yZW0gaXBzdW0gZA==";

    /// `kept` for `.app.test` with the fixed password, behind its host.
    const FIXED: &str = "763130\
    50b7baa9c2ab6dd45558ad28b4b238bb022b8be9ab5c56e2a3c04f19347d4116\
    3d4de5557d90c1d6158c9e5e99674957";
    /// `grüße` for `.app.test` with `PASSWORD`, behind its host.
    const KEYRING: &str = "763131\
    b7c754af45f8a9b8b178410c609c85cb892c9a78a205fd5aed50488289813daf\
    f12ad91c635e4c6bceddbe6a35fb5314";
    /// `kept` with `PASSWORD`, without a host.
    const OLD: &str = "7631311c68f961e01316533f02bd6b4a3f971b";
    /// `kept` for `.app.test` with an empty password, behind its host.
    const EMPTY: &str = "763131\
    ec2145d5472f4a7c15c272ee4d0a2b56999d7cb8c50383b31139b98713e76935\
    a0f490161cc8b44c861caae06facd6f7";

    fn bytes(hex: &str) -> Vec<u8> {
        let digits: Vec<char> = hex.chars().collect();
        let byte =
            |pair: &[char]| u8::from_str_radix(&pair.iter().collect::<String>(), 16).unwrap();
        digits.chunks(2).map(byte).collect()
    }

    fn keys() -> Keys {
        Keys::new(Some(EncryptionKey::from_password(PASSWORD)))
    }

    #[test]
    fn keys_are_those_of_chromium() {
        // Both stand in its source, as what they are and as what they are made of.
        let expected = bytes("fd621fe5a2b402539dfa147ca9272778");
        assert_eq!(EncryptionKey::v10().0.as_slice(), expected);
        let expected = bytes("d0d0ec9c7d77d43ac54187fa4818d17f");
        assert_eq!(EncryptionKey::from_password(b"").0.as_slice(), expected);
    }

    #[test]
    fn values_of_each_form_open() {
        let keys = keys();
        assert_eq!(open(&bytes(FIXED), HOST, &keys, 24).unwrap(), "kept");
        assert_eq!(open(&bytes(KEYRING), HOST, &keys, 24).unwrap(), "grüße");
        assert_eq!(open(&bytes(OLD), HOST, &keys, 23).unwrap(), "kept");
        assert_eq!(open(&bytes(EMPTY), HOST, &keys, 24).unwrap(), "kept");
        assert_eq!(open(&bytes(FIXED), HOST, &Keys::new(None), 24).unwrap(), "kept");
    }

    #[test]
    fn what_does_not_open_says_why() {
        let (keys, none) = (keys(), Keys::new(None));
        let refused = |value: &[u8], host, keys| open(value, host, keys, 24).unwrap_err();
        assert_eq!(refused(&bytes(KEYRING), ".evil.test", &keys), CryptError::OtherHost);
        assert_eq!(refused(&bytes(KEYRING), HOST, &none), CryptError::NoKeyringKey);
        let other = Keys::new(Some(EncryptionKey::from_password(b"other")));
        assert_eq!(refused(&bytes(KEYRING), HOST, &other), CryptError::WrongKey);
        assert_eq!(refused(&bytes(KEYRING)[..40], HOST, &keys), CryptError::WrongKey);
        assert_eq!(refused(b"v11", HOST, &keys), CryptError::WrongKey);
        // Without a host in front, a value of today's form is too short.
        assert_eq!(refused(&bytes(OLD), HOST, &keys), CryptError::WrongKey);
        assert_eq!(refused(b"v12rest", HOST, &keys), CryptError::SecretPortal);
        let latin = seal("v11", &EncryptionKey::from_password(PASSWORD), HOST, b"gr\xfc");
        assert_eq!(refused(&latin, HOST, &keys), CryptError::NotText);
    }

    #[test]
    fn an_unknown_mark_is_named_and_a_bare_value_is_not() {
        let found = |value: &[u8]| match open(value, HOST, &keys(), 24).unwrap_err() {
            CryptError::UnknownForm { found } => found,
            other => panic!("expected an unknown form, found {other}"),
        };
        assert_eq!(found(b"v20rest"), "v20");
        for bare in ["", "v1", "secret", "vin"] {
            assert_eq!(found(bare.as_bytes()), "no mark of a version");
        }
    }

    proptest! {
        #![proptest_config(cases(256))]

        #[test]
        fn what_was_sealed_opens_for_its_host_alone(
            password: Vec<u8>, host in "[a-z.]{1,20}", value in ".{0,100}", fixed: bool,
        ) {
            let key = if fixed { EncryptionKey::v10() } else { EncryptionKey::from_password(&password) };
            let mark = if fixed { "v10" } else { "v11" };
            let sealed = seal(mark, &key, &host, value.as_bytes());
            let keys = Keys::new(Some(EncryptionKey::from_password(&password)));
            prop_assert_eq!(open(&sealed, &host, &keys, 24), Ok(value));
            prop_assert_eq!(open(&sealed, "other0", &keys, 24), Err(CryptError::OtherHost));
        }

        #[test]
        fn no_bytes_are_too_odd(
            mark in "v1[0-3]|", rest: Vec<u8>, host: String, schema in 20_u32..30,
        ) {
            let value = [mark.as_bytes(), &rest].concat();
            let _ = open(&value, &host, &keys(), schema);
        }

        #[test]
        fn a_value_that_was_changed_does_not_open_to_another_of_today(
            at in 0_usize..32, change in 1_u8..,
        ) {
            let mut sealed = bytes(KEYRING);
            sealed[3 + at] ^= change;
            prop_assert!(open(&sealed, HOST, &keys(), 24).is_err());
        }
    }
}
