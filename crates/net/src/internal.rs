//! The way to another node of one's own network: a pool of connections to one address, with streams both ways.
//!
//! The one idea: where it leads is decided by who runs the nodes, not by a caller. So it may be private; in clear
//! text it goes to private addresses and to this machine only.

use crate::outbound::{WayError, refuse, resolve_within, said};
use crate::trust::{Speaks, trusting};
use axum::body::{Body, Bytes};
use axum::http::{Request, Response};
use baton_egress::is_public;
use futures_util::{StreamExt as _, stream};
use hyper::body::{Body as HttpBody, Frame, SizeHint};
use std::io;
use std::pin::Pin;
use std::sync::{Mutex, PoisonError};
use std::task::{Context, Poll};
use std::time::Duration;
use tokio::sync::Semaphore;
use tokio::time::timeout;
use url::Url;

/// How long a connection may take to open.
const CONNECT_LIMIT: Duration = Duration::from_secs(3);
/// How long the next piece of an answer that has begun may take.
const IDLE_LIMIT: Duration = Duration::from_mins(1);
/// How long a connection is kept that nobody uses, and how many of them.
const KEPT: Duration = Duration::from_secs(30);
const KEPT_MOST: usize = 32;
/// How many names of nodes are looked up at once; no name that a caller says is among them.
static LOOKUPS: Semaphore = Semaphore::const_new(16);

/// Asks one node. Cheap to clone.
#[derive(Debug, Clone)]
pub struct InternalClient(reqwest::Client);

impl InternalClient {
    /// A client of the node at this address, whose name is looked up once.
    pub async fn new(url: &Url) -> Result<Self, WayError> {
        let found = resolve_within(url, &LOOKUPS).await?;
        let public = found.iter().find(|one| is_public(one.ip().to_canonical()));
        match (url.scheme(), public) {
            ("https", _) | ("http", None) => {}
            ("http", Some(public)) => {
                let place = url.origin().ascii_serialization();
                return refuse(format!(
                    "{place}, which is not encrypted and leads to the public address {}",
                    public.ip()
                ));
            }
            (scheme, _) => return refuse(format!("one with the scheme {scheme}")),
        }
        let none = |why: String| WayError::NoClient { url: url.clone(), why };
        let builder = reqwest::Client::builder()
            .connect_timeout(CONNECT_LIMIT)
            .pool_idle_timeout(KEPT)
            .pool_max_idle_per_host(KEPT_MOST)
            // A connection of HTTP/2 cannot become a WebSocket.
            .http1_only()
            .redirect(reqwest::redirect::Policy::none())
            .no_proxy()
            .resolve_to_addrs(url.host_str().unwrap_or_default(), &found);
        let builder =
            trusting(builder, url, Speaks::Http1).map_err(|error| none(error.to_string()))?;
        Ok(Self(builder.build().map_err(|error| none(said(error)))?))
    }

    /// Asks. How long the answer may take to begin is the caller's business.
    pub async fn ask(&self, request: Request<Body>) -> Result<Response<Body>, NoAnswer> {
        let request = request.map(|body| reqwest::Body::wrap(Shared::new(body)));
        let request = reqwest::Request::try_from(request).map_err(no_answer)?;
        let answer = self.0.execute(request).await.map_err(no_answer)?;
        Ok(Response::from(answer).map(|body| within(Body::new(body))))
    }
}

/// What there was instead of an answer.
#[derive(Debug)]
pub struct NoAnswer {
    /// In words.
    pub found: String,
    /// Whether there was a connection, so that the node may have begun what was asked.
    pub was_connected: bool,
}

fn no_answer(error: reqwest::Error) -> NoAnswer {
    NoAnswer { was_connected: !error.is_connect(), found: said(error) }
}

/// A body whose pieces come in time.
fn within(body: Body) -> Body {
    if body.is_end_stream() {
        return body;
    }
    let pieces = stream::unfold(Some(body.into_data_stream()), |pieces| async {
        let mut pieces = pieces?;
        match timeout(IDLE_LIMIT, pieces.next()).await {
            Ok(piece) => Some((piece?.map_err(io::Error::other), Some(pieces))),
            Err(_) => Some((Err(io::ErrorKind::TimedOut.into()), None)),
        }
    });
    Body::from_stream(pieces)
}

/// A body that threads may share, as the client wants it; one at a time reads it.
struct Shared {
    body: Mutex<Body>,
    size: SizeHint,
    is_empty: bool,
}

impl Shared {
    fn new(body: Body) -> Self {
        let (size, is_empty) = (body.size_hint(), body.is_end_stream());
        Self { body: Mutex::new(body), size, is_empty }
    }
}

impl HttpBody for Shared {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        let body = self.body.get_mut().unwrap_or_else(PoisonError::into_inner);
        Pin::new(body).poll_frame(context)
    }

    fn is_end_stream(&self) -> bool {
        self.is_empty
    }

    fn size_hint(&self) -> SizeHint {
        self.size
    }
}
