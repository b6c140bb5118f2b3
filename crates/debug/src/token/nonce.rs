//! What makes a token one of a kind.

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde::{Deserialize, Serialize};
use std::fmt;

/// What makes a token one of a kind: 16 random bytes in base64url.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Nonce(String);

impl Nonce {
    /// A nonce of random bytes.
    pub fn new(random: [u8; 16]) -> Self {
        Self(URL_SAFE_NO_PAD.encode(random))
    }
}

/// It is a part of a secret.
impl fmt::Debug for Nonce {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Nonce(***)")
    }
}
