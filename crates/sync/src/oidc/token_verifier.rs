//! Lets in peers that show a good token: the keys with which a provider signs, by their ids, and what a
//! token says that is signed with one.
//!
//! The one idea: nothing that a token says of itself is believed before its signature is good, but for
//! who gave it out and which key it names; and these only tell which key it is checked with.
//!
//! Anybody can send a token that names an unknown key. So such a token makes this node ask the
//! provider, but not more often than every few seconds, however many come.

use super::refusal::{Strangers, TokenRefusal};
use super::{Issuer, Provider, ProviderError};
use baton_net::outbound::Outbound;
use baton_session::Owner;
use jiff::Timestamp;
use jsonwebtoken::dangerous::insecure_decode_claims;
use jsonwebtoken::errors::ErrorKind;
use jsonwebtoken::jwk::{AlgorithmParameters, EllipticCurve, Jwk, PublicKeyUse};
use jsonwebtoken::{Algorithm, DecodingKey, Validation, decode, decode_header};
use serde::Deserialize;
use serde_json::Value;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// The longest token, in bytes.
const LONGEST: usize = 16 << 10;
/// The longest name of a client, in bytes.
const CLIENT_MAX: usize = 200;

/// Which tokens open this node to others, and in whose name their nodes ask.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OidcSettings {
    /// Who gives them out.
    pub issuer: Issuer,
    /// The tenant of Entra ID to which they belong; none looks at no tenant.
    pub tenant: Option<String>,
    /// For whom they are: one of these.
    pub audiences: Vec<String>,
    /// To whom they were given: one of these clients.
    pub allowed_clients: Vec<String>,
    /// What they allow: all of these, each a role or a scope.
    pub roles: Vec<String>,
    /// Whose sessions their nodes exchange.
    pub owner: Owner,
    /// How far the provider's clock may be from ours.
    pub leeway: Duration,
}

/// The verifier of a node. Cheap to clone.
#[derive(Debug, Clone)]
pub struct TokenVerifier(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    settings: OidcSettings,
    keys: Keys,
    strangers: Strangers,
}

/// Who showed a good token.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Visitor {
    /// The client, as the provider names it.
    pub client: String,
    /// The provider.
    pub issuer: String,
    /// In whose name it asks.
    pub owner: Owner,
}

impl TokenVerifier {
    /// The verifier that these settings make; the provider is asked where `outbound` allows it.
    pub fn new(settings: OidcSettings, outbound: Outbound) -> Self {
        let keys = Keys::new(settings.issuer.clone(), outbound);
        Self(Arc::new(Inner { settings, keys, strangers: Strangers::default() }))
    }

    /// In whose name nodes ask that show a token.
    pub fn owner(&self) -> &Owner {
        &self.0.settings.owner
    }

    /// Whether the settings let a client in.
    pub(crate) fn allows(&self, client: &str) -> bool {
        self.0.settings.allowed_clients.iter().any(|allowed| allowed == client)
    }

    /// Counts refusals of tokens from unknown senders; see `Strangers::note`.
    pub fn stranger(&self) -> Option<u64> {
        self.0.strangers.note()
    }

    /// Who shows this token.
    pub async fn check(&self, token: &str) -> Result<Visitor, TokenRefusal> {
        let id = self.key_id(token)?;
        let key = self.0.keys.find(&id).await?;
        let claims = self.verify(token, &key)?;
        let client = self.admitted(&claims)?;
        let settings = &self.0.settings;
        let (issuer, owner) = (settings.issuer.to_string(), settings.owner.clone());
        Ok(Visitor { client, issuer, owner })
    }

    /// With which key it says that it is signed.
    fn key_id(&self, token: &str) -> Result<String, TokenRefusal> {
        if token.len() > LONGEST {
            return Err(TokenRefusal::Unreadable);
        }
        let header = decode_header(token).map_err(|_| unreadable(token))?;
        if !matches!(header.alg, Algorithm::RS256 | Algorithm::ES256) {
            return Err(TokenRefusal::Algorithm { found: format!("{:?}", header.alg) });
        }
        // What has to be understood and is not makes a token another one (RFC 7515, section 4.1.11).
        if header.crit.is_some() {
            return Err(TokenRefusal::Algorithm {
                found: "one with critical extensions".to_owned(),
            });
        }
        let claims: Claims = insecure_decode_claims(token).map_err(|_| TokenRefusal::Unreadable)?;
        let expected = self.0.settings.issuer.to_string();
        if claims.iss.as_ref() != Some(&expected) {
            let found = claims.iss.map_or_else(|| "nobody".to_owned(), |iss: String| shown(&iss));
            return Err(TokenRefusal::Issuer { expected, found });
        }
        header.kid.ok_or_else(|| TokenRefusal::UnknownKey { found: "without a name".to_owned() })
    }

    /// What a token says that the provider has signed, and that counts now and here.
    fn verify(&self, token: &str, key: &SigningKey) -> Result<Claims, TokenRefusal> {
        let settings = &self.0.settings;
        let mut expected = Validation::new(key.algorithm);
        expected.leeway = settings.leeway.as_secs();
        expected.validate_nbf = true;
        expected.set_issuer(&[settings.issuer.as_str()]);
        expected.set_audience(&settings.audiences);
        expected.set_required_spec_claims(&["exp", "iss", "aud"]);
        let refused = |error: jsonwebtoken::errors::Error| self.refused(token, error.kind());
        Ok(decode::<Claims>(token, &key.key, &expected).map_err(refused)?.claims)
    }

    /// Why a token does not count. The library looks at what it says after its signature, so all but
    /// the first three are said of one that the provider has signed.
    fn refused(&self, token: &str, kind: &ErrorKind) -> TokenRefusal {
        let claims: Claims = insecure_decode_claims(token).unwrap_or_default();
        let now = || instant(Some(baton_store::clock::now()));
        let read = |seconds: Option<f64>| instant(seconds.and_then(at));
        match kind {
            ErrorKind::InvalidSignature => TokenRefusal::Signature,
            ErrorKind::InvalidAlgorithm => {
                TokenRefusal::Algorithm { found: "another way than its key has".to_owned() }
            }
            ErrorKind::ExpiredSignature => {
                TokenRefusal::Expired { found: read(claims.exp), now: now() }
            }
            ErrorKind::ImmatureSignature => {
                TokenRefusal::NotYet { found: read(claims.nbf), now: now() }
            }
            ErrorKind::MissingRequiredClaim(name) if name == "exp" => {
                TokenRefusal::Expired { found: "no time that it names".to_owned(), now: now() }
            }
            ErrorKind::InvalidAudience | ErrorKind::MissingRequiredClaim(_) => {
                let expected = self.0.settings.audiences.join(" or ");
                TokenRefusal::Audience { expected, found: claims.aud.shown() }
            }
            _ => TokenRefusal::Unreadable,
        }
    }

    /// The client of a token, if it is let in.
    fn admitted(&self, claims: &Claims) -> Result<String, TokenRefusal> {
        let settings = &self.0.settings;
        let of = |text: Option<&str>| text.map_or_else(|| "none".to_owned(), shown);
        if let Some(expected) = &settings.tenant
            && claims.tid.as_ref() != Some(expected)
        {
            let found = of(claims.tid.as_deref());
            return Err(TokenRefusal::Tenant { expected: expected.clone(), found });
        }
        let client = claims.client().filter(|client| client.len() <= CLIENT_MAX);
        let Some(client) = client.filter(|client| self.allows(client)) else {
            return Err(TokenRefusal::Client { found: of(client) });
        };
        match settings.roles.iter().find(|role| !claims.allows(role)) {
            None => Ok(client.to_owned()),
            Some(missing) => {
                let found = claims.allowed().collect::<Vec<_>>().join(", ");
                let found = if found.is_empty() { "none".to_owned() } else { shown(&found) };
                Err(TokenRefusal::Role { expected: missing.clone(), found })
            }
        }
    }
}

/// Why a header cannot be read. The library knows no algorithm that proves nothing, such as `none`.
fn unreadable(token: &str) -> TokenRefusal {
    use base64::Engine as _;
    let header = token.split('.').next().unwrap_or_default();
    let read = || {
        let bytes = base64::engine::general_purpose::URL_SAFE_NO_PAD.decode(header).ok()?;
        let header: serde_json::Value = serde_json::from_slice(&bytes).ok()?;
        Some(shown(header.get("alg")?.as_str()?))
    };
    read().map_or(TokenRefusal::Unreadable, |found| TokenRefusal::Algorithm { found })
}

fn at(seconds: f64) -> Option<Timestamp> {
    // What is out of the range of instants is none.
    #[allow(clippy::cast_possible_truncation, reason = "it saturates, and instants end sooner")]
    Timestamp::from_second(seconds as i64).ok()
}

fn instant(at: Option<Timestamp>) -> String {
    let whole = |at: Timestamp| Timestamp::from_second(at.as_second()).unwrap_or(at).to_string();
    at.map_or_else(|| "no time that can be read".to_owned(), whole)
}

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

/// The longest text of a token that is repeated, in characters.
const SHOWN: usize = 120;

/// What is looked at in a token.
#[derive(Debug, Default, Deserialize)]
pub(super) struct Claims {
    #[serde(default)]
    pub(super) iss: Option<String>,
    #[serde(default)]
    pub(super) aud: Texts,
    #[serde(default)]
    pub(super) exp: Option<f64>,
    #[serde(default)]
    pub(super) nbf: Option<f64>,
    /// The tenant, as Entra ID names it.
    #[serde(default)]
    pub(super) tid: Option<String>,
    /// The client: in tokens of Entra ID's second version, of its first, and of others (RFC 9068).
    #[serde(default)]
    azp: Option<String>,
    #[serde(default)]
    appid: Option<String>,
    #[serde(default)]
    client_id: Option<String>,
    #[serde(default)]
    roles: Texts,
    /// Scopes, as Entra ID names them and as others do.
    #[serde(default)]
    scp: Texts,
    #[serde(default)]
    scope: Texts,
}

/// A text, or a list of them.
#[derive(Debug, Default, Deserialize)]
#[serde(untagged)]
pub(super) enum Texts {
    One(String),
    Many(Vec<String>),
    #[default]
    None,
}

impl Texts {
    fn list(&self) -> &[String] {
        match self {
            Self::One(text) => std::slice::from_ref(text),
            Self::Many(texts) => texts,
            Self::None => &[],
        }
    }

    /// As a refusal shows it.
    pub(super) fn shown(&self) -> String {
        match self.list() {
            [] => "none".to_owned(),
            texts => shown(&texts.join(", ")),
        }
    }
}

impl Claims {
    /// To whom the token was given; none when no client is named, or more than one.
    pub(super) fn client(&self) -> Option<&str> {
        let mut named = [&self.azp, &self.appid, &self.client_id].into_iter().flatten();
        let first = named.next()?;
        named.all(|other| other == first).then_some(first)
    }

    /// Whether it has this role or scope.
    pub(super) fn allows(&self, needed: &str) -> bool {
        self.allowed().any(|one| one == needed)
    }

    /// Its roles and scopes.
    pub(super) fn allowed(&self) -> impl Iterator<Item = &str> {
        let scopes = self.scp.list().iter().chain(self.scope.list());
        let scopes = scopes.flat_map(|scopes| scopes.split_ascii_whitespace());
        self.roles.list().iter().map(String::as_str).chain(scopes)
    }
}

/// A text of a token on one line, and not an essay.
pub(super) fn shown(text: &str) -> String {
    text.chars().filter(|c| !c.is_control()).take(SHOWN).collect()
}

#[cfg(test)]
mod tests {
    use super::{Claims, read};
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

    #[test]
    fn clients_are_found_by_whatever_name_they_have() {
        for (claims, client) in [
            (json!({"azp": "a"}), Some("a")),
            (json!({"appid": "a", "azp": "a"}), Some("a")),
            (json!({"client_id": "a"}), Some("a")),
            (json!({"client_id": "a", "azp": "b"}), None),
            (json!({}), None),
        ] {
            let read: Claims = serde_json::from_value(claims.clone()).unwrap();
            assert_eq!(read.client(), client, "{claims}");
        }
    }

    #[test]
    fn roles_and_scopes_allow_alike() {
        let read = |claims| serde_json::from_value::<Claims>(claims).unwrap();
        assert!(read(json!({"roles": ["Sync", "Other"]})).allows("Sync"));
        assert!(read(json!({"scp": "other Sync"})).allows("Sync"));
        assert!(read(json!({"scope": "Sync"})).allows("Sync"));
        assert!(!read(json!({"scope": "Synchronous", "roles": ["Sync it"]})).allows("Sync"));
        assert!(!read(json!({})).allows("Sync"));
    }
}
