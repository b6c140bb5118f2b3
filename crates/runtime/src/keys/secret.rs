//! The secret of an API key: `baton_` and 43 characters, the base64url of 32 random bytes.
//!
//! The database knows only its SHA-256. A key is looked up by that hash, so the time a look-up
//! takes says nothing about the secrets that exist; and 256 random bits need no slow hash.

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use secrecy::{ExposeSecret, SecretString};
use sha2::{Digest, Sha256};

/// What every secret begins with, so that scanners for leaked secrets can find it.
const PREFIX: &str = "baton_";

/// The secret of a key.
#[derive(Debug, Clone)]
pub struct KeySecret(SecretString);

impl KeySecret {
    /// A new one.
    pub fn generate() -> Self {
        let bytes: [u8; 32] = rand::random();
        Self(format!("{PREFIX}{}", URL_SAFE_NO_PAD.encode(bytes)).into())
    }

    /// Reads one; `None` when the text does not have the form of a secret.
    pub fn parse(text: &str) -> Option<Self> {
        let random = URL_SAFE_NO_PAD.decode(text.strip_prefix(PREFIX)?).ok()?;
        (random.len() == 32).then(|| Self(text.to_owned().into()))
    }

    /// Whether one stands anywhere in these bytes, whatever surrounds it.
    pub fn stands_in(bytes: &[u8]) -> bool {
        bytes.windows(PREFIX.len()).any(|found| found == PREFIX.as_bytes())
    }

    /// What the database knows of it.
    pub fn hash(&self) -> [u8; 32] {
        Sha256::digest(self.0.expose_secret().as_bytes()).into()
    }

    /// The text, for the one time that it is shown or written.
    pub fn expose(&self) -> &str {
        self.0.expose_secret()
    }
}
