//! A listener, and what answers behind it.

use super::bounds::{Bounds, Connection};
use super::keys::Keys;
use super::line::Line;
use super::places::{Guest, Holder, Places};
use super::visit::{Paced, Visit};
use axum::body::Body;
use axum::extract::Request;
use axum::http::StatusCode;
use axum::http::header::{CONNECTION, HeaderValue};
use axum::response::Response;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use std::collections::HashSet;
use std::convert::Infallible;
use std::io;
use std::net::SocketAddr;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpListener, TcpStream};
use tokio::time::{sleep, timeout};
use tokio_rustls::TlsAcceptor;
use tokio_rustls::server::TlsStream;
use tokio_util::sync::CancellationToken;
use tokio_util::task::{AbortOnDropHandle, TaskTracker};
use tower::{Service, ServiceExt as _};

/// How long we wait when the system has no socket left for us.
const OUT_OF_SOCKETS: Duration = Duration::from_millis(100);
/// How large the head of a request may be; the largest of browsers have half of it.
const HEAD_BYTES: usize = 128 << 10;
/// How long a connection lasts after its last answer was given.
const FAREWELL: Duration = Duration::from_secs(5);
/// How often it is looked whether keys are good that connections are held with. A connection ends when its
/// key was not good twice: whoever speaks on it has had the time to say why.
const LOOK_PAUSE: Duration = Duration::from_secs(5);

/// One listener, and what answers behind it.
pub struct Door<S> {
    /// Where whoever comes arrives.
    pub listener: TcpListener,
    /// What speaks TLS; none means clear text.
    pub tls: Option<TlsAcceptor>,
    /// What answers.
    pub service: S,
    /// How many may come, and how long they may take.
    pub bounds: Bounds,
    /// Whether every connection comes from a proxy, so that its address tells nothing.
    pub behind_proxy: bool,
    /// Where keys are looked up with which connections are held; each ends with its key.
    pub keys: Option<Arc<dyn Keys>>,
}

impl<S> Door<S>
where
    S: Service<Request, Response = Response, Error = Infallible> + Clone + Send + 'static,
    S::Future: Send,
{
    /// Answers whoever comes, until `shutdown`; requests under way then are finished.
    pub async fn answer(self, shutdown: &CancellationToken) {
        let places = Places::new(self.bounds.connections, self.behind_proxy);
        let watching = watch(places.clone(), self.keys.clone());
        let _watching = AbortOnDropHandle::new(tokio::spawn(watching));
        let connections = TaskTracker::new();
        while let Some((stream, peer)) = self.next(&places, shutdown).await {
            let place = places.enter(peer.ip());
            let (service, bounds) = (self.service.clone(), self.bounds);
            let (tls, shutdown) = (self.tls.clone(), shutdown.clone());
            connections.spawn(async move {
                let talk = Talk { peer, bounds, guest: place.guest(), ended: place.ended() };
                let line = Line::new(stream, place, bounds);
                match tls {
                    None => talk.go_on(line, service, &shutdown).await,
                    Some(tls) => {
                        if let Some(line) =
                            secure(line, peer, &tls, bounds.silence, &shutdown).await
                        {
                            talk.go_on(line, service, &shutdown).await;
                        }
                    }
                }
            });
        }
        connections.close();
        connections.wait().await;
    }

    /// The next connection; none when the node ends.
    async fn next(
        &self,
        places: &Places,
        shutdown: &CancellationToken,
    ) -> Option<(TcpStream, SocketAddr)> {
        let accept = async {
            loop {
                match self.listener.accept().await {
                    Ok(accepted) => return accepted,
                    Err(error) if is_the_callers(&error) => {}
                    Err(error) => {
                        tracing::error!(%error, "a connection was not accepted");
                        // The system may have fewer sockets for us than there are places.
                        places.make_room();
                        sleep(OUT_OF_SOCKETS).await;
                    }
                }
            }
        };
        tokio::select! {
            () = shutdown.cancelled() => None,
            next = accept => Some(next),
        }
    }
}

/// Ends connections whose keys are good no longer, for as long as it runs.
async fn watch(places: Places, keys: Option<Arc<dyn Keys>>) {
    let Some(keys) = keys else { return };
    let mut suspected = HashSet::<Holder>::new();
    loop {
        sleep(LOOK_PAUSE).await;
        let mut bad = HashSet::new();
        for holder in places.watched() {
            let Some(owner) = &holder.owner else { continue };
            if !keys.is_good(owner, &holder.name).await {
                bad.insert(holder);
            }
        }
        for holder in bad.intersection(&suspected) {
            tracing::info!(key = %holder.name, "its connections end, for the key is good no longer");
            places.end(holder);
        }
        suspected = bad;
    }
}

/// Whether it was the caller who left.
fn is_the_callers(error: &io::Error) -> bool {
    use io::ErrorKind::{ConnectionAborted, ConnectionRefused, ConnectionReset};
    matches!(error.kind(), ConnectionAborted | ConnectionRefused | ConnectionReset)
}

/// Shakes hands; none when that does not lead anywhere.
async fn secure(
    line: Line,
    peer: SocketAddr,
    tls: &TlsAcceptor,
    silence: Duration,
    shutdown: &CancellationToken,
) -> Option<TlsStream<Line>> {
    let shaken = tokio::select! {
        () = shutdown.cancelled() => return None,
        shaken = timeout(silence, tls.accept(line)) => shaken,
    };
    match shaken {
        Ok(Ok(stream)) => return Some(stream),
        Ok(Err(error)) => tracing::debug!(%peer, %error, "a TLS handshake failed"),
        Err(_) => tracing::debug!(%peer, "a TLS handshake took too long"),
    }
    None
}

/// What is known of a connection while it speaks HTTP.
struct Talk {
    peer: SocketAddr,
    bounds: Bounds,
    guest: Guest,
    ended: CancellationToken,
}

impl Talk {
    /// Answers the requests of one connection.
    async fn go_on<T, S>(self, stream: T, service: S, shutdown: &CancellationToken)
    where
        T: AsyncRead + AsyncWrite + Unpin + Send + 'static,
        S: Service<Request, Response = Response, Error = Infallible> + Clone + Send + 'static,
        S::Future: Send,
    {
        let Self { peer, bounds, guest, ended } = self;
        let closing = CancellationToken::new();
        let closed = closing.clone();
        let service = service_fn(move |request: Request<Incoming>| {
            let visit = Visit::begin(guest.clone(), closing.clone());
            let mut request =
                request.map(|body| Body::new(Paced::new(body, visit.clone(), bounds)));
            request.extensions_mut().insert(Connection(peer));
            request.extensions_mut().insert(visit.clone());
            let answer = service.clone().oneshot(request);
            async move { answer.await.map(|response| last_word(response, visit)) }
        });
        let connection = http1::Builder::new()
            .timer(TokioTimer::new())
            .header_read_timeout(bounds.silence)
            .max_buf_size(HEAD_BYTES)
            .serve_connection(TokioIo::new(stream), service)
            .with_upgrades();
        let mut connection = pin!(connection);
        let over = async {
            closed.cancelled().await;
            sleep(FAREWELL).await;
        };
        let mut over = pin!(over);
        let mut is_told = false;
        let result = loop {
            tokio::select! {
                result = connection.as_mut() => break result,
                () = ended.cancelled() => {
                    return tracing::debug!(%peer, "a connection ended, for its place was taken");
                }
                () = &mut over => {
                    return tracing::debug!(%peer, "a connection ended after its last answer");
                }
                () = shutdown.cancelled(), if !is_told => {
                    is_told = true;
                    connection.as_mut().graceful_shutdown();
                }
            }
        };
        if let Err(error) = result {
            tracing::debug!(%peer, %error, "a connection ended early");
        }
    }
}

/// What the connection makes of an answer. After one that says that something took too long it ends: what
/// is still to come of the request belongs to nothing any more.
fn last_word(mut response: Response, visit: Visit) -> Response {
    let is_late =
        matches!(response.status(), StatusCode::REQUEST_TIMEOUT | StatusCode::GATEWAY_TIMEOUT);
    if is_late || visit.trouble().is_some() {
        response.headers_mut().insert(CONNECTION, HeaderValue::from_static("close"));
        visit.close();
    }
    if response.status() == StatusCode::SWITCHING_PROTOCOLS {
        return response;
    }
    response.map(|body| visit.answer(body))
}
