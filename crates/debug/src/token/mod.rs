//! Tokens: by what a browser may tell of a tab.
//!
//! The one idea: a token is a [`Claim`] and a MAC over its exact bytes, `base64url(payload)` + `.` +
//! `base64url(mac)`. Who holds the [`DebugSecret`] can check it without asking anyone. Every kind of
//! claim names its audience, so that none passes as another. The clock and random bytes are arguments.
//!
//! There are two kinds: a page's token is what the header of a navigation brings to the browser's extension, and
//! counts once; with the grant of a tab a browser takes up a tab again that the relay has forgotten.

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use baton_api::UpstreamId;
use baton_api::debug::{EpochMs, TabToken};
use baton_session::Owner;
use baton_session::once::{Once, Twice};
use hkdf::Hkdf;
use hmac::{Hmac, KeyInit, Mac};
use secrecy::{ExposeSecret, SecretString};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use sha2::Sha256;
use std::fs::{File, Permissions};
use std::io::{Read, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};
use std::{fmt, io};
use zeroize::Zeroizing;

/// The longest token.
pub const MAX_TOKEN_BYTES: usize = 4096;

/// Why a token does not count. No text repeats the token.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum TokenError {
    /// Longer than any token.
    #[error("expected a token of at most {MAX_TOKEN_BYTES} bytes, found a longer one")]
    Oversized,
    /// Not both of its parts are there.
    #[error("expected a token of two parts with a dot between them, found a part of one")]
    Truncated,
    /// It was signed with another secret, or not at all.
    #[error(
        "expected a token that this node's proxy signed, found another one\n\
         if they run apart, give both the same HIVE_SECRET"
    )]
    Forged,
    /// It opens something else.
    #[error("expected a token for {expected}, found one for something else")]
    Audience {
        /// What it should be for.
        expected: &'static str,
    },
    /// It was signed in the future.
    #[error(
        "expected a token that counts already, found one of the future\n\
         compare the clocks of the two machines"
    )]
    NotYetValid,
    /// Its time is over.
    #[error(
        "expected a token that still counts, found one whose time has passed\nload the page again"
    )]
    Expired,
    /// It counted before.
    #[error(
        "expected a token for the first time, found one that was used already\nload the page again"
    )]
    Used,
    /// So many were used just now that another one could not be remembered.
    #[error(
        "expected fewer tokens within a minute, found too many to remember\nload the page again later"
    )]
    Crowded,
    /// Another browser got it.
    #[error("expected a token of this browser, found one of another browser\nload the page again")]
    OtherBrowser,
}

/// How far ahead the signer's clock may be.
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

/// The longest path that is kept, in bytes; of a longer one the beginning.
const MAX_PATH: usize = 1024;

/// A page of an upstream service was loaded: its tab may be looked into. Counts once, for a minute.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PageToken {
    /// Whose page.
    pub cocoon: UpstreamId,
    /// To whom the upstream service belongs.
    pub owner: Owner,
    /// The path of the page, without the query.
    pub path: String,
    /// Makes it one of a kind.
    pub nonce: Nonce,
}

impl Claim for PageToken {
    const AUDIENCE: &'static str = "baton debug page";
    const LIFETIME: Duration = Duration::from_mins(1);
}

impl PageToken {
    /// A page of `cocoon` at `path`; a path that is too long is cut.
    pub fn new(cocoon: UpstreamId, owner: Owner, path: &str, nonce: Nonce) -> Self {
        let path = path[..path.floor_char_boundary(MAX_PATH)].to_owned();
        Self { cocoon, owner, path, nonce }
    }

    /// The token's text, for the header.
    pub fn sign(&self, secret: &DebugSecret, now: EpochMs) -> Result<String, TokenError> {
        sign(secret, self, now)
    }

    /// What a token says, the one time that it counts.
    pub fn take(
        secret: &DebugSecret,
        used: &mut UsedNonces,
        token: &str,
        now: EpochMs,
    ) -> Result<Self, TokenError> {
        Self::take_for(secret, used, token, now, |_| Ok(())).map(|(page, ())| page)
    }

    /// The same where something else may refuse it: then it still counts.
    pub fn take_for<T, E: From<TokenError>>(
        secret: &DebugSecret,
        used: &mut UsedNonces,
        token: &str,
        now: EpochMs,
        take: impl FnOnce(&Self) -> Result<T, E>,
    ) -> Result<(Self, T), E> {
        let (page, expires): (Self, _) = verify(secret, token, now)?;
        used.look(&page.nonce)?;
        let place = take(&page)?;
        used.take(&page.nonce, expires, now)?;
        Ok((page, place))
    }
}

/// How many are remembered unless a caller says otherwise: 2000 pages a second, for a minute.
const MOST: usize = 120_000;

/// The nonces that were used, within a bound. What the clock said before does not matter: a token that
/// is good now, and was not used, counts.
#[derive(Debug)]
pub struct UsedNonces(Once<Nonce>);

impl Default for UsedNonces {
    fn default() -> Self {
        Self::new(MOST)
    }
}

impl UsedNonces {
    /// Remembers at most so many.
    pub fn new(most: usize) -> Self {
        Self(Once::new(most))
    }

    /// Uses a nonce; fails when it was used before, or cannot be remembered.
    pub fn take(
        &mut self,
        nonce: &Nonce,
        expires: EpochMs,
        now: EpochMs,
    ) -> Result<(), TokenError> {
        self.look(nonce)?;
        if expires <= now {
            return Err(TokenError::Expired);
        }
        let left = Duration::from_millis(expires.since(now));
        self.0.spend(nonce, left, Instant::now()).map_err(|twice| match twice {
            Twice::Used => TokenError::Used,
            Twice::Crowded => TokenError::Crowded,
        })
    }

    /// Fails when a nonce was used before.
    fn look(&self, nonce: &Nonce) -> Result<(), TokenError> {
        if self.0.is_used(nonce) { Err(TokenError::Used) } else { Ok(()) }
    }
}

/// A browser may tell of a tab. Counts for a day, as often as that browser comes with it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TabGrant {
    /// Which tab.
    pub tab: TabToken,
    /// Whose page was loaded there.
    pub cocoon: UpstreamId,
    /// To whom the upstream service belongs.
    pub owner: Owner,
    /// The browser that got it.
    pub browser: String,
}

impl Claim for TabGrant {
    const AUDIENCE: &'static str = "baton debug tab";
    const LIFETIME: Duration = Duration::from_hours(24);
}

impl TabGrant {
    /// The grant's text, for the browser to keep.
    pub fn sign(&self, secret: &DebugSecret, now: EpochMs) -> Result<String, TokenError> {
        sign(secret, self, now)
    }

    /// What a grant says, when `browser` is the one that got it.
    pub fn open(
        secret: &DebugSecret,
        token: &str,
        browser: &str,
        now: EpochMs,
    ) -> Result<Self, TokenError> {
        let (grant, _): (Self, _) = verify(secret, token, now)?;
        if grant.browser == browser { Ok(grant) } else { Err(TokenError::OtherBrowser) }
    }
}

/// Bytes of a secret.
const LENGTH: usize = 32;
/// What is derived from a shared text is good for this only.
const PURPOSE: &[u8] = b"baton debug token v1";
/// The shortest text that is taken: shorter ones can be guessed from a token.
const SHORTEST: usize = 16;

/// What signs tokens. Wiped from memory when dropped, never shown.
#[derive(Clone)]
pub struct DebugSecret(Zeroizing<[u8; LENGTH]>);

/// A secret that cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum SecretError {
    /// The file cannot be read or written.
    #[error("cannot read or write {}: {source}", path.display())]
    File {
        /// Which file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// The file holds something else.
    #[error(
        "expected 32 bytes in {}, found another number\nremove the file, and a new one is made",
        path.display()
    )]
    Length {
        /// Which file.
        path: PathBuf,
    },
    /// Others than its owner can read the file.
    #[error(
        "expected {} to be private (mode 0600), found mode {mode:04o}\n\
         others may know it: remove the file, and a new one is made", path.display()
    )]
    Exposed {
        /// Which file.
        path: PathBuf,
        /// Its permission bits.
        mode: u32,
    },
    /// The shared text can be guessed.
    #[error("expected HIVE_SECRET to have at least {SHORTEST} bytes, found {found}")]
    TooShort {
        /// How many bytes it has.
        found: usize,
    },
}

impl DebugSecret {
    /// The secret of these bytes.
    pub fn from_bytes(bytes: [u8; LENGTH]) -> Self {
        Self(Zeroizing::new(bytes))
    }

    /// The secret of a text that several programs share (HKDF with SHA-256, RFC 5869).
    pub fn from_text(text: &SecretString) -> Result<Self, SecretError> {
        let text = text.expose_secret().as_bytes();
        if text.len() < SHORTEST {
            return Err(SecretError::TooShort { found: text.len() });
        }
        let mut bytes = Zeroizing::new([0; LENGTH]);
        // It fails for more than 255 times 32 bytes only; a key of zeros must not come of it.
        let derived = Hkdf::<Sha256>::new(None, text).expand(PURPOSE, &mut *bytes);
        derived.map_err(|_| SecretError::TooShort { found: text.len() })?;
        Ok(Self(bytes))
    }

    /// The secret of a file; `random` becomes it when there is none yet. Of two processes that
    /// make it at once, both get the first one's.
    pub fn load_or_create(path: &Path, random: [u8; LENGTH]) -> Result<Self, SecretError> {
        let failed = |source| SecretError::File { path: path.to_owned(), source };
        match load(path) {
            Err(SecretError::File { source, .. }) if source.kind() == io::ErrorKind::NotFound => {}
            done => return done,
        }
        let made = Self::from_bytes(random);
        match create(path, made.bytes()) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => load(path),
            Err(error) => Err(failed(error)),
            Ok(()) => Ok(made),
        }
    }

    fn bytes(&self) -> &[u8; LENGTH] {
        &self.0
    }
}

impl fmt::Debug for DebugSecret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("DebugSecret(***)")
    }
}

fn load(path: &Path) -> Result<DebugSecret, SecretError> {
    let failed = |source| SecretError::File { path: path.to_owned(), source };
    let file = File::open(path).map_err(failed)?;
    let mode = file.metadata().map_err(failed)?.permissions().mode() & 0o7777;
    if mode & 0o077 != 0 {
        return Err(SecretError::Exposed { path: path.to_owned(), mode });
    }
    let mut bytes = Zeroizing::new(Vec::with_capacity(LENGTH + 1));
    file.take(LENGTH as u64 + 1).read_to_end(&mut bytes).map_err(failed)?;
    let exact = bytes.as_slice().try_into().map(DebugSecret::from_bytes);
    exact.map_err(|_| SecretError::Length { path: path.to_owned() })
}

/// Writes beside the place, syncs, and links there, which fails when another process was first.
fn create(path: &Path, bytes: &[u8; LENGTH]) -> io::Result<()> {
    let folder = path.parent().unwrap_or(Path::new("."));
    let mut file =
        tempfile::Builder::new().permissions(Permissions::from_mode(0o600)).tempfile_in(folder)?;
    file.write_all(bytes)?;
    file.as_file().sync_all()?;
    file.persist_noclobber(path).map_err(|error| error.error)?;
    File::open(folder)?.sync_all()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn nonce(number: u8) -> Nonce {
        Nonce::new([number; 16])
    }

    fn at(second: u64) -> EpochMs {
        EpochMs::new(second * 1000)
    }

    #[test]
    fn a_nonce_counts_once() {
        let mut used = UsedNonces::default();
        used.take(&nonce(1), at(60), at(1)).unwrap();
        assert_eq!(used.take(&nonce(1), at(60), at(59)), Err(TokenError::Used));
        used.take(&nonce(2), at(60), at(59)).unwrap();
    }

    #[test]
    fn what_cannot_be_remembered_is_refused() {
        let mut used = UsedNonces::new(2);
        used.take(&nonce(1), at(60), at(1)).unwrap();
        used.take(&nonce(2), at(61), at(2)).unwrap();
        assert_eq!(used.take(&nonce(3), at(62), at(3)), Err(TokenError::Crowded));
        assert_eq!(used.take(&nonce(1), at(60), at(3)), Err(TokenError::Used));
    }

    #[test]
    fn a_clock_that_is_set_back_brings_nothing_back() {
        let mut used = UsedNonces::default();
        used.take(&nonce(1), at(60), at(1)).unwrap();
        used.take(&nonce(2), at(130), at(100)).unwrap();
        assert_eq!(used.take(&nonce(1), at(60), at(2)), Err(TokenError::Used));
    }

    #[test]
    fn a_clock_that_was_ahead_for_a_moment_refuses_nothing_later() {
        let (mut used, day) = (UsedNonces::default(), 86_400);
        used.take(&nonce(1), at(60), at(1)).unwrap();
        used.take(&nonce(2), at(day + 60), at(day)).unwrap();
        used.take(&nonce(3), at(62), at(2)).unwrap();
        assert_eq!(used.take(&nonce(1), at(60), at(3)), Err(TokenError::Used));
    }
}
