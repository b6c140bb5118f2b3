//! A client of a provider: as what this node asks for tokens, and how it gets one (RFC 6749, section
//! 4.4).

use super::issuer::Issuer;
use super::provider::Document;
use super::provider::{Answered, Provider, ProviderError};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use baton_net::outbound::Outbound;
use reqwest::header::{AUTHORIZATION, CONTENT_TYPE, HeaderValue};
use secrecy::{ExposeSecret, SecretString};
use serde::Deserialize;
use sha2::{Digest, Sha256};
use std::time::{Duration, Instant};
use url::Url;
use url::form_urlencoded::{Serializer, byte_serialize};

/// How long a token counts of which nobody said it.
const USUAL: Duration = Duration::from_mins(5);
/// How long one is kept at most, whatever is said of it.
const LONGEST: Duration = Duration::from_hours(24);
/// How long before its end a token is replaced at most.
const EARLY: Duration = Duration::from_mins(1);
/// The longest token, in bytes: beyond that no header has room for it.
const TOKEN_MAX: usize = 16 << 10;

/// As what this node asks a provider for tokens.
#[derive(Debug, Clone)]
pub(crate) struct OidcClient {
    pub(crate) issuer: Issuer,
    pub(crate) id: String,
    pub(crate) secret: SecretString,
    /// What is asked for, such as `api://baton/.default`.
    pub(crate) scope: Option<String>,
    /// For whom the token is to be (RFC 8707).
    pub(crate) resource: Option<String>,
}

/// A token, and until when it is shown.
#[derive(Debug, Clone)]
pub(crate) struct Token {
    pub(crate) text: SecretString,
    until: Instant,
}

impl Token {
    pub(super) fn is_good(&self, now: Instant) -> bool {
        now < self.until
    }
}

/// How a client proves who it is.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Proof {
    /// The secret is in the form.
    Form,
    /// The secret is in the header.
    Header,
}

#[derive(Deserialize)]
struct Granted {
    access_token: String,
    token_type: Option<String>,
    expires_in: Option<u64>,
}

#[derive(Deserialize)]
struct Complaint {
    error: String,
    error_description: Option<String>,
}

impl OidcClient {
    /// What tells it from any other.
    pub(super) fn digest(&self) -> [u8; 32] {
        let parts = [
            self.issuer.as_str(),
            &self.id,
            self.secret.expose_secret(),
            self.scope.as_deref().unwrap_or_default(),
            self.resource.as_deref().unwrap_or_default(),
        ];
        let mut digest = Sha256::new();
        for part in parts {
            digest.update(part.len().to_be_bytes());
            digest.update(part.as_bytes());
        }
        digest.finalize().into()
    }

    /// Gets a token, of whatever kind the provider gives.
    pub(super) async fn fetch(&self, outbound: &Outbound) -> Result<Token, ProviderError> {
        let provider = Provider { outbound, issuer: &self.issuer };
        let document = provider.document().await?;
        let url = document.token_endpoint.as_ref();
        let url = url.ok_or_else(|| provider.other("it has no token_endpoint".to_owned()))?;
        let mut refused = None;
        for proof in proofs(&document) {
            let answered = self.ask(&provider, url, proof).await?;
            match read(&provider, &answered)? {
                Ok(token) => return Ok(token),
                // It may know the client by the other way to prove it.
                Err(complaint) => {
                    let is_proof = complaint.error == "invalid_client";
                    refused.get_or_insert(complaint);
                    if !is_proof {
                        break;
                    }
                }
            }
        }
        Err(self.refused(refused))
    }

    async fn ask(
        &self,
        provider: &Provider<'_>,
        url: &Url,
        proof: Proof,
    ) -> Result<Answered, ProviderError> {
        let form = self.form(proof);
        let answered = provider.ask(url, |http| {
            let request = http.post(url.clone()).body(form);
            let request = request.header(CONTENT_TYPE, "application/x-www-form-urlencoded");
            match self.header().filter(|_| proof == Proof::Header) {
                Some(header) => request.header(AUTHORIZATION, header),
                None => request,
            }
        });
        answered.await
    }

    /// What it wants, and who it is unless that stands in the header.
    fn form(&self, proof: Proof) -> String {
        let mut form = Serializer::new(String::new());
        form.append_pair("grant_type", "client_credentials");
        form.extend_pairs(self.scope.iter().map(|scope| ("scope", scope)));
        form.extend_pairs(self.resource.iter().map(|resource| ("resource", resource)));
        if proof == Proof::Form {
            form.append_pair("client_id", &self.id);
            form.append_pair("client_secret", self.secret.expose_secret());
        }
        form.finish()
    }

    /// Who it is, with its secret (RFC 6749, section 2.3.1).
    fn header(&self) -> Option<HeaderValue> {
        let encoded = |text: &str| byte_serialize(text.as_bytes()).collect::<String>();
        let both = format!("{}:{}", encoded(&self.id), encoded(self.secret.expose_secret()));
        let mut value = HeaderValue::from_str(&format!("Basic {}", STANDARD.encode(both))).ok()?;
        value.set_sensitive(true);
        Some(value)
    }

    fn refused(&self, complaint: Option<Complaint>) -> ProviderError {
        let why = complaint.map(|Complaint { error, error_description }| {
            let told = error_description.map_or(error.clone(), |more| format!("{error}: {more}"));
            // One line, and not an essay.
            told.chars().map(|c| if c.is_control() { ' ' } else { c }).take(500).collect()
        });
        ProviderError::Refused {
            issuer: self.issuer.to_string(),
            client: self.id.clone(),
            why: why.unwrap_or_else(|| "it takes no secret of a client".to_owned()),
        }
    }
}

/// The token that a provider gave, or its complaint.
fn read(
    provider: &Provider<'_>,
    answered: &Answered,
) -> Result<Result<Token, Complaint>, ProviderError> {
    // What is wrong with it is not repeated: it may hold a token.
    let unread = || provider.other("its answer holds no token".to_owned());
    if !answered.is_success {
        return Ok(Err(serde_json::from_slice(&answered.body).map_err(|_| unread())?));
    }
    let granted: Granted = serde_json::from_slice(&answered.body).map_err(|_| unread())?;
    let is_bearer = |kind: &str| kind.eq_ignore_ascii_case("bearer");
    let is_shown = granted.token_type.as_deref().is_none_or(is_bearer);
    if !is_shown || !(1..=TOKEN_MAX).contains(&granted.access_token.len()) {
        return Err(unread());
    }
    let lasts = granted.expires_in.map_or(USUAL, Duration::from_secs).min(LONGEST);
    let until = Instant::now() + lasts.saturating_sub((lasts / 8).min(EARLY));
    Ok(Ok(Token { text: granted.access_token.into(), until }))
}

/// How clients may prove who they are there. The form comes first: what a header does to a secret with
/// special characters is not the same everywhere.
fn proofs(document: &Document) -> Vec<Proof> {
    let Some(listed) = &document.token_endpoint_auth_methods_supported else {
        return vec![Proof::Header];
    };
    let both = [(Proof::Form, "client_secret_post"), (Proof::Header, "client_secret_basic")];
    let is_listed = |(_, name): &(Proof, &str)| listed.iter().any(|one| one == name);
    both.into_iter().filter(is_listed).map(|(proof, _)| proof).collect()
}
