//! The keys with which a provider signs, by their ids.
//!
//! The one idea: anybody can send a token that names an unknown key. So such a token makes this node ask the
//! provider, but not more often than every few seconds, however many come.

use super::refusal::TokenRefusal;
use super::{Issuer, Provider, ProviderError, shown};
use baton_net::outbound::Outbound;
use jsonwebtoken::jwk::{AlgorithmParameters, EllipticCurve, Jwk, PublicKeyUse};
use jsonwebtoken::{Algorithm, DecodingKey};
use serde::Deserialize;
use serde_json::Value;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// How long the provider is not asked again.
const PAUSE: Duration = Duration::from_secs(3);
/// How long its keys count without a question.
const FRESH: Duration = Duration::from_hours(1);
/// How long they count while it does not answer.
const OLDEST: Duration = Duration::from_hours(24);
/// How many keys are taken.
const MOST: usize = 100;

/// The keys of a provider.
#[derive(Debug)]
pub(super) struct Keys {
    issuer: Issuer,
    outbound: Outbound,
    known: Mutex<KnownKeys>,
    /// Held by the task that asks the provider.
    asking: tokio::sync::Mutex<Asked>,
}

#[derive(Debug, Default)]
struct KnownKeys {
    keys: HashMap<String, SigningKey>,
    at: Option<Instant>,
}

/// When the provider was asked last, and why it gave nothing.
#[derive(Debug, Default)]
struct Asked {
    at: Option<Instant>,
    failed: Option<ProviderError>,
}

/// A key, and the one way in which it signs.
#[derive(Debug, Clone)]
pub(super) struct SigningKey {
    pub(super) algorithm: Algorithm,
    pub(super) key: Arc<DecodingKey>,
}

#[derive(Deserialize)]
struct Listed {
    keys: Vec<Value>,
}

impl Keys {
    pub(super) fn new(issuer: Issuer, outbound: Outbound) -> Self {
        Self { issuer, outbound, known: Mutex::default(), asking: tokio::sync::Mutex::default() }
    }

    /// The key of this id, for which the provider is asked when that may help.
    pub(super) async fn find(&self, id: &str) -> Result<SigningKey, TokenRefusal> {
        if let Some(key) = self.known(id, FRESH) {
            return Ok(key);
        }
        let mut asked = self.asking.lock().await;
        if let Some(key) = self.known(id, FRESH) {
            return Ok(key);
        }
        let now = Instant::now();
        let wait = asked.at.and_then(|at| (at + PAUSE).checked_duration_since(now));
        if wait.is_none_or(|wait| wait.is_zero()) {
            asked.failed = self.fetch().await.err();
            asked.at = Some(Instant::now());
        }
        if let Some(key) = self.known(id, OLDEST) {
            return Ok(key);
        }
        let found = shown(id);
        Err(match (&asked.failed, wait) {
            (Some(error), _) => TokenRefusal::NoKeys(Box::new(error.clone())),
            (None, Some(wait)) if !wait.is_zero() => TokenRefusal::KeysJustFetched { found, wait },
            (None, _) => TokenRefusal::UnknownKey { found },
        })
    }

    fn known(&self, id: &str, oldest: Duration) -> Option<SigningKey> {
        let known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        let is_recent = known.at.is_some_and(|at| at.elapsed() < oldest);
        known.keys.get(id).filter(|_| is_recent).cloned()
    }

    async fn fetch(&self) -> Result<(), ProviderError> {
        let provider = Provider { outbound: &self.outbound, issuer: &self.issuer };
        let document = provider.document().await?;
        let url = document.jwks_uri;
        let url = url.ok_or_else(|| provider.other("it has no jwks_uri".to_owned()))?;
        let listed: Listed = provider.fetch(&url).await?;
        let keys: HashMap<_, _> = listed.keys.iter().take(MOST).filter_map(read).collect();
        tracing::info!(issuer = %self.issuer, keys = keys.len(), "fetched the provider's keys");
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        *known = KnownKeys { keys, at: Some(Instant::now()) };
        Ok(())
    }
}

/// A key that signs in a way which is taken here; others may stand beside it.
fn read(listed: &Value) -> Option<(String, SigningKey)> {
    let jwk: Jwk = serde_json::from_value(listed.clone()).ok()?;
    let algorithm = match &jwk.algorithm {
        AlgorithmParameters::RSA(_) => Algorithm::RS256,
        AlgorithmParameters::EllipticCurve(curve) if curve.curve == EllipticCurve::P256 => {
            Algorithm::ES256
        }
        _ => return None,
    };
    let name = |algorithm: Algorithm| format!("{algorithm:?}");
    let signs = matches!(jwk.common.public_key_use, None | Some(PublicKeyUse::Signature))
        && jwk.common.key_algorithm.is_none_or(|one| one.to_string() == name(algorithm));
    let key = DecodingKey::from_jwk(&jwk).ok().filter(|_| signs)?;
    Some((jwk.common.key_id?, SigningKey { algorithm, key: Arc::new(key) }))
}

#[cfg(test)]
mod tests {
    use super::read;
    use jsonwebtoken::Algorithm;
    use serde_json::json;

    #[test]
    fn only_public_keys_that_sign_are_taken() {
        let (n, x) = ("sXch2OvN", "f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU");
        let taken = |jwk| read(&jwk).map(|(id, key)| (id, key.algorithm));
        let (rsa, ec) = (Algorithm::RS256, Algorithm::ES256);
        for (jwk, expected) in [
            (json!({"kty": "RSA", "kid": "1", "n": n, "e": "AQAB"}), Some(rsa)),
            (json!({"kty": "RSA", "kid": "1", "n": n, "e": "AQAB", "alg": "RS256"}), Some(rsa)),
            (json!({"kty": "RSA", "kid": "1", "n": n, "e": "AQAB", "use": "enc"}), None),
            (json!({"kty": "RSA", "kid": "1", "n": n, "e": "AQAB", "alg": "PS256"}), None),
            (json!({"kty": "RSA", "n": n, "e": "AQAB"}), None),
            (json!({"kty": "EC", "kid": "1", "crv": "P-256", "x": x, "y": x}), Some(ec)),
            (json!({"kty": "EC", "kid": "1", "crv": "P-384", "x": x, "y": x}), None),
            (json!({"kty": "oct", "kid": "1", "k": "c2VjcmV0"}), None),
            (json!({"kty": "of another world", "kid": "1"}), None),
        ] {
            assert_eq!(taken(jwk.clone()), expected.map(|one| ("1".to_owned(), one)), "{jwk}");
        }
    }
}
