//! The proxy: takes what one browser asks for, and lets out what its session may reach.
//!
//! A browser asks for a connection with CONNECT, over which it speaks TLS or a WebSocket, and for a page without
//! TLS with the whole address. What is refused is answered here, with a text that is always the same: for a
//! page without TLS, it is an answer of the site that was asked.

use crate::blocking::blocking;
use crate::counted::{Counted, Direction, Metered};
use crate::exit::{Exit, ExitError};
use crate::fence::Fence;
use crate::hosts::Target;
use crate::join::{HALF_CLOSED, join};
use crate::ledger::{Bytes, Ledger};
use crate::route::{Route, Speech};
use crate::stream::Stream;
use futures_util::future::BoxFuture;
use http::header::{
    CACHE_CONTROL, CONNECTION, CONTENT_TYPE, HOST, HeaderMap, HeaderName, HeaderValue,
    PROXY_AUTHENTICATE, PROXY_AUTHORIZATION, TE, TRAILER, TRANSFER_ENCODING, UPGRADE,
};
use http::{Method, Request, Response, StatusCode, Uri};
use http_body_util::combinators::BoxBody;
use http_body_util::{BodyExt, Full};
use hyper::body::{Bytes as Chunk, Incoming};
use hyper::service::service_fn;
use hyper_util::client::legacy::Client;
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use std::convert::Infallible;
use std::error::Error;
use std::fmt;
use std::net::SocketAddr;
use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio_util::sync::{CancellationToken, DropGuard};
use tower_service::Service;

/// How many connections a browser may have open at once; Chromium has at most 255 to a proxy, and as many for
/// `WebSocket`s.
const CONNECTIONS: usize = 1_024;
/// After how long without a free place that is told.
const CROWDED: Duration = Duration::from_secs(10);
/// After how long without the head of an answer that is told.
const SLOW: Duration = Duration::from_secs(30);
/// How long the head of a request may take.
const HEAD_LIMIT: Duration = Duration::from_secs(30);
/// The largest head, in bytes.
const HEAD_BYTES: usize = 256 << 10;
/// How much is copied at once, in bytes: with 4 KiB, 100 MiB take nine times as long.
const COPIED: usize = 64 << 10;
/// For how long a connection to a site without TLS is kept for the next request.
const IDLE: Duration = Duration::from_secs(30);

/// Who may come.
pub trait Guests: fmt::Debug + Send + Sync {
    /// Whether the process at the other end of this connection may: `client` is its address, `here` ours.
    fn may_come(&self, client: SocketAddr, here: SocketAddr) -> bool;
}

/// A client's place among those that are served at once.
#[derive(Debug)]
pub struct Place(#[expect(dead_code, reason = "it is held")] OwnedSemaphorePermit);

/// What is bounded for all that come.
#[derive(Debug, Clone, Copy)]
pub struct Limits {
    /// How many connections there may be at once, tunnels among them.
    pub places: usize,
    /// After how long one that waits for a place is told.
    pub crowded: Duration,
    /// For how long a tunnel that one side has ended goes on without a byte.
    pub half_closed: Duration,
    /// After how long a request without TLS that has no answer is told.
    pub slow: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Self { places: CONNECTIONS, crowded: CROWDED, half_closed: HALF_CLOSED, slow: SLOW }
    }
}

/// The way out of a session. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Egress {
    exit: Exit,
    ledger: Ledger,
    /// For requests without TLS: each site's connection serves several.
    client: Client<Connector, Counted>,
    limits: Limits,
    places: Arc<Semaphore>,
    /// Cancelled when nothing is to be served any more.
    ending: CancellationToken,
}

type Answer = Response<BoxBody<Chunk, hyper::Error>>;

impl Egress {
    /// A way out within all of these fences, by a route.
    pub fn new(fences: Vec<Fence>, route: Route) -> Self {
        let exit = Exit::new(fences, route);
        let client = Client::builder(TokioExecutor::new())
            .pool_timer(TokioTimer::new())
            .pool_idle_timeout(IDLE)
            .build(Connector(exit.clone()));
        let limits = Limits::default();
        let places = Arc::new(Semaphore::new(limits.places));
        let (ledger, ending) = (Ledger::default(), CancellationToken::new());
        Self { exit, ledger, client, limits, places, ending }
    }

    /// The same within other limits.
    #[must_use]
    pub fn within(self, limits: Limits) -> Self {
        Self { limits, places: Arc::new(Semaphore::new(limits.places)), ..self }
    }

    /// What was asked for.
    pub fn ledger(&self) -> &Ledger {
        &self.ledger
    }

    /// Ends all that is served, tunnels too, once what this returns is dropped.
    pub fn until_dropped(&self) -> DropGuard {
        self.ending.clone().drop_guard()
    }

    /// Serves those clients of a listener that may come, as long as this is awaited.
    pub async fn serve(&self, listener: TcpListener, guests: Arc<dyn Guests>) -> Infallible {
        loop {
            match listener.accept().await {
                Ok((stream, client)) => {
                    let place = self.place().await;
                    let (egress, guests) = (self.clone(), Arc::clone(&guests));
                    tokio::spawn(async move {
                        if may_come(guests, &stream, client).await {
                            egress.serve_one(stream, place).await;
                        } else {
                            tracing::warn!(%client, "the way out was refused to a process that is none of its browser");
                        }
                    });
                }
                Err(error) => {
                    // Out of file descriptors, most likely: they come back as connections end.
                    tracing::warn!(%error, "a connection could not be taken");
                    tokio::time::sleep(Duration::from_millis(100)).await;
                }
            }
        }
    }

    /// A place for a client that has come. One that finds none waits until it does, and that is told: a browser asks
    /// for no more than there are.
    pub async fn place(&self) -> Place {
        let Limits { places, crowded, .. } = self.limits;
        let mut taken = pin!(Arc::clone(&self.places).acquire_owned());
        let taken = if let Ok(taken) = tokio::time::timeout(crowded, &mut taken).await {
            taken
        } else {
            let why = format!(
                "nothing more was taken for {crowded:?}: all {places} connections at once are in use"
            );
            tracing::warn!("a way out is full: {why}");
            self.ledger.crowded(why);
            taken.await
        };
        match taken {
            Ok(place) => Place(place),
            // Nobody closes them.
            Err(_) => std::future::pending().await,
        }
    }

    /// Leads the bytes of a client to a target of this machine, if that may be reached; no further proxy is asked for
    /// it.
    pub async fn lead(&self, stream: TcpStream, target: Target, place: Place) {
        let _place = place;
        self.ending.run_until_cancelled(self.pass(stream, target)).await;
    }

    async fn pass(&self, mut stream: TcpStream, target: Target) {
        let connection = match self.exit.here(&target).await {
            Ok(connection) => connection.into_inner(),
            Err(error) => return self.note(&target, &error),
        };
        self.ledger.reached(&target);
        let mut connection = Metered::new(connection, self.ledger.bytes(&target));
        let joined = join(&mut stream, &mut connection, COPIED, self.limits.half_closed).await;
        if let Err(error) = joined {
            tracing::debug!(%error, %target, "a connection ended");
        }
    }

    /// Serves one client as a proxy. It keeps its place until its tunnel ends, if it asks for one.
    pub async fn serve_one(&self, stream: TcpStream, place: Place) {
        // It tells the browser of a failed connection late, and that is all.
        let _ = stream.set_nodelay(true);
        let place = Arc::new(place);
        let service = service_fn(|request| self.answer(request, &place));
        let serving = hyper::server::conn::http1::Builder::new()
            .timer(TokioTimer::new())
            .header_read_timeout(HEAD_LIMIT)
            .max_buf_size(HEAD_BYTES)
            .preserve_header_case(true)
            .serve_connection(TokioIo::new(stream), service)
            .with_upgrades();
        if let Some(Err(error)) = self.ending.run_until_cancelled(serving).await {
            tracing::debug!(%error, "a connection of the browser broke");
        }
    }

    async fn answer(
        &self,
        request: Request<Incoming>,
        place: &Arc<Place>,
    ) -> Result<Answer, Infallible> {
        let Some(target) = target_of(&request) else {
            return Ok(said(StatusCode::BAD_REQUEST, "expected a request to a proxy"));
        };
        let answered = if request.method() == Method::CONNECT {
            self.tunnel(request, &target, Arc::clone(place)).await
        } else {
            self.forward(request, &target).await
        };
        Ok(answered.unwrap_or_else(|error| self.refuse(&target, &error)))
    }

    /// Notes that a target was not reached, and says so.
    fn refuse(&self, target: &Target, error: &ExitError) -> Answer {
        self.note(target, error);
        if let ExitError::Refused(_) = error {
            return said(StatusCode::FORBIDDEN, "This session may not reach this host.\n");
        }
        said(StatusCode::BAD_GATEWAY, "This session's way out found no way to this host.\n")
    }

    fn note(&self, target: &Target, error: &ExitError) {
        match error {
            ExitError::Refused(refusal) => self.ledger.refused(target, refusal),
            error => self.ledger.failed(target, error.to_string()),
        }
    }

    /// Makes a connection to the target, and then passes bytes on.
    async fn tunnel(
        &self,
        request: Request<Incoming>,
        target: &Target,
        place: Arc<Place>,
    ) -> Result<Answer, ExitError> {
        let stream = self.exit.connect(target, Speech::Anything).await?.into_inner();
        self.ledger.reached(target);
        let (target, bytes) = (target.clone(), self.ledger.bytes(target));
        let half_closed = self.limits.half_closed;
        let (exit, ledger) = (self.exit.clone(), self.ledger.clone());
        let passing = async move {
            let _place = place;
            let client = match hyper::upgrade::on(request).await {
                Ok(client) => client,
                Err(error) => return tracing::debug!(%error, %target, "the browser left"),
            };
            let mut client = TokioIo::new(client);
            let mut stream = Metered::new(stream, bytes);
            let joined = join(&mut client, &mut stream, COPIED, half_closed).await;
            if let Err(error) = joined {
                tracing::debug!(%error, %target, "a connection ended");
            }
            let broke_off = stream.broke_off().and_then(|error| exit.broke_off(&target, error));
            if let Some(broke_off) = broke_off {
                ledger.failed(&target, broke_off.to_string());
            }
        };
        tokio::spawn(self.ending.clone().run_until_cancelled_owned(passing));
        Ok(Response::new(empty()))
    }

    /// Passes a request without TLS on, and its answer back.
    async fn forward(
        &self,
        request: Request<Incoming>,
        target: &Target,
    ) -> Result<Answer, ExitError> {
        let bytes = self.ledger.bytes(target);
        let request = self.passed_on(request, target, &bytes);
        let mut asked = pin!(self.client.request(request));
        let in_time = tokio::time::timeout(self.limits.slow, &mut asked).await;
        let answered = if let Ok(answered) = in_time {
            answered
        } else {
            // Some answers take long, so it is told and waited for.
            let why = self.exit.slow(target, self.limits.slow);
            tracing::warn!(%target, "{why}");
            let waiting = self.ledger.waits(target, why);
            let answered = asked.await;
            waiting.end();
            answered
        };
        let response = answered.map_err(|error| self.exit_error(target, &error))?;
        let (mut head, body) = response.into_parts();
        if head.status == StatusCode::PROXY_AUTHENTICATION_REQUIRED {
            return Err(self.exit.not_let_in(target, &head.headers));
        }
        remove_hops(&mut head.headers);
        self.ledger.reached(target);
        let body = Counted { body, bytes, counts: Direction::Received };
        Ok(Response::from_parts(head, body.boxed()))
    }

    /// Why a request was not answered: what the exit said, if it was that.
    fn exit_error(&self, target: &Target, error: &hyper_util::client::legacy::Error) -> ExitError {
        let mut cause: Option<&(dyn Error + 'static)> = Some(error);
        while let Some(this) = cause {
            if let Some(ExitFailed(exit)) = this.downcast_ref::<ExitFailed>() {
                return exit.clone();
            }
            cause = this.source();
        }
        self.exit.unanswered(target, error)
    }

    fn passed_on(
        &self,
        request: Request<Incoming>,
        target: &Target,
        bytes: &Arc<Bytes>,
    ) -> Request<Counted> {
        let (mut head, body) = request.into_parts();
        remove_hops(&mut head.headers);
        // What is asked for is what the address says, whatever the header does.
        let host = match target.port {
            80 => target.host.to_string(),
            _ => target.to_string(),
        };
        if let Ok(host) = HeaderValue::from_str(&host) {
            head.headers.insert(HOST, host);
        }
        if let Some(credentials) = self.exit.authorization(target) {
            head.headers.insert(PROXY_AUTHORIZATION, credentials);
        }
        let bytes = Arc::clone(bytes);
        Request::from_parts(head, Counted { body, bytes, counts: Direction::Sent })
    }
}

/// Whether the process at the other end may. To find one that may not, all processes are looked at, which is not
/// for the thread that serves.
async fn may_come(guests: Arc<dyn Guests>, stream: &TcpStream, client: SocketAddr) -> bool {
    let Ok(here) = stream.local_addr() else { return false };
    blocking(move || guests.may_come(client, here)).await
}

/// What a client asks for.
fn target_of(request: &Request<Incoming>) -> Option<Target> {
    let uri = request.uri();
    let is_connect = request.method() == Method::CONNECT;
    let port = match (uri.port_u16(), is_connect, uri.scheme_str()) {
        (Some(port), ..) => port,
        (None, false, Some("http")) => 80,
        _ => return None,
    };
    if !is_connect && uri.scheme_str() != Some("http") {
        return None;
    }
    Target::new(uri.host()?, port).ok()
}

/// Headers that hold for one connection (RFC 9110, section 7.6.1), and those that `Connection` names.
fn remove_hops(headers: &mut HeaderMap) {
    let named: Vec<HeaderName> = headers
        .get_all(CONNECTION)
        .iter()
        .filter_map(|value| value.to_str().ok())
        .flat_map(|value| value.split(','))
        .filter_map(|name| name.trim().parse().ok())
        .collect();
    for name in named {
        headers.remove(name);
    }
    let hops = [CONNECTION, PROXY_AUTHENTICATE, PROXY_AUTHORIZATION, TE, TRAILER, UPGRADE];
    for name in hops {
        headers.remove(name);
    }
    headers.remove(TRANSFER_ENCODING);
    headers.remove("keep-alive");
    headers.remove("proxy-connection");
}

fn said(status: StatusCode, text: &'static str) -> Answer {
    let body = Full::new(Chunk::from_static(text.as_bytes()));
    let mut answer = Response::new(body.map_err(|never| match never {}).boxed());
    *answer.status_mut() = status;
    let headers = answer.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("text/plain; charset=utf-8"));
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    answer
}

fn empty() -> BoxBody<Chunk, hyper::Error> {
    Full::new(Chunk::new()).map_err(|never| match never {}).boxed()
}

/// Connections for requests without TLS.
#[derive(Debug, Clone)]
struct Connector(Exit);

/// What the exit said, within an error of the client.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
struct ExitFailed(ExitError);

impl Service<Uri> for Connector {
    type Response = TokioIo<Stream>;
    type Error = ExitFailed;
    type Future = BoxFuture<'static, Result<TokioIo<Stream>, ExitFailed>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), ExitFailed>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, place: Uri) -> Self::Future {
        let exit = self.0.clone();
        Box::pin(async move {
            let target = place.host().map(|host| Target::new(host, place.port_u16().unwrap_or(80)));
            let Some(Ok(target)) = target else { return Err(ExitFailed(ExitError::NoAddress)) };
            exit.connect(&target, Speech::Requests).await.map_err(ExitFailed)
        })
    }
}
