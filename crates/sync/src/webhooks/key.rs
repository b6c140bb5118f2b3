//! What messages to a webhook are signed with, and the signature (Standard Webhooks 1.0.0).

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;
use std::fmt;
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::sync::Arc;
use zeroize::Zeroizing;

/// What stands before the base64.
const PREFIX: &str = "whsec_";
/// How many bytes a key has.
const LENGTHS: std::ops::RangeInclusive<usize> = 24..=64;

/// Where the key of a webhook stands.
#[derive(Debug, Clone)]
pub enum Secret {
    /// In the settings.
    Given(WebhookKey),
    /// In a file, which is read anew each time.
    File(PathBuf),
}

impl Secret {
    /// The key, or why there is none; never what was found in its place.
    pub(super) async fn key(&self) -> Result<WebhookKey, String> {
        match self {
            Self::Given(key) => Ok(key.clone()),
            Self::File(path) => {
                let text = read(path).await;
                let text = text.map_err(|error| format!("its secret cannot be read: {error}"))?;
                text.trim().parse().map_err(|error: InvalidKey| error.to_string())
            }
        }
    }
}

async fn read(path: &Path) -> std::io::Result<Zeroizing<String>> {
    Ok(Zeroizing::new(baton_store::plain::secret(path).await?))
}

/// A key: 24 to 64 bytes.
#[derive(Clone)]
pub struct WebhookKey(Arc<Zeroizing<[u8; 64]>>);

/// A text that is no key.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("expected a secret of {PREFIX} and 24 to 64 bytes in base64, found another text")]
pub struct InvalidKey;

impl FromStr for WebhookKey {
    type Err = InvalidKey;

    fn from_str(text: &str) -> Result<Self, InvalidKey> {
        let encoded = text.strip_prefix(PREFIX).unwrap_or(text);
        let bytes = Zeroizing::new(STANDARD.decode(encoded).map_err(|_| InvalidKey)?);
        if !LENGTHS.contains(&bytes.len()) {
            return Err(InvalidKey);
        }
        // HMAC fills a short key up with zeros to the size of its blocks (RFC 2104).
        let mut block = Zeroizing::new([0; 64]);
        block[..bytes.len()].copy_from_slice(&bytes);
        Ok(Self(Arc::new(block)))
    }
}

impl fmt::Debug for WebhookKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("WebhookKey(…)")
    }
}

impl WebhookKey {
    /// The value of `webhook-signature` for a message with this id that is sent at this second.
    pub(super) fn sign(&self, id: &str, at: i64, body: &[u8]) -> String {
        let mut mac = Hmac::<Sha256>::new((&**self.0).into());
        mac.update(format!("{id}.{at}.").as_bytes());
        mac.update(body);
        format!("v1,{}", STANDARD.encode(mac.finalize().into_bytes()))
    }
}

#[cfg(test)]
mod tests {
    use super::{InvalidKey, WebhookKey};

    /// The example of the libraries of Standard Webhooks.
    #[test]
    fn a_signature_is_what_the_standard_says() {
        let key: WebhookKey = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw".parse().unwrap();
        let body = br#"{"test": 2432232314}"#;
        let signed = key.sign("msg_p5jXN8AQM9LWM0D4loKWxJek", 1_614_265_330, body);
        assert_eq!(signed, "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=");
        assert!(!format!("{key:?}").contains("MfKQ"));
    }

    #[test]
    fn a_key_is_neither_short_nor_long_nor_another_text() {
        for bad in ["whsec_", "whsec_c2hvcnQ=", "not base64!", &"A".repeat(88)] {
            assert_eq!(bad.parse::<WebhookKey>().unwrap_err(), InvalidKey, "{bad}");
        }
    }
}
