//! Signing a claim, and checking one.

use super::error::{MAX_TOKEN_BYTES, TokenError};
use super::secret::DebugSecret;
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use baton_api::debug::EpochMs;
use hmac::{Hmac, KeyInit, Mac};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use sha2::Sha256;
use std::time::Duration;
use zeroize::Zeroizing;

/// How far ahead the clock of whoever signs may be.
const SKEW_MS: u64 = 30_000;

/// What a token says.
pub trait Claim: Serialize + DeserializeOwned {
    /// What it is for: no other kind of claim says the same.
    const AUDIENCE: &'static str;
    /// How long it counts.
    const LIFETIME: Duration;
}

/// A claim on its way out.
#[derive(Serialize)]
struct Outgoing<'a, C> {
    audience: &'static str,
    issued: EpochMs,
    expires: EpochMs,
    #[serde(flatten)]
    claim: &'a C,
}

/// What every claim says.
#[derive(Deserialize)]
struct Head {
    audience: String,
    issued: EpochMs,
    expires: EpochMs,
}

/// A token that says `claim`, from `now` for as long as its kind counts.
pub fn sign<C: Claim>(secret: &DebugSecret, claim: &C, now: EpochMs) -> Result<String, TokenError> {
    let lifetime = u64::try_from(C::LIFETIME.as_millis()).unwrap_or(u64::MAX);
    let expires = EpochMs::new(now.get().saturating_add(lifetime));
    let outgoing = Outgoing { audience: C::AUDIENCE, issued: now, expires, claim };
    // Claims are of texts and numbers, which always become JSON.
    let payload = serde_json::to_vec(&outgoing).map_err(|_| TokenError::Oversized)?;
    let payload = URL_SAFE_NO_PAD.encode(payload);
    let mac = URL_SAFE_NO_PAD.encode(mac(secret, &payload).finalize().into_bytes());
    let token = format!("{payload}.{mac}");
    if token.len() > MAX_TOKEN_BYTES { Err(TokenError::Oversized) } else { Ok(token) }
}

/// What a token says, and until when. Nothing of it is read before its MAC was compared.
pub fn verify<C: Claim>(
    secret: &DebugSecret,
    token: &str,
    now: EpochMs,
) -> Result<(C, EpochMs), TokenError> {
    if token.len() > MAX_TOKEN_BYTES {
        return Err(TokenError::Oversized);
    }
    let (payload, signature) = token.split_once('.').ok_or(TokenError::Truncated)?;
    if payload.is_empty() || signature.is_empty() {
        return Err(TokenError::Truncated);
    }
    let signature = URL_SAFE_NO_PAD.decode(signature).map_err(|_| TokenError::Forged)?;
    mac(secret, payload).verify_slice(&signature).map_err(|_| TokenError::Forged)?;
    let payload = URL_SAFE_NO_PAD.decode(payload).map_err(|_| TokenError::Forged)?;
    let audience = TokenError::Audience { expected: C::AUDIENCE };
    let head: Head = serde_json::from_slice(&payload).map_err(|_| audience)?;
    if head.audience != C::AUDIENCE {
        return Err(audience);
    }
    if head.issued.since(now) > SKEW_MS {
        return Err(TokenError::NotYetValid);
    }
    if now >= head.expires {
        return Err(TokenError::Expired);
    }
    let claim = serde_json::from_slice(&payload).map_err(|_| audience)?;
    Ok((claim, head.expires))
}

fn mac(secret: &DebugSecret, payload: &str) -> Hmac<Sha256> {
    // HMAC fills a short key up with zeros to the size of its blocks (RFC 2104).
    let mut block = Zeroizing::new([0; 64]);
    block[..secret.bytes().len()].copy_from_slice(secret.bytes());
    let mut mac = Hmac::<Sha256>::new((&*block).into());
    mac.update(payload.as_bytes());
    mac
}
