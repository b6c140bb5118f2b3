//! How one node of a cluster asks another: signed, by one address, and only what that node has signed is an answer.
//!
//! The one idea: whatever is asked goes one way, a client's request that is passed on as well as what a node wants
//! itself. What did not come back is told apart by whether the other node may have begun it.

use super::members::Cluster;
use super::passed::{Origin, Passing};
use axum::body::{Body, Bytes, HttpBody, to_bytes};
use axum::http::header::{CONTENT_LENGTH, CONTENT_TYPE, HOST};
use axum::http::request::Parts;
use axum::http::{HeaderValue, Method, Request, StatusCode};
use axum::response::Response;
use baton_api::Problem;
use baton_net::internal::{InternalClient, NoAnswer};
use baton_runtime::Caller;
use baton_store::ClusterRow;
use baton_store::blocking::{Stopping, blocking};
use baton_sync::identity::Identity;
use baton_sync::messages::{
    BATON_CALLER, BodyDigest, body_digest, sign_forwarded, verify_forwarded_answer,
};
use serde::de::DeserializeOwned;
use std::fmt;
use std::time::Duration;
use tokio::time::{sleep, timeout};
use url::Url;

/// The largest refusal of another node, in bytes.
pub(crate) const PROBLEM_MAX: usize = 64 << 10;
/// The largest body of an answer that is signed with it, in bytes: it is kept until all of it has come.
pub(crate) const SIGNED_MAX: usize = 64 << 10;
/// The largest body of a request whose digest is no work to speak of, in bytes.
const LIGHT: usize = 64 << 10;
/// The largest answer of a node that is only looked at, in bytes.
const LOOK_MAX: usize = 4 << 20;
/// How long a node may take for it: all are waited for.
const LOOK_LIMIT: Duration = Duration::from_secs(3);
/// How often a node is asked whether it is there, while it has begun to answer nothing.
const LIFE_PAUSE: Duration = Duration::from_secs(2);
/// How long it may take to say so, and how often in turn it may fail to: it may have much to do.
const LIFE_LIMIT: Duration = Duration::from_secs(3);
const SILENCES: u32 = 2;
/// The largest answer of a node about one tab, in bytes: twice what is kept of a tab, since text grows in JSON.
const TAB_MAX: usize = 64 << 20;

/// What a node is asked that changes nothing.
pub(crate) struct Look<'l> {
    /// Where.
    pub(crate) path: &'l str,
    /// What has to fit, as JSON, where a client says that in a body.
    pub(crate) filters: Option<Vec<u8>>,
}

/// What a node was asked for, by which people know why it was that one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum AskedFor {
    /// A session that it has.
    Session,
    /// A sandbox that it made.
    Sandbox,
    /// Something else.
    #[default]
    Other,
}

impl AskedFor {
    /// What the path of a request names.
    pub(crate) fn by(path: &str) -> Self {
        if path.starts_with("/sessions/") {
            Self::Session
        } else if path.starts_with("/api/sandboxes/") {
            Self::Sandbox
        } else {
            Self::Other
        }
    }

    /// What becomes of that where the node is gone.
    pub(crate) fn hint(self) -> &'static str {
        match self {
            Self::Session => {
                "once the node is gone for the length of a lease, baton sessions resume brings the session back on \
                 another one"
            }
            Self::Sandbox => "a sandbox ends with its node",
            Self::Other => {
                "once the node is gone for the length of a lease, baton sessions resume brings back on others what ran \
                 there"
            }
        }
    }
}

/// Why it is asked, after its name.
impl fmt::Display for AskedFor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Session => ", which has the session,",
            Self::Sandbox => ", which made the sandbox,",
            Self::Other => "",
        })
    }
}

/// What a request to another node brings.
pub(crate) enum Carried {
    /// All of it is there: its digest is signed.
    Whole(Bytes),
    /// It comes piece by piece, and is as good as the network between the nodes.
    Stream(Body),
}

impl From<Bytes> for Carried {
    fn from(bytes: Bytes) -> Self {
        Self::Whole(bytes)
    }
}

impl From<Body> for Carried {
    fn from(body: Body) -> Self {
        if body.is_end_stream() { Self::Whole(Bytes::new()) } else { Self::Stream(body) }
    }
}

impl Carried {
    /// Its digest, where all of it is there, and the body that is sent.
    async fn digested(self) -> Result<(Option<String>, Body), Stopping> {
        let bytes = match self {
            Self::Stream(body) => return Ok((None, body)),
            Self::Whole(bytes) => bytes,
        };
        let read = bytes.clone();
        let digest = if read.len() <= LIGHT {
            body_digest(&read)
        } else {
            blocking(move || body_digest(&read)).await?
        };
        Ok((Some(digest), Body::from(bytes)))
    }
}

/// Another node did not answer, or another than that node did.
#[derive(Debug, thiserror::Error)]
#[error("expected node {name} to answer at {url}, found: {found}")]
pub(crate) struct Unreachable {
    /// What it is called.
    pub(crate) name: String,
    /// What it was asked for.
    pub(crate) asked: AskedFor,
    /// Where it is asked.
    pub(crate) url: String,
    /// What there was instead of an answer.
    pub(crate) found: String,
    /// Whether it may have begun what was asked.
    pub(crate) may_have_begun: bool,
}

impl Unreachable {
    /// That node did not answer: there was `found` instead.
    pub(crate) fn new(row: &ClusterRow, found: String, may_have_begun: bool) -> Self {
        let (name, url) = (row.member.name.clone(), row.member.internal_url.clone());
        Self { name, asked: AskedFor::default(), url, found, may_have_begun }
    }

    /// The same, of a node that was asked for this.
    pub(crate) fn asked_for(self, asked: AskedFor) -> Self {
        Self { asked, ..self }
    }
}

/// What this node asked another for was not done.
#[derive(Debug, thiserror::Error)]
pub(crate) enum NotDone {
    /// That node was not there.
    #[error(transparent)]
    Unreachable(#[from] Unreachable),
    /// It refuses.
    #[error("node {name} refuses: {}", problem.detail)]
    Refused {
        /// What it is called.
        name: String,
        /// Why.
        problem: Box<Problem>,
    },
}

/// What a node asks another one for, in the name of itself and of an owner.
pub(crate) struct Errand<'a> {
    method: Method,
    path: &'a str,
    caller: &'a Caller,
    body: Carried,
    /// How many bytes the body has.
    bytes: u64,
    limit: Duration,
}

impl<'a> Errand<'a> {
    /// One with nothing in it but who asks, and how long the answer may take.
    pub(crate) fn new(method: Method, path: &'a str, caller: &'a Caller, limit: Duration) -> Self {
        Self { method, path, caller, body: Carried::Whole(Bytes::new()), bytes: 0, limit }
    }

    /// The same with a body of so many bytes. One that turns out to be shorter is no request.
    pub(crate) fn with_body(self, body: impl Into<Carried>, bytes: u64) -> Self {
        Self { body: body.into(), bytes, ..self }
    }
}

impl Cluster {
    /// Asks a node, and checks that it answered, while it is known to be there. The request is whole but for its
    /// signature.
    pub(crate) async fn exchange(
        &self,
        identity: &Identity,
        row: &ClusterRow,
        mut parts: Parts,
        body: Carried,
    ) -> Result<Response, Unreachable> {
        let unreachable = |found, may_have_begun| Unreachable::new(row, found, may_have_begun);
        let url = url_of(row).map_err(|found| unreachable(found, false))?;
        let digested = body.digested().await;
        let (digest, body) =
            digested.map_err(|stopping| unreachable(stopping.to_string(), false))?;
        let signature = sign_forwarded(identity, &mut parts, digest, self.now())
            .map_err(|error| unreachable(error.to_string(), false))?;
        let client = self.client(&url).await;
        let client = client.map_err(|error| unreachable(first_line(&error.to_string()), false))?;
        let asked = tokio::select! {
            asked = client.ask(Request::from_parts(parts, body)) => asked,
            () = self.gone(row, &client, &url) => {
                let found = "no answer, and nothing that says that it is still there".to_owned();
                Err(NoAnswer { found, was_connected: true })
            }
        };
        let answer = asked.map_err(|NoAnswer { found, was_connected }| {
            // Its name may lead elsewhere by now.
            self.forget(&url);
            unreachable(found, was_connected)
        })?;
        let (key, now) = (&row.member.key, self.now());
        let verified =
            verify_forwarded_answer(answer.status(), answer.headers(), &signature, key, now);
        let digest = verified.map_err(|untrusted| {
            tracing::warn!(node = %row.member.node, %url, %untrusted, "another than the node answered");
            let found = format!("an answer that is not its own: {}", first_line(&untrusted.to_string()));
            unreachable(found, true)
        })?;
        let Some(digest) = digest else { return Ok(answer) };
        let checked = whole(answer, digest).await;
        checked.map_err(|found| {
            tracing::warn!(node = %row.member.node, %url, found, "an answer of a node counts for nothing");
            unreachable(found.to_owned(), true)
        })
    }

    /// Waits until a node is not known to be there any more, or does not say so when it is asked.
    async fn gone(&self, row: &ClusterRow, client: &InternalClient, url: &Url) {
        let Ok(health) = url.join("/health") else { return };
        let mut silences = 0;
        while self.is_there(row) && silences < SILENCES {
            sleep(LIFE_PAUSE).await;
            let said = async {
                let request = Request::get(health.as_str()).body(Body::empty()).ok()?;
                to_bytes(client.ask(request).await.ok()?.into_body(), PROBLEM_MAX).await.ok()
            };
            let lives = timeout(LIFE_LIMIT, said).await.is_ok_and(|said| said.is_some());
            silences = if lives { 0 } else { silences + 1 };
        }
    }

    /// Waits until a start of a node is known not to be there any more.
    pub(crate) async fn until_gone(&self, row: &ClusterRow) {
        while self.signer(row.member.key, &row.member.start).is_some() {
            sleep(LIFE_PAUSE).await;
        }
    }

    /// Asks a node for something in the name of this one, and of an owner. What it answers has no body.
    pub(crate) async fn ask(
        &self,
        identity: &Identity,
        row: &ClusterRow,
        errand: Errand<'_>,
    ) -> Result<(), NotDone> {
        let unreachable = |found, may_have_begun| Unreachable::new(row, found, may_have_begun);
        let parts = self.own_request(row, &errand)?;
        let Errand { body, limit, .. } = errand;
        let asked = timeout(limit, self.exchange(identity, row, parts, body)).await;
        let answer =
            asked.map_err(|_| unreachable(format!("no answer within {limit:?}"), true))??;
        if answer.status().is_success() {
            return Ok(());
        }
        let (status, body) = (answer.status(), answer.into_body());
        let bytes = to_bytes(body, PROBLEM_MAX).await.unwrap_or_default();
        match problem_in(&bytes) {
            Some(problem) => Err(NotDone::Refused { name: row.member.name.clone(), problem }),
            None => Err(unreachable(told(status), true).into()),
        }
    }

    /// What a node has, as it answers a client that asks for it.
    pub(crate) async fn look<T: DeserializeOwned + Send + 'static>(
        &self,
        identity: &Identity,
        row: &ClusterRow,
        look: &Look<'_>,
        caller: &Caller,
        origin: &Origin,
    ) -> Result<T, Unreachable> {
        let unreachable = |found: String| Unreachable::new(row, found, true);
        let (method, body, most) = match &look.filters {
            None => (Method::GET, Bytes::new(), LOOK_MAX),
            Some(filters) => (Method::POST, Bytes::from(filters.clone()), TAB_MAX),
        };
        let parts = client_request(row, method, look.path, caller, origin)?;
        let looked = async {
            let answer = self.exchange(identity, row, parts, Carried::Whole(body)).await?;
            let (status, body) = (answer.status(), answer.into_body());
            if !status.is_success() {
                return Err(unreachable(told(status)));
            }
            let bytes = to_bytes(body, most).await;
            let bytes = bytes.map_err(|_| unreachable("an answer that broke off".to_owned()))?;
            let read = blocking(move || serde_json::from_slice(&bytes)).await;
            let read = read.map_err(|stopping| unreachable(stopping.to_string()))?;
            read.map_err(|_| unreachable("an answer of another form".to_owned()))
        };
        let looked = timeout(LOOK_LIMIT, looked).await;
        looked.map_err(|_| unreachable(format!("no answer within {LOOK_LIMIT:?}")))?
    }

    /// A request of this node, but for its body.
    fn own_request(&self, row: &ClusterRow, errand: &Errand<'_>) -> Result<Parts, Unreachable> {
        let here = Url::parse(&self.member().internal_url);
        let here = here.map_err(|error| Unreachable::new(row, error.to_string(), false))?;
        let Errand { method, path, caller, bytes, .. } = errand;
        let origin = Origin { here, address: None };
        let mut parts = client_request(row, method.clone(), path, caller, &origin)?;
        parts.headers.remove(CONTENT_TYPE);
        parts.headers.insert(CONTENT_LENGTH, HeaderValue::from(*bytes));
        Ok(parts)
    }
}

/// An answer with all of its body, which is what the node signed; else what there was instead.
async fn whole(answer: Response, mut digest: BodyDigest) -> Result<Response, &'static str> {
    let (parts, body) = answer.into_parts();
    let bytes = to_bytes(body, SIGNED_MAX).await.map_err(|_| "an answer that broke off")?;
    digest.read(&bytes);
    if !digest.is_met() {
        return Err("an answer that was changed on its way");
    }
    Ok(Response::from_parts(parts, Body::from(bytes)))
}

/// Why a node refused, which is at most [`PROBLEM_MAX`].
pub(crate) fn problem_in(answer: &[u8]) -> Option<Box<Problem>> {
    serde_json::from_slice(answer).ok().map(Box::new)
}

/// A request in the name of a client that asked this node, without a body; one that it gets is JSON.
pub(crate) fn client_request(
    row: &ClusterRow,
    method: Method,
    path: &str,
    caller: &Caller,
    origin: &Origin,
) -> Result<Parts, Unreachable> {
    let Origin { here, address } = origin.clone();
    let passing = Passing::new(row.member.node, Some(caller), here, address, None);
    request_parts(row, method, path, &passing).map_err(|found| Unreachable::new(row, found, false))
}

fn request_parts(
    row: &ClusterRow,
    method: Method,
    path: &str,
    passing: &Passing,
) -> Result<Parts, String> {
    let url = url_of(row)?;
    let target = url.join(path).map_err(|error| error.to_string())?;
    let header = |text: &str| HeaderValue::from_str(text).map_err(|error| error.to_string());
    let request = Request::builder()
        .method(method)
        .uri(target.as_str())
        .header(HOST, header(url.authority())?)
        .header(CONTENT_TYPE, HeaderValue::from_static("application/json"))
        .header(BATON_CALLER, header(&passing.text())?)
        .body(());
    Ok(request.map_err(|error| error.to_string())?.into_parts().0)
}

fn url_of(row: &ClusterRow) -> Result<Url, String> {
    row.member.internal_url.parse().map_err(|_| "what is no address".to_owned())
}

fn told(status: StatusCode) -> String {
    format!("an answer with status {}", status.as_u16())
}

fn first_line(text: &str) -> String {
    text.lines().next().unwrap_or_default().to_owned()
}
