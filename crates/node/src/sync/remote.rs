//! Speaks to a peer.
//!
//! The one idea: what goes out is sealed for the peer and signed by us, and what comes back is taken
//! only when the peer's own key signed it as the answer to this request. Whatever stands between the
//! two nodes can cut the line, and no more.

use super::SyncError;
use super::pace::Pace;
use crate::identity::{Identity, SealKey};
use crate::messages::{sign_request, verify_response};
use crate::outbound::Reach;
use crate::sealing::{self, SealContext};
use crate::{Context, NodeError, clock};
use axum::http::header::{AUTHORIZATION, CONTENT_TYPE, HeaderValue};
use axum::http::{Method, Request};
use backon::{ExponentialBuilder, Retryable};
use baton_api::sync::{
    Exchange, FetchParts, LeaseAnswer, NodeCard, Parcel, SyncIndex, TakeLease, Taken, Wanted,
    parcel,
};
use baton_api::{Health, Problem};
use baton_session::{Lease, SessionId};
use baton_store::Peer;
use secrecy::{ExposeSecret, SecretString};
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::time::Duration;
use url::Url;

/// How long a connection may take to open.
const CONNECT_LIMIT: Duration = Duration::from_secs(5);
/// How long one answer may take.
const ANSWER_LIMIT: Duration = Duration::from_mins(2);
/// How long a peer may take to say that it lives.
const HEALTH_LIMIT: Duration = Duration::from_secs(3);
/// The largest answer that lists something: the index of some hundred thousand sessions.
const LIST_MAX: usize = 128 << 20;
/// The largest card or problem.
pub(super) const SMALL_MAX: usize = 64 << 10;
/// How often a request is repeated when the line is cut or the peer has no time.
const RETRIES: usize = 4;

/// What bodies between nodes are: sealed.
pub(crate) const SEALED: HeaderValue = HeaderValue::from_static("application/vnd.baton.sealed");

/// A peer that is spoken to.
pub(super) struct Remote {
    http: reqwest::Client,
    url: Url,
    peer: Peer,
    seal_key: SealKey,
    identity: Identity,
    card: NodeCard,
    pace: Pace,
    part_bytes: usize,
}

/// What a message between nodes is about.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Topic {
    /// The word for what is asked and, behind it, answered.
    pub(crate) asked: &'static str,
    /// The word for the answer.
    pub(crate) answered: &'static str,
    /// The session that it is about.
    pub(crate) session: Option<SessionId>,
}

impl Topic {
    /// The index.
    pub(crate) const INDEX: Self = Self { asked: "index", answered: "the index", session: None };

    /// The revisions of a session: asked for, or offered.
    pub(crate) fn revisions(session: SessionId) -> Self {
        Self { asked: "revisions", answered: "the revisions", session: Some(session) }
    }

    /// Revisions that are offered.
    pub(crate) fn offer(session: SessionId) -> Self {
        Self { asked: "an offer", answered: "what became of an offer", session: Some(session) }
    }

    /// A session that is asked for.
    pub(crate) fn lease(session: SessionId) -> Self {
        Self { asked: "a lease", answered: "what became of a lease", session: Some(session) }
    }

    /// Parts that are asked for.
    pub(crate) fn fetch(session: SessionId) -> Self {
        Self { asked: "parts", answered: "the parts", session: Some(session) }
    }

    /// Parts that are given.
    pub(crate) fn give(session: SessionId) -> Self {
        Self { asked: "given parts", answered: "given parts were taken", session: Some(session) }
    }
}

/// One request: where it goes and what it says.
struct Ask<'a> {
    method: Method,
    path: &'a [&'a str],
    topic: Topic,
    body: Option<&'a [u8]>,
    /// Whether compressing it pays.
    compress: bool,
    /// The largest answer.
    limit: usize,
}

impl Remote {
    /// A confirmed peer with an address, or one that is only asked whether it lives.
    pub(super) async fn of(context: &Context, peer: &Peer) -> Result<Self, NodeError> {
        let name = || peer.name.clone();
        let url = peer.url.as_deref().and_then(|url| Url::parse(url).ok());
        let url = url.ok_or_else(|| SyncError::NoAddress { name: name() })?;
        let seal_key = peer.seal_key.parse::<SealKey>();
        let seal_key = seal_key.map_err(|error| SyncError::Untrusted { why: error.to_string() })?;
        let reach = Reach { loopback: is_loopback(&url) };
        Ok(Self {
            http: client(context, &url, reach).await?,
            url,
            peer: peer.clone(),
            seal_key,
            identity: context.identity.now(),
            card: context.identity.now().card(&context.node_settings),
            pace: Pace::new(context.sync.bytes_per_second),
            part_bytes: usize::try_from(context.store.limits().part_bytes).unwrap_or(usize::MAX),
        })
    }

    /// How many bytes went to the peer and came from it.
    pub(super) fn moved(&self) -> u64 {
        self.pace.bytes()
    }

    /// Whether it lives, and is who it was. No key is sent.
    pub(super) async fn health(&self) -> Result<(), NodeError> {
        let request = self.http.get(address(&self.url, &["health"])?).timeout(HEALTH_LIMIT);
        let response = request.send().await.map_err(|error| self.unreachable(error))?;
        let body = bounded(response, SMALL_MAX).await.map_err(|why| self.broken(why))?;
        let health: Health = self.json(&body)?;
        let (expected, found) = (self.peer.node, health.node_id);
        if found == expected {
            Ok(())
        } else {
            Err(SyncError::OtherNode { expected, found }.into())
        }
    }

    /// Its sessions.
    pub(super) async fn index(&self) -> Result<SyncIndex, NodeError> {
        let path = ["sync", "index"];
        let ask = Ask::get(&path, Topic::INDEX, LIST_MAX);
        self.json(&self.ask(ask).await?)
    }

    /// What it has of a session.
    pub(super) async fn exchange(&self, session: SessionId) -> Result<Exchange, NodeError> {
        let id = session.to_string();
        let path = ["sync", "sessions", &id, "revisions"];
        self.json(&self.ask(Ask::get(&path, Topic::revisions(session), LIST_MAX)).await?)
    }

    /// Offers it what is here of a session.
    pub(super) async fn offer(&self, exchange: &Exchange) -> Result<Taken, NodeError> {
        let session = exchange.offer.session;
        let id = session.to_string();
        let (path, body) = (["sync", "sessions", &id, "revisions"], write(exchange));
        let ask = Ask::post(&path, Topic::offer(session), &body, true, LIST_MAX);
        self.json(&self.ask(ask).await?)
    }

    /// Asks it for a session. A peer that does not answer is not asked again: it may be gone.
    pub(super) async fn lease(
        &self,
        session: SessionId,
        lease: Lease,
    ) -> Result<LeaseAnswer, NodeError> {
        let id = session.to_string();
        let (path, body) = (["sync", "sessions", &id, "lease"], write(&TakeLease { lease }));
        let ask = Ask::post(&path, Topic::lease(session), &body, true, SMALL_MAX);
        self.json(&self.ask_once(&ask).await.map_err(|failed| failed.error)?)
    }

    /// Parts of a session.
    pub(super) async fn fetch(
        &self,
        session: SessionId,
        wanted: Vec<Wanted>,
    ) -> Result<Vec<Parcel>, NodeError> {
        let id = session.to_string();
        let (path, body) =
            (["sync", "sessions", &id, "parts", "fetch"], write(&FetchParts { wanted }));
        let limit = self.part_bytes.saturating_add(32 << 20);
        let body = self.ask(Ask::post(&path, Topic::fetch(session), &body, false, limit)).await?;
        parcel::read(&body).map_err(|error| self.not_a_node(error.to_string()))
    }

    /// Gives it parts of a session; they are on its disk when this returns.
    pub(super) async fn give(
        &self,
        session: SessionId,
        parcels: &[Parcel],
    ) -> Result<(), NodeError> {
        let id = session.to_string();
        let (path, body) = (["sync", "sessions", &id, "parts"], parcel::write(parcels));
        self.ask(Ask::post(&path, Topic::give(session), &body, false, SMALL_MAX)).await?;
        Ok(())
    }

    /// Asks, and asks again when the line was cut or the peer had no time.
    async fn ask(&self, ask: Ask<'_>) -> Result<Vec<u8>, NodeError> {
        let pauses = ExponentialBuilder::default()
            .with_min_delay(Duration::from_millis(200))
            .with_max_delay(Duration::from_secs(5))
            .with_max_times(RETRIES)
            .with_jitter();
        let asked = (|| self.ask_once(&ask)).retry(pauses).when(Failed::is_passing);
        asked.await.map_err(|failed| failed.error)
    }

    async fn ask_once(&self, ask: &Ask<'_>) -> Result<Vec<u8>, Failed> {
        let (request, signature) = self.request(ask)?;
        let sent = request.body().map_or(0, |body| body.as_bytes().map_or(0, <[u8]>::len));
        let answered = self.http.execute(request).await;
        let response = answered.map_err(|error| Failed::passing(self.unreachable(error)))?;
        if !response.status().is_success() {
            return Err(self.refused(response).await);
        }
        let mut head = axum::http::Response::new(());
        *head.status_mut() = response.status();
        *head.headers_mut() = response.headers().clone();
        // What is sealed is a little longer than what is in it.
        let most = ask.limit.saturating_add(ask.limit / 1000).saturating_add(SMALL_MAX);
        let body =
            bounded(response, most).await.map_err(|why| Failed::passing(self.broken(why)))?;
        self.pace.count(sent + body.len()).await;
        let (parts, ()) = head.into_parts();
        verify_response(&parts, &body, &signature, &self.peer.key, clock::now())
            .map_err(|error| SyncError::Untrusted { why: error.to_string() })?;
        let context = SealContext {
            purpose: ask.topic.answered,
            session: ask.topic.session,
            revision: None,
            recipient: self.identity.node(),
            sender: self.peer.node,
        };
        let opened = sealing::open(&self.identity, &context, &body, ask.limit);
        Ok(opened.map_err(|error| SyncError::Untrusted { why: error.to_string() })?)
    }

    /// A request, sealed and signed.
    fn request(
        &self,
        ask: &Ask<'_>,
    ) -> Result<(reqwest::Request, baton_session::NodeSignature), NodeError> {
        let untrusted = |why: String| SyncError::Untrusted { why };
        let body = match ask.body {
            None => Vec::new(),
            Some(plain) => {
                let context = SealContext {
                    purpose: ask.topic.asked,
                    session: ask.topic.session,
                    revision: None,
                    recipient: self.peer.node,
                    sender: self.identity.node(),
                };
                let sealed = sealing::seal(&self.seal_key, &context, plain, ask.compress);
                sealed.map_err(|error| untrusted(error.to_string()))?
            }
        };
        let key = self.peer.credential.as_ref().ok_or_else(|| SyncError::NoKey {
            name: self.peer.name.clone(),
            url: self.url.clone(),
        })?;
        let mut request = Request::builder()
            .method(ask.method.clone())
            .uri(address(&self.url, ask.path)?.as_str())
            .header(AUTHORIZATION, bearer(key)?);
        if ask.body.is_some() {
            request = request.header(CONTENT_TYPE, SEALED);
        }
        let request = request.body(()).map_err(|error| untrusted(error.to_string()))?;
        let (mut parts, ()) = request.into_parts();
        let signature = sign_request(&self.identity, &self.card, &mut parts, &body, clock::now())
            .map_err(|error| untrusted(error.to_string()))?;
        let request = reqwest::Request::try_from(Request::from_parts(parts, body))
            .map_err(|error| untrusted(error.to_string()))?;
        Ok((request, signature))
    }

    async fn refused(&self, response: reqwest::Response) -> Failed {
        let status = response.status();
        let body = bounded(response, SMALL_MAX).await.unwrap_or_default();
        let is_passing = matches!(status.as_u16(), 429 | 502..=504);
        let why = match serde_json::from_slice::<Problem>(&body) {
            Ok(problem) => match problem.hint {
                Some(hint) => format!("{}\n{hint}", problem.detail),
                None => problem.detail,
            },
            Err(_) => format!("HTTP status {status}"),
        };
        let name = self.peer.name.clone();
        Failed { error: SyncError::Denied { name, why }.into(), is_passing }
    }

    fn json<T: DeserializeOwned>(&self, body: &[u8]) -> Result<T, NodeError> {
        serde_json::from_slice(body).map_err(|error| self.not_a_node(error.to_string()))
    }

    fn unreachable(&self, error: reqwest::Error) -> NodeError {
        if error.is_timeout() && !error.is_connect() {
            return SyncError::TooSlow { name: self.peer.name.clone() }.into();
        }
        self.broken(said(error))
    }

    fn broken(&self, why: String) -> NodeError {
        SyncError::Unreachable { name: self.peer.name.clone(), why }.into()
    }

    fn not_a_node(&self, why: String) -> NodeError {
        SyncError::NotANode { url: self.url.clone(), why }.into()
    }
}

impl<'a> Ask<'a> {
    fn get(path: &'a [&'a str], topic: Topic, limit: usize) -> Self {
        Self { method: Method::GET, path, topic, body: None, compress: false, limit }
    }

    fn post(
        path: &'a [&'a str],
        topic: Topic,
        body: &'a [u8],
        compress: bool,
        limit: usize,
    ) -> Self {
        Self { method: Method::POST, path, topic, body: Some(body), compress, limit }
    }
}

/// A request that failed, and whether it may go well the next time.
struct Failed {
    error: NodeError,
    is_passing: bool,
}

impl Failed {
    fn passing(error: NodeError) -> Self {
        Self { error, is_passing: true }
    }

    fn is_passing(&self) -> bool {
        self.is_passing
    }
}

impl<E: Into<NodeError>> From<E> for Failed {
    fn from(error: E) -> Self {
        Self { error: error.into(), is_passing: false }
    }
}

/// A client that goes to the addresses which were checked, and nowhere else.
pub(super) async fn client(
    context: &Context,
    url: &Url,
    reach: Reach,
) -> Result<reqwest::Client, NodeError> {
    let addresses = context.outbound.check(url, reach).await?;
    let host = url.host_str().unwrap_or_default();
    let client = reqwest::Client::builder()
        .connect_timeout(CONNECT_LIMIT)
        .timeout(ANSWER_LIMIT)
        .redirect(reqwest::redirect::Policy::none())
        .no_proxy()
        .resolve_to_addrs(host, &addresses)
        .build();
    Ok(client.map_err(|error| SyncError::NotANode { url: url.clone(), why: said(error) })?)
}

fn is_loopback(url: &Url) -> bool {
    match url.host() {
        Some(url::Host::Ipv4(address)) => address.is_loopback(),
        Some(url::Host::Ipv6(address)) => address.is_loopback(),
        Some(url::Host::Domain(name)) => name == "localhost",
        None => false,
    }
}

pub(super) fn address(base: &Url, segments: &[&str]) -> Result<Url, NodeError> {
    let mut url = base.clone();
    let found = || SyncError::AddressNotAllowed { found: base.to_string() };
    url.path_segments_mut().map_err(|()| found())?.pop_if_empty().extend(segments);
    Ok(url)
}

pub(super) fn bearer(key: &SecretString) -> Result<HeaderValue, NodeError> {
    let value = HeaderValue::from_str(&format!("Bearer {}", key.expose_secret()));
    let mut value = value.map_err(|_| SyncError::NotAKey)?;
    value.set_sensitive(true);
    Ok(value)
}

fn write(message: &impl Serialize) -> Vec<u8> {
    // Our own types have string keys only, so this cannot fail.
    serde_json::to_vec(message).unwrap_or_default()
}

/// The body of a response, if it is no longer than that.
pub(super) async fn bounded(
    mut response: reqwest::Response,
    most: usize,
) -> Result<Vec<u8>, String> {
    let mut body = Vec::new();
    while let Some(chunk) = response.chunk().await.map_err(said)? {
        if body.len() + chunk.len() > most {
            return Err(format!("expected an answer of at most {most} bytes, found more"));
        }
        body.extend_from_slice(&chunk);
    }
    Ok(body)
}

/// What went wrong, down to the cause; the address is known.
pub(super) fn said(error: reqwest::Error) -> String {
    let error = error.without_url();
    let mut cause: &dyn std::error::Error = &error;
    while let Some(deeper) = cause.source() {
        cause = deeper;
    }
    if error.is_timeout() { "it took too long".to_owned() } else { cause.to_string() }
}
