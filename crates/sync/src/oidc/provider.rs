//! A provider: what it says of itself, and how it is asked.

use super::issuer::Issuer;
use baton_net::client::{SMALL_MAX, bounded, client, said};
use baton_net::outbound::{Outbound, Reach};
use reqwest::RequestBuilder;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use std::time::Duration;
use url::Url;

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
#[derive(Debug, Deserialize)]
pub(super) struct Document {
    issuer: String,
    pub(super) token_endpoint: Option<Url>,
    pub(super) jwks_uri: Option<Url>,
    pub(super) token_endpoint_auth_methods_supported: Option<Vec<String>>,
}

/// A way to a provider.
pub(super) struct Provider<'a> {
    pub(super) outbound: &'a Outbound,
    pub(super) issuer: &'a Issuer,
}

/// What was answered.
pub(super) struct Answered {
    pub(super) is_success: bool,
    pub(super) body: Vec<u8>,
}

impl Provider<'_> {
    /// What it says of itself. Another name than the one it is known by is another provider.
    pub(super) async fn document(&self) -> Result<Document, ProviderError> {
        let document: Document = self.fetch(&self.issuer.document()).await?;
        if document.issuer == self.issuer.as_str() {
            return Ok(document);
        }
        let found: String = document.issuer.chars().take(200).collect();
        Err(self.other(format!("it calls itself {found:?}")))
    }

    /// A document of it.
    pub(super) async fn fetch<T: DeserializeOwned>(&self, url: &Url) -> Result<T, ProviderError> {
        let answered = self.ask(url, |http| http.get(url.clone())).await?;
        if !answered.is_success {
            return Err(self.other(format!("{} is not there", url.path())));
        }
        serde_json::from_slice(&answered.body).map_err(|error| self.other(error.to_string()))
    }

    /// Asks it, at an address of its own.
    pub(super) async fn ask(
        &self,
        url: &Url,
        request: impl FnOnce(&reqwest::Client) -> RequestBuilder,
    ) -> Result<Answered, ProviderError> {
        let reach: Reach = self.issuer.reach();
        let http = client(self.outbound, url, reach).await.map_err(|error| {
            let why = error.to_string().lines().next().unwrap_or_default().to_owned();
            ProviderError::NotAsked { issuer: self.issuer.to_string(), why }
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

    pub(super) fn silent(&self, why: String) -> ProviderError {
        ProviderError::Silent { issuer: self.issuer.to_string(), why }
    }

    pub(super) fn other(&self, why: String) -> ProviderError {
        ProviderError::NotAProvider { issuer: self.issuer.to_string(), why }
    }
}
