//! The typed client: one method an operation of a node.
//!
//! The one idea: whatever comes back is either the answer's type or a [`ClientError`] that says
//! whether the node refused (a [`Problem`]) or could not be reached. What concerns the node itself is here: its
//! health, its keys and its audit log.

mod agents;
mod events;
mod sessions;

use crate::federation::AGENT_HEADER;
use crate::key::{AuditList, CreateKey, CreatedKey, KeyList, ListAudit};
use crate::node::{DrainNode, Health, NodeList, NodeView, Ready};
use crate::page::PageTicket;
use crate::problem::{ErrorCode, Exit, Problem};
use crate::usage::UsageView;
use baton_session::{AgentName, Owner};
use reqwest::{Method, RequestBuilder, Response};
use secrecy::{ExposeSecret, SecretString};
use serde::de::DeserializeOwned;
use std::time::Duration;
use url::Url;

pub use agents::{FederationEvents, SandboxRun};
pub use events::{ChangeEvents, Messages, NodeChange, SyncEvents, Wishes};

/// How long a connection may take to open.
const CONNECT_LIMIT: Duration = Duration::from_secs(5);
/// How long an answer may take that does not wait for a browser.
const ANSWER_LIMIT: Duration = Duration::from_secs(30);
/// How long an answer may take that waits for a browser; longer than the node's own limit, so that
/// the node says what happened.
const BROWSER_LIMIT: Duration = Duration::from_mins(9);
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
            .no_proxy();
        // The authorities that a machine trusts are a hundred files: a command that asks its own node reads none.
        let is_clear = base.scheme() == "http";
        let http = if is_clear { http.tls_certs_only(Vec::new()) } else { http };
        let http = http.build().map_err(ClientError::NotBuilt)?;
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

    /// The nodes of the cluster that the node is of.
    pub async fn list_nodes(&self) -> Result<NodeList, ClientError> {
        self.fetch(self.request(Method::GET, &["nodes"])?).await
    }

    /// One node of the cluster: by its id, a unique prefix of that, or its name.
    pub async fn fetch_node(&self, reference: &str) -> Result<NodeView, ClientError> {
        self.fetch(self.request(Method::GET, &["nodes", reference])?).await
    }

    /// Brings what a node of the cluster runs to others; the node says how far it is.
    pub async fn drain_node(
        &self,
        reference: &str,
        request: DrainNode,
    ) -> Result<NodeView, ClientError> {
        let call = self.request(Method::POST, &["nodes", reference, "drain"])?;
        self.fetch(call.json(&request)).await
    }

    /// Lets a node of the cluster take new sessions again.
    pub async fn end_drain(&self, reference: &str) -> Result<NodeView, ClientError> {
        self.fetch(self.request(Method::DELETE, &["nodes", reference, "drain"])?).await
    }

    /// Forgets a node of the cluster that is gone for good.
    pub async fn forget_node(&self, reference: &str) -> Result<(), ClientError> {
        let call = self.request(Method::DELETE, &["nodes", reference])?;
        self.fetch_bytes(call).await.map(drop)
    }

    /// Whether the node lives. The key is not sent: something else may listen there.
    pub async fn health(&self) -> Result<Health, ClientError> {
        self.fetch(self.bare_request(Method::GET, &["health"])?).await
    }

    /// Whether the node can work. The key is not sent.
    pub async fn ready(&self) -> Result<Ready, ClientError> {
        self.fetch(self.bare_request(Method::GET, &["ready"])?).await
    }

    /// An address that opens the node's page once, in the name of this key.
    pub async fn open_page(&self) -> Result<PageTicket, ClientError> {
        self.fetch(self.request(Method::POST, &["page", "tickets"])?).await
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

/// A request that was not answered as hoped.
#[derive(Debug, thiserror::Error)]
pub enum ClientError {
    /// The node refused.
    #[error("{}", .0.detail)]
    Problem(Box<Problem>),
    /// No node could be reached.
    #[error("expected a node at {url}, found none: {}", cause(source))]
    Unreachable {
        /// Where it was looked for.
        url: Url,
        /// What went wrong.
        source: reqwest::Error,
    },
    /// The node took longer than the limit; it may still be at work.
    #[error("the node at {url} did not answer in time; it may still be at work")]
    TimedOut {
        /// Which node.
        url: Url,
    },
    /// Something answers, but it is not a node.
    #[error("expected a node at {url}, found something that answers {status} without saying why")]
    NotANode {
        /// Where it was looked for.
        url: Url,
        /// The status of its answer.
        status: u16,
    },
    /// The node's answer is not what this version knows.
    #[error("expected an answer of this version from the node at {url}: {source}")]
    NotUnderstood {
        /// Which node.
        url: Url,
        /// What does not fit.
        source: serde_json::Error,
    },
    /// A message of the node is longer than any should be.
    #[error(
        "expected a message of at most {limit} bytes from the node at {url}, found a longer one"
    )]
    TooLarge {
        /// Which node.
        url: Url,
        /// How long it may be.
        limit: usize,
    },
    /// The address can have no path.
    #[error("expected an address such as http://127.0.0.1:7420, found {url}")]
    InvalidAddress {
        /// The address.
        url: Url,
    },
    /// The HTTP stack did not start.
    #[error("the client could not be built: {0}")]
    NotBuilt(reqwest::Error),
}

impl ClientError {
    /// The code, when the node refused.
    pub fn code(&self) -> Option<ErrorCode> {
        match self {
            Self::Problem(problem) => Some(problem.code),
            _ => None,
        }
    }

    /// How a command ends that fails with it.
    pub fn exit(&self) -> Exit {
        match self {
            Self::Problem(problem) => problem.code.exit(),
            Self::InvalidAddress { .. } => Exit::Usage,
            _ => Exit::Failed,
        }
    }
}

/// The innermost cause: the outer ones only say that sending failed.
fn cause(error: &reqwest::Error) -> String {
    let mut cause: &dyn std::error::Error = error;
    while let Some(inner) = cause.source() {
        cause = inner;
    }
    cause.to_string()
}

impl Client {
    /// Makes a key; its secret is shown this once.
    pub async fn create_key(&self, request: &CreateKey) -> Result<CreatedKey, ClientError> {
        self.fetch(self.request(Method::POST, &["keys"])?.json(request)).await
    }

    /// The keys of `owner`, or of the caller's own.
    pub async fn list_keys(&self, owner: Option<&Owner>) -> Result<KeyList, ClientError> {
        self.fetch(of_owner(self.request(Method::GET, &["keys"])?, owner)).await
    }

    /// Revokes a key of `owner`, or of the caller's own: from now on it opens nothing.
    pub async fn revoke_key(
        &self,
        reference: &str,
        owner: Option<&Owner>,
    ) -> Result<(), ClientError> {
        let call = self.request(Method::DELETE, &["keys", reference])?;
        self.fetch_bytes(of_owner(call, owner)).await.map(drop)
    }
}

fn of_owner(call: RequestBuilder, owner: Option<&Owner>) -> RequestBuilder {
    match owner {
        Some(owner) => call.query(&[("owner", owner.as_str())]),
        None => call,
    }
}

impl Client {
    /// What `owner` has and may have, or the caller's own.
    pub async fn show_usage(&self, owner: Option<&Owner>) -> Result<UsageView, ClientError> {
        self.fetch(of_owner(self.request(Method::GET, &["usage"])?, owner)).await
    }
}

impl Client {
    /// One page of the audit log, newest first: the caller's own entries, and those of every owner
    /// with the scope `admin`.
    pub async fn list_audit(&self, query: &ListAudit) -> Result<AuditList, ClientError> {
        self.fetch(self.request(Method::GET, &["audit"])?.query(query)).await
    }
}
