//! The typed client: one method an operation of a node.
//!
//! The one idea: whatever comes back is either the answer's type or a [`ClientError`] that says
//! whether the node refused (a [`Problem`]) or could not be reached.

mod audit;
mod carry;
mod chat;
mod cocoons;
mod debug;
mod error;
mod events;
mod federation;
mod follow;
mod history;
mod keys;
mod mcp;
mod sandboxes;
mod sessions;
mod sync;

pub use error::ClientError;
pub use federation::FederationEvents;
pub use follow::{ChangeEvents, NodeChange, SyncEvents};
pub use mcp::{Messages, Wishes};
pub use sandboxes::SandboxRun;

use crate::agent::AGENT_HEADER;
use crate::health::{Health, Ready};
use crate::problem::Problem;
use baton_session::AgentName;
use reqwest::{Method, RequestBuilder, Response};
use secrecy::{ExposeSecret, SecretString};
use serde::de::DeserializeOwned;
use std::time::Duration;
use url::Url;

/// How long a connection may take to open.
const CONNECT_LIMIT: Duration = Duration::from_secs(5);
/// How long an answer may take that does not wait for a browser.
const ANSWER_LIMIT: Duration = Duration::from_secs(30);
/// How long an answer may take that waits for a browser; longer than the node's own limit, so that
/// the node says what happened.
const BROWSER_LIMIT: Duration = Duration::from_secs(150);
/// How long an answer may take that goes on until one of both sides leaves. That the other side is gone
/// is heard by its silence.
const STREAM_LIMIT: Duration = Duration::from_hours(24 * 365);

/// Asks one node.
#[derive(Clone, Debug)]
pub struct Client {
    http: reqwest::Client,
    base: Url,
    key: SecretString,
    agent: Option<AgentName>,
}

impl Client {
    /// A client of the node at `base`, such as `http://127.0.0.1:7420`, with an API key. The key
    /// goes nowhere else: redirects and proxies are not followed.
    pub fn new(base: Url, key: SecretString) -> Result<Self, ClientError> {
        let http = reqwest::Client::builder()
            .connect_timeout(CONNECT_LIMIT)
            .redirect(reqwest::redirect::Policy::none())
            .no_proxy()
            .build()
            .map_err(ClientError::NotBuilt)?;
        Ok(Self { http, base, key, agent: None })
    }

    /// The same, asking as an agent.
    #[must_use]
    pub fn as_agent(self, agent: Option<AgentName>) -> Self {
        Self { agent, ..self }
    }

    /// As which agent it asks.
    pub fn agent(&self) -> Option<&AgentName> {
        self.agent.as_ref()
    }

    /// The node's address.
    pub fn base(&self) -> &Url {
        &self.base
    }

    /// The API key, for a request that this client does not make itself.
    pub fn key(&self) -> &SecretString {
        &self.key
    }

    /// Whether the node lives. The key is not sent: something else may listen there.
    pub async fn health(&self) -> Result<Health, ClientError> {
        self.fetch(self.bare_request(Method::GET, &["health"])?).await
    }

    /// Whether the node can work. The key is not sent.
    pub async fn ready(&self) -> Result<Ready, ClientError> {
        self.fetch(self.bare_request(Method::GET, &["ready"])?).await
    }

    /// A request with the key for the address made of `segments`, each of which is escaped.
    fn request(&self, method: Method, segments: &[&str]) -> Result<RequestBuilder, ClientError> {
        let request = self.bare_request(method, segments)?.bearer_auth(self.key.expose_secret());
        Ok(match &self.agent {
            Some(agent) => request.header(AGENT_HEADER, agent.as_str()),
            None => request,
        })
    }

    /// The same without the key.
    fn bare_request(
        &self,
        method: Method,
        segments: &[&str],
    ) -> Result<RequestBuilder, ClientError> {
        let mut url = self.base.clone();
        let invalid = || ClientError::InvalidAddress { url: self.base.clone() };
        url.path_segments_mut().map_err(|()| invalid())?.pop_if_empty().extend(segments);
        Ok(self.http.request(method, url).timeout(ANSWER_LIMIT))
    }

    /// Sends a request and reads its answer's body as `T`.
    async fn fetch<T: DeserializeOwned>(&self, request: RequestBuilder) -> Result<T, ClientError> {
        let bytes = self.fetch_bytes(request).await?;
        serde_json::from_slice(&bytes)
            .map_err(|source| ClientError::NotUnderstood { url: self.base.clone(), source })
    }

    /// Sends a request and reads its answer's body as it is.
    async fn fetch_bytes(&self, request: RequestBuilder) -> Result<Vec<u8>, ClientError> {
        let response = request.send().await.map_err(|source| self.unreachable(source))?;
        let status = response.status();
        if !status.is_success() {
            return Err(self.refused(response).await);
        }
        let body = response.bytes().await.map_err(|source| self.unreachable(source))?;
        Ok(body.to_vec())
    }

    async fn refused(&self, response: Response) -> ClientError {
        let status = response.status().as_u16();
        let body = response.bytes().await.unwrap_or_default();
        match serde_json::from_slice::<Problem>(&body) {
            Ok(problem) => ClientError::Problem(Box::new(problem)),
            Err(_) => ClientError::NotANode { url: self.base.clone(), status },
        }
    }

    fn unreachable(&self, source: reqwest::Error) -> ClientError {
        let url = self.base.clone();
        if source.is_timeout() && !source.is_connect() {
            ClientError::TimedOut { url }
        } else {
            ClientError::Unreachable { url, source: source.without_url() }
        }
    }
}
