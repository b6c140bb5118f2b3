//! A client of a provider: as what this node asks for tokens, how it gets one (RFC 6749, section 4.4), and
//! those that it has got, each kept until shortly before it ends.
//!
//! The one idea: a task that wants a token while another one gets the same waits for that, and gets the same
//! answer, be it a token or that there is none. So a provider is asked once, however many sessions move.

use super::{Answered, Issuer, Provider, ProviderError, ProviderMetadata};
use backon::{ExponentialBuilder, Retryable};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use baton_net::outbound::Outbound;
use reqwest::header::{AUTHORIZATION, CONTENT_TYPE, HeaderValue};
use secrecy::{ExposeSecret, SecretString};
use serde::Deserialize;
use sha2::{Digest, Sha256};
use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};
use tokio::time::timeout;
use url::Url;
use url::form_urlencoded::{Serializer, byte_serialize};

/// How long a token counts whose provider does not say it.
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
pub(super) enum Proof {
    /// The secret is in the form.
    Form,
    /// The secret is in the header.
    Header,
}

impl Proof {
    /// Whether the secret is in the header.
    pub(super) fn is_header(self) -> bool {
        self == Self::Header
    }
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

    /// What it wants, and who it is unless the header says that.
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
pub(super) fn proofs(document: &ProviderMetadata) -> Vec<Proof> {
    let Some(listed) = &document.token_endpoint_auth_methods_supported else {
        return vec![Proof::Header];
    };
    let both = [(Proof::Form, "client_secret_post"), (Proof::Header, "client_secret_basic")];
    let is_listed = |(_, name): &(Proof, &str)| listed.iter().any(|one| one == name);
    both.into_iter().filter(is_listed).map(|(proof, _)| proof).collect()
}

/// Of how many clients tokens are kept.
const MOST: usize = 1000;
/// How often a provider that does not answer is asked again.
const RETRIES: usize = 3;
/// How long all that may take.
const LIMIT: Duration = Duration::from_secs(20);

/// Tokens by client. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Tokens(Arc<TokenCache>);

#[derive(Debug)]
struct TokenCache {
    outbound: Outbound,
    places: Mutex<HashMap<[u8; 32], Arc<TokenSlot>>>,
}

/// What is known of one client.
#[derive(Debug, Default)]
struct TokenSlot(tokio::sync::Mutex<KnownToken>);

#[derive(Debug, Default)]
struct KnownToken {
    token: Option<Token>,
    /// When there was none, and why.
    failed: Option<(Instant, ProviderError)>,
}

/// A token, and whether it was here before.
pub(crate) struct FoundToken {
    pub(crate) token: Token,
    pub(crate) is_kept: bool,
}

impl Tokens {
    /// None yet; providers are asked where `outbound` allows it.
    pub fn new(outbound: Outbound) -> Self {
        Self(Arc::new(TokenCache { outbound, places: Mutex::default() }))
    }

    /// A token of this client.
    pub(crate) async fn of(&self, client: &OidcClient) -> Result<FoundToken, ProviderError> {
        let begun = Instant::now();
        let place = self.place(client);
        let mut known = place.0.lock().await;
        if let Some(token) = known.token.clone().filter(|token| token.is_good(Instant::now())) {
            return Ok(FoundToken { token, is_kept: true });
        }
        if let Some((at, error)) = &known.failed
            && *at > begun
        {
            return Err(error.clone());
        }
        // What a provider is asked takes more room than a future should that most of the time needs none.
        match Box::pin(self.fetch(client)).await {
            Ok(token) => {
                *known = KnownToken { token: Some(token.clone()), failed: None };
                Ok(FoundToken { token, is_kept: false })
            }
            Err(error) => {
                tracing::warn!(client = client.id, %error, "there is no token");
                *known = KnownToken { token: None, failed: Some((Instant::now(), error.clone())) };
                Err(error)
            }
        }
    }

    /// Throws a token away that was refused, unless there is another one already.
    pub(crate) async fn discard(&self, client: &OidcClient, refused: &Token) {
        let place = self.place(client);
        let mut known = place.0.lock().await;
        let is_it = |token: &mut Token| token.text.expose_secret() == refused.text.expose_secret();
        known.token.take_if(is_it);
    }

    fn place(&self, client: &OidcClient) -> Arc<TokenSlot> {
        let mut places = self.0.places.lock().unwrap_or_else(PoisonError::into_inner);
        let digest = client.digest();
        if places.len() >= MOST && !places.contains_key(&digest) {
            places.clear();
        }
        places.entry(digest).or_default().clone()
    }

    async fn fetch(&self, client: &OidcClient) -> Result<Token, ProviderError> {
        let pauses = ExponentialBuilder::default()
            .with_min_delay(Duration::from_millis(250))
            .with_max_delay(Duration::from_secs(2))
            .with_max_times(RETRIES)
            .with_jitter();
        let fetched = (|| client.fetch(&self.0.outbound)).retry(pauses);
        let fetched = timeout(LIMIT, fetched.when(ProviderError::is_passing)).await;
        let (issuer, why) = (client.issuer.to_string(), "it took too long".to_owned());
        fetched.unwrap_or(Err(ProviderError::Silent { issuer, why }))
    }
}
