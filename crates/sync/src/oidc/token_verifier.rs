//! Lets in peers that show a good token.
//!
//! The one idea: nothing that a token says of itself is believed before its signature is good, but for
//! who gave it out and which key it names; and these only tell which key it is checked with.

use super::keys::{Claims, Keys, SigningKey, shown};
use super::provider::Issuer;
use super::refusal::{Strangers, TokenRefusal};
use baton_net::outbound::Outbound;
use baton_session::Owner;
use jiff::Timestamp;
use jsonwebtoken::dangerous::insecure_decode_claims;
use jsonwebtoken::errors::ErrorKind;
use jsonwebtoken::{Algorithm, Validation, decode, decode_header};
use std::sync::Arc;
use std::time::Duration;

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
