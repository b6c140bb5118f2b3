//! A listener, the line of each connection to it, and what answers behind it.
//!
//! The line belongs to the task that reads and writes, from the handshake of TLS to the last message of a
//! WebSocket; bytes pass as they are, and the place goes with them. So a place is held for exactly as long as
//! there is a socket, and ends in every phase.
//!
//! A socket that is closed while more comes resets the connection, and a caller that is still sending loses
//! the answer that is on its way (RFC 9112, section 9.6). So what an answered request still sends is taken
//! first.

use super::places::{Guest, Holder, Place, Places};
use super::{Bounds, Connection, Keys, Paced, Visit};
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
use std::io::{ErrorKind, IoSlice};
use std::net::SocketAddr;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::{TcpListener, TcpStream};
use tokio::time::{Instant, Sleep, sleep, sleep_until, timeout};
use tokio_rustls::TlsAcceptor;
use tokio_rustls::server::TlsStream;
use tokio_util::sync::{CancellationToken, WaitForCancellationFutureOwned};
use tokio_util::task::{AbortOnDropHandle, TaskTracker};
use tower::{Service, ServiceExt as _};

/// How long we wait when the system has no socket left for us.
const OUT_OF_SOCKETS: Duration = Duration::from_millis(100);
/// How large the head of a request may be; the largest of browsers have half of it.
const HEAD_BYTES: usize = 128 << 10;
/// How long a connection lasts after its last answer was given.
const FAREWELL: Duration = Duration::from_secs(5);
/// How often it is looked whether keys are good that connections are held with. A connection ends when its
/// key was not good twice: the caller on it has had the time to say why.
const LOOK_PAUSE: Duration = Duration::from_secs(5);

/// One listener, and what answers behind it.
pub struct Listener<S> {
    /// Where connections arrive.
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

impl<S> Listener<S>
where
    S: Service<Request, Response = Response, Error = Infallible> + Clone + Send + 'static,
    S::Future: Send,
{
    /// Answers callers, until `shutdown`; requests under way then are finished.
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
            let visit = Visit::start(guest.clone(), closing.clone());
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

/// How much of the rest of a request is taken at once.
const PIECE: usize = 16 << 10;

/// A socket and its place.
struct Line {
    stream: TcpStream,
    place: Place,
    ended: Pin<Box<WaitForCancellationFutureOwned>>,
    /// How long the other side may take nothing of what is sent.
    limit: Duration,
    /// Runs while the other side takes nothing.
    stalled: Option<Pin<Box<Sleep>>>,
    /// How long the rest of a request is taken that was answered.
    patience: Duration,
    /// Runs while it is.
    rest: Option<Pin<Box<Sleep>>>,
}

impl Line {
    fn new(stream: TcpStream, place: Place, bounds: Bounds) -> Self {
        let ended = Box::pin(place.ended().cancelled_owned());
        let (limit, patience) = (bounds.stalled, bounds.silence);
        Self { stream, place, ended, limit, stalled: None, patience, rest: None }
    }

    /// Fails once the place was taken.
    fn check(&mut self, context: &mut Context<'_>) -> io::Result<()> {
        match self.ended.as_mut().poll(context) {
            Poll::Ready(()) => {
                Err(io::Error::new(ErrorKind::ConnectionAborted, "its place was taken"))
            }
            Poll::Pending => Ok(()),
        }
    }

    /// Writes, and fails when nothing was taken for too long.
    fn write(
        &mut self,
        context: &mut Context<'_>,
        write: impl FnOnce(Pin<&mut TcpStream>, &mut Context<'_>) -> Poll<io::Result<usize>>,
    ) -> Poll<io::Result<usize>> {
        self.check(context)?;
        if let Poll::Ready(written) = write(Pin::new(&mut self.stream), context) {
            self.stalled = None;
            self.place.moved();
            return Poll::Ready(written);
        }
        let limit = self.limit;
        let stalled =
            self.stalled.get_or_insert_with(|| Box::pin(sleep_until(Instant::now() + limit)));
        ready!(stalled.as_mut().poll(context));
        Poll::Ready(Err(io::Error::new(ErrorKind::TimedOut, "nothing of what is sent is taken")))
    }

    /// Takes what still comes, until nothing does or it takes too long. It belongs to no request, so nothing
    /// has moved.
    fn take_rest(&mut self, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let end = Instant::now() + self.patience;
        let mut rest = self.rest.take().unwrap_or_else(|| Box::pin(sleep_until(end)));
        let mut bytes = [0; PIECE];
        while Instant::now() < rest.deadline() {
            self.check(context)?;
            let mut buffer = ReadBuf::new(&mut bytes);
            match Pin::new(&mut self.stream).poll_read(context, &mut buffer) {
                Poll::Ready(Ok(())) if !buffer.filled().is_empty() => {}
                Poll::Pending if rest.as_mut().poll(context).is_pending() => {
                    self.rest = Some(rest);
                    return Poll::Pending;
                }
                // The other side has hung up, or its time is over.
                Poll::Ready(_) | Poll::Pending => break,
            }
        }
        Poll::Ready(Ok(()))
    }
}

impl AsyncRead for Line {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        self.check(context)?;
        let before = buffer.filled().len();
        let read = ready!(Pin::new(&mut self.stream).poll_read(context, buffer));
        if buffer.filled().len() > before {
            self.place.moved();
        }
        Poll::Ready(read)
    }
}

impl AsyncWrite for Line {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        self.write(context, |stream, context| stream.poll_write(context, bytes))
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        slices: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        self.write(context, |stream, context| stream.poll_write_vectored(context, slices))
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        ready!(Pin::new(&mut self.stream).poll_shutdown(context))?;
        if self.place.has_more() { self.take_rest(context) } else { Poll::Ready(Ok(())) }
    }
}
