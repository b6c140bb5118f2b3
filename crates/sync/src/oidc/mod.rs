//! Tokens of a provider that speaks `OpenID` Connect, such as Entra ID: those that this node gets to be
//! let in at a peer, and those that nodes show here.
//!
//! The one idea: a token says who may talk, never who wrote something. It opens nothing but what nodes
//! ask each other, and those messages are signed by a key that is pinned. People who sign in at a provider show no
//! token here: they come back with a code, and get a page.
//!
//! Rooms: a provider gives tokens out; `client` gets one there, and keeps it for as long as it is good; `signed` reads
//! what a provider signed, by its `keys`; `token_verifier` lets in the peers that show a good one, with a `refusal` for
//! all others. `sign_in` sends people there and hears who has come back, and `people` says in whose name they come.
//!
//! A provider's name, the issuer, is also the address where it says who it is, and it counts letter by
//! letter. A token, the settings and what the provider says of itself must have the same text, so it is kept
//! as it was written.

mod client;
mod keys;
mod people;
mod refusal;
mod sign_in;
mod signed;
mod token_verifier;

pub use client::Tokens;
pub(crate) use client::{OidcClient, Token};
pub use people::{ClientSecret, Person, Rule, RuleId, SignInSettings};
pub use refusal::TokenRefusal;
pub use sign_in::{Arrival, Departure, KeptDeparture, SignIn, SignInRefusal};
pub use token_verifier::{OidcSettings, TokenVerifier, Visitor};

use baton_net::WayError;
use baton_net::outbound::{Outbound, Reach, SMALL_MAX, bounded, client, is_loopback, said};
use reqwest::RequestBuilder;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use std::fmt;
use std::str::FromStr;
use std::time::Duration;
use url::Url;

/// The longest name, in bytes.
const LONGEST: usize = 1024;

/// The name of a provider.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Issuer {
    text: String,
    url: Url,
}

/// A text that names no provider. What was found may hold a password, and is not repeated.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("expected the address of a provider such as https://login.microsoftonline.com/TENANT/v2.0")]
pub struct InvalidIssuer;

impl Issuer {
    /// Entra ID, as it names itself in the tokens of a tenant.
    pub fn entra(tenant: &str) -> Result<Self, InvalidIssuer> {
        let is_tenant = |c: char| c.is_ascii_alphanumeric() || "-.".contains(c);
        if tenant.is_empty() || !tenant.chars().all(is_tenant) {
            return Err(InvalidIssuer);
        }
        format!("https://login.microsoftonline.com/{tenant}/v2.0").parse()
    }

    /// As it was written.
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// What may be asked on its behalf: a provider on this machine may name what else is there.
    fn reach(&self) -> Reach {
        Reach { loopback: is_loopback(&self.url) }
    }

    /// Where it says who it is.
    fn document(&self) -> Url {
        let mut url = self.url.clone();
        // What may be no base was refused when it was read.
        if let Ok(mut path) = url.path_segments_mut() {
            path.pop_if_empty().extend([".well-known", "openid-configuration"]);
        }
        url
    }
}

impl FromStr for Issuer {
    type Err = InvalidIssuer;

    fn from_str(text: &str) -> Result<Self, InvalidIssuer> {
        let url = Url::parse(text).map_err(|_| InvalidIssuer)?;
        let is_plain = matches!(url.scheme(), "http" | "https")
            && url.username().is_empty()
            && url.password().is_none()
            && url.query().is_none()
            && url.fragment().is_none();
        if is_plain && text.len() <= LONGEST && !text.contains(char::is_whitespace) {
            Ok(Self { text: text.to_owned(), url })
        } else {
            Err(InvalidIssuer)
        }
    }
}

impl fmt::Display for Issuer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

/// How long one answer may take.
const ANSWER_LIMIT: Duration = Duration::from_secs(10);
/// The longest answer: some dozens of keys, each with its certificates.
const ANSWER_MAX: usize = 8 * SMALL_MAX;

/// Why a provider gave nothing.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ProviderError {
    /// It does not answer, or has no time.
    #[error("the provider {issuer} does not answer: {why}")]
    Silent {
        /// Which one.
        issuer: String,
        /// What happened.
        why: String,
    },
    /// An address of it is none that this node asks.
    #[error("the provider {issuer} cannot be asked: {why}")]
    NotAsked {
        /// Which one.
        issuer: String,
        /// Which address, and why not.
        why: String,
    },
    /// What answers is no provider, or another one.
    #[error("expected the provider {issuer}, found something else: {why}")]
    NotAProvider {
        /// Which one.
        issuer: String,
        /// What it said.
        why: String,
    },
    /// It gives this client no token.
    #[error("the provider {issuer} gives client {client} no token: {why}")]
    Refused {
        /// Which one.
        issuer: String,
        /// As whom it was asked.
        client: String,
        /// What it said.
        why: String,
    },
}

impl ProviderError {
    /// Whether it may go well the next time.
    pub(crate) fn is_passing(&self) -> bool {
        matches!(self, Self::Silent { .. })
    }
}

/// What a provider says of itself (`OpenID` Connect Discovery 1.0, section 3).
#[derive(Debug, Clone, Deserialize)]
struct ProviderMetadata {
    issuer: String,
    authorization_endpoint: Option<Url>,
    token_endpoint: Option<Url>,
    userinfo_endpoint: Option<Url>,
    jwks_uri: Option<Url>,
    token_endpoint_auth_methods_supported: Option<Vec<String>>,
    authorization_response_iss_parameter_supported: Option<bool>,
}

/// A way to a provider.
struct Provider<'a> {
    outbound: &'a Outbound,
    issuer: &'a Issuer,
}

/// What was answered.
struct Answered {
    is_success: bool,
    body: Vec<u8>,
}

impl Provider<'_> {
    /// What it says of itself. Another name than the one it is known by is another provider.
    async fn document(&self) -> Result<ProviderMetadata, ProviderError> {
        let document: ProviderMetadata = self.fetch(&self.issuer.document()).await?;
        if document.issuer == self.issuer.as_str() {
            return Ok(document);
        }
        let found: String = document.issuer.chars().take(200).collect();
        Err(self.other(format!("it calls itself {found:?}")))
    }

    /// A document of it.
    async fn fetch<T: DeserializeOwned>(&self, url: &Url) -> Result<T, ProviderError> {
        let answered = self.ask(url, |http| http.get(url.clone())).await?;
        self.read(url, &answered)
    }

    /// What such an address answered.
    fn read<T: DeserializeOwned>(
        &self,
        url: &Url,
        answered: &Answered,
    ) -> Result<T, ProviderError> {
        if !answered.is_success {
            return Err(self.other(format!("{} is not there", url.path())));
        }
        serde_json::from_slice(&answered.body).map_err(|error| self.other(error.to_string()))
    }

    /// Asks it, at an address of its own.
    async fn ask(
        &self,
        url: &Url,
        request: impl FnOnce(&reqwest::Client) -> RequestBuilder,
    ) -> Result<Answered, ProviderError> {
        let reach: Reach = self.issuer.reach();
        let http = client(self.outbound, url, reach).await.map_err(|error| {
            let why = error.to_string().lines().next().unwrap_or_default().to_owned();
            match error {
                WayError::NotFound { .. } => self.silent(why),
                _ => ProviderError::NotAsked { issuer: self.issuer.to_string(), why },
            }
        })?;
        let sent = request(&http).timeout(ANSWER_LIMIT).send().await;
        let response = sent.map_err(|error| self.silent(said(error)))?;
        let status = response.status();
        if status.is_server_error() || status.as_u16() == 429 {
            return Err(self.silent(format!("HTTP status {status}")));
        }
        if status.is_redirection() {
            return Err(self.other("it sends us elsewhere, where we do not go".to_owned()));
        }
        let body = bounded(response, ANSWER_MAX).await.map_err(|why| self.silent(why))?;
        Ok(Answered { is_success: status.is_success(), body })
    }

    fn silent(&self, why: String) -> ProviderError {
        ProviderError::Silent { issuer: self.issuer.to_string(), why }
    }

    fn other(&self, why: String) -> ProviderError {
        ProviderError::NotAProvider { issuer: self.issuer.to_string(), why }
    }
}

/// The longest text of a token that is repeated, in characters.
const SHOWN: usize = 120;

/// A text of a token on one line, and not an essay.
fn shown(text: &str) -> String {
    text.chars().filter(|c| !c.is_control()).take(SHOWN).collect()
}

#[cfg(test)]
mod tests {
    use super::Issuer;

    #[test]
    fn a_name_is_kept_as_it_is_and_leads_to_the_document() {
        for (name, document) in [
            ("https://id.test", "https://id.test/.well-known/openid-configuration"),
            ("https://id.test/", "https://id.test/.well-known/openid-configuration"),
            ("https://id.test/a/v2.0", "https://id.test/a/v2.0/.well-known/openid-configuration"),
            ("https://id.test/a/", "https://id.test/a/.well-known/openid-configuration"),
        ] {
            let issuer: Issuer = name.parse().unwrap();
            assert_eq!((issuer.as_str(), issuer.document().as_str()), (name, document));
        }
    }

    #[test]
    fn what_is_no_address_of_a_provider_is_refused() {
        for text in ["", "id.test", "ftp://id.test", "https://a:b@id.test", "https://id.test?a=b"] {
            assert!(text.parse::<Issuer>().is_err(), "{text}");
        }
        for tenant in ["", "a/b", "a?b", "../x", "common x"] {
            assert!(Issuer::entra(tenant).is_err(), "{tenant}");
        }
        let tenant = "11111111-2222-3333-4444-555555555555";
        assert!(Issuer::entra(tenant).unwrap().as_str().ends_with(&format!("/{tenant}/v2.0")));
    }
}
