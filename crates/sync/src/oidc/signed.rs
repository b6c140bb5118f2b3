//! What a provider has signed, and for whom it is: the one way in which a token is read here.
//!
//! The one idea: nothing that a token says of itself is believed before its signature is good, but for
//! who gave it out and which key it names; and these only tell which key it is checked with.

use super::keys::{Keys, SigningKey};
use super::refusal::TokenRefusal;
use super::{Issuer, shown};
use baton_net::outbound::Outbound;
use jiff::Timestamp;
use jsonwebtoken::dangerous::insecure_decode_claims;
use jsonwebtoken::errors::ErrorKind;
use jsonwebtoken::{Algorithm, Validation, decode, decode_header};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use std::time::Duration;

/// The longest token, in bytes.
const LONGEST: usize = 16 << 10;

/// The tokens that one provider has signed for one of these audiences.
#[derive(Debug)]
pub(super) struct SignedTokens {
    issuer: Issuer,
    /// For whom they are: one of these.
    audiences: Vec<String>,
    /// How far the provider's clock may be from ours.
    leeway: Duration,
    keys: Keys,
}

/// What every token says.
#[derive(Debug, Default, Deserialize)]
struct RegisteredClaims {
    #[serde(default)]
    iss: Option<String>,
    #[serde(default)]
    aud: Texts,
    #[serde(default)]
    exp: Option<f64>,
    #[serde(default)]
    nbf: Option<f64>,
}

impl SignedTokens {
    /// Those of this provider, which is asked for its keys where `outbound` allows it.
    pub(super) fn new(
        issuer: Issuer,
        audiences: Vec<String>,
        leeway: Duration,
        outbound: Outbound,
    ) -> Self {
        let keys = Keys::new(issuer.clone(), outbound);
        Self { issuer, audiences, leeway, keys }
    }

    /// What this token says, which the provider has signed, and which counts now and here.
    pub(super) async fn read<T: DeserializeOwned>(&self, token: &str) -> Result<T, TokenRefusal> {
        let id = self.key_id(token)?;
        let key = self.keys.find(&id).await?;
        self.verify(token, &key)
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
        let claims: RegisteredClaims =
            insecure_decode_claims(token).map_err(|_| TokenRefusal::Unreadable)?;
        let expected = self.issuer.to_string();
        if claims.iss.as_ref() != Some(&expected) {
            let found = claims.iss.map_or_else(|| "nobody".to_owned(), |iss: String| shown(&iss));
            return Err(TokenRefusal::Issuer { expected, found });
        }
        header.kid.ok_or_else(|| TokenRefusal::UnknownKey { found: "without a name".to_owned() })
    }

    /// What a token says that the provider has signed, and that counts now and here.
    fn verify<T: DeserializeOwned>(
        &self,
        token: &str,
        key: &SigningKey,
    ) -> Result<T, TokenRefusal> {
        let mut expected = Validation::new(key.algorithm);
        expected.leeway = self.leeway.as_secs();
        expected.validate_nbf = true;
        expected.set_issuer(&[self.issuer.as_str()]);
        expected.set_audience(&self.audiences);
        expected.set_required_spec_claims(&["exp", "iss", "aud"]);
        let refused = |error: jsonwebtoken::errors::Error| self.refused(token, error.kind());
        Ok(decode::<T>(token, &key.key, &expected).map_err(refused)?.claims)
    }

    /// Why a token does not count. The library looks at what it says after its signature, so all but
    /// the first three are said of one that the provider has signed.
    fn refused(&self, token: &str, kind: &ErrorKind) -> TokenRefusal {
        let claims: RegisteredClaims = insecure_decode_claims(token).unwrap_or_default();
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
                let expected = self.audiences.join(" or ");
                TokenRefusal::Audience { expected, found: claims.aud.shown() }
            }
            _ => TokenRefusal::Unreadable,
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
    pub(super) fn list(&self) -> &[String] {
        match self {
            Self::One(text) => std::slice::from_ref(text),
            Self::Many(texts) => texts,
            Self::None => &[],
        }
    }

    /// As a refusal shows it.
    fn shown(&self) -> String {
        match self.list() {
            [] => "none".to_owned(),
            texts => shown(&texts.join(", ")),
        }
    }
}
