//! Connections: how many there may be, and how long a caller may take.
//!
//! Each has a task of its own, from the handshake on, so that one caller that falls silent keeps
//! nobody waiting; and a silent one is hung up on, so that many of them do not either.

use super::peer::Connection;
use axum::body::Body;
use axum::extract::Request;
use axum::response::Response;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use std::convert::Infallible;
use std::io;
use std::net::SocketAddr;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::{sleep, timeout};
use tokio_rustls::TlsAcceptor;
use tokio_rustls::server::TlsStream;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;
use tower::{Service, ServiceExt as _};

/// How long we wait when the system has no socket left for us.
const OUT_OF_SOCKETS: Duration = Duration::from_secs(1);

/// What a door bears.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Bounds {
    /// How many connections at once; further ones wait.
    pub(crate) connections: usize,
    /// How long a handshake, and then the head of each request, may take.
    pub(crate) silence: Duration,
}

impl Default for Bounds {
    fn default() -> Self {
        Self { connections: 1000, silence: Duration::from_secs(30) }
    }
}

/// One listener, and what answers behind it.
pub(crate) struct Door<S> {
    pub(crate) listener: TcpListener,
    pub(crate) tls: Option<TlsAcceptor>,
    pub(crate) service: S,
    pub(crate) bounds: Bounds,
}

impl<S> Door<S>
where
    S: Service<Request, Response = Response, Error = Infallible> + Clone + Send + 'static,
    S::Future: Send,
{
    /// Answers whoever comes, until `shutdown`; requests under way then are finished.
    pub(crate) async fn answer(self, shutdown: &CancellationToken) {
        let places = Arc::new(Semaphore::new(self.bounds.connections));
        let connections = TaskTracker::new();
        while let Some((stream, peer, place)) = self.next(&places, shutdown).await {
            let (service, silence) = (self.service.clone(), self.bounds.silence);
            let (tls, shutdown) = (self.tls.clone(), shutdown.clone());
            connections.spawn(async move {
                match tls {
                    None => talk(stream, peer, service, silence, &shutdown).await,
                    Some(tls) => {
                        if let Some(stream) = secure(stream, peer, &tls, silence, &shutdown).await {
                            talk(stream, peer, service, silence, &shutdown).await;
                        }
                    }
                }
                drop(place);
            });
        }
        connections.close();
        connections.wait().await;
    }

    /// The next connection, once there is a place for it; none when the node ends.
    async fn next(
        &self,
        places: &Arc<Semaphore>,
        shutdown: &CancellationToken,
    ) -> Option<(TcpStream, SocketAddr, OwnedSemaphorePermit)> {
        let accept = async {
            let place = Arc::clone(places).acquire_owned().await.ok()?;
            loop {
                match self.listener.accept().await {
                    Ok((stream, peer)) => return Some((stream, peer, place)),
                    Err(error) if is_the_callers(&error) => {}
                    Err(error) => {
                        tracing::error!(%error, "a connection was not accepted");
                        sleep(OUT_OF_SOCKETS).await;
                    }
                }
            }
        };
        tokio::select! {
            () = shutdown.cancelled() => None,
            next = accept => next,
        }
    }
}

/// Whether it was the caller who left.
fn is_the_callers(error: &io::Error) -> bool {
    use io::ErrorKind::{ConnectionAborted, ConnectionRefused, ConnectionReset};
    matches!(error.kind(), ConnectionAborted | ConnectionRefused | ConnectionReset)
}

/// Shakes hands; none when that does not lead anywhere.
async fn secure(
    stream: TcpStream,
    peer: SocketAddr,
    tls: &TlsAcceptor,
    silence: Duration,
    shutdown: &CancellationToken,
) -> Option<TlsStream<TcpStream>> {
    let shaken = tokio::select! {
        () = shutdown.cancelled() => return None,
        shaken = timeout(silence, tls.accept(stream)) => shaken,
    };
    match shaken {
        Ok(Ok(stream)) => return Some(stream),
        Ok(Err(error)) => tracing::debug!(%peer, %error, "a TLS handshake failed"),
        Err(_) => tracing::debug!(%peer, "a TLS handshake took too long"),
    }
    None
}

/// Answers the requests of one connection.
async fn talk<T, S>(
    stream: T,
    peer: SocketAddr,
    service: S,
    silence: Duration,
    shutdown: &CancellationToken,
) where
    T: AsyncRead + AsyncWrite + Unpin + Send + 'static,
    S: Service<Request, Response = Response, Error = Infallible> + Clone + Send + 'static,
    S::Future: Send,
{
    let service = service.map_request(move |mut request: Request<Incoming>| {
        request.extensions_mut().insert(Connection(peer));
        request.map(Body::new)
    });
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(silence)
        .serve_connection(TokioIo::new(stream), TowerToHyperService::new(service))
        .with_upgrades();
    let mut connection = pin!(connection);
    let ended = tokio::select! {
        ended = connection.as_mut() => ended,
        () = shutdown.cancelled() => {
            connection.as_mut().graceful_shutdown();
            connection.await
        }
    };
    if let Err(error) = ended {
        tracing::debug!(%peer, %error, "a connection ended early");
    }
}

#[cfg(test)]
mod tests {
    use super::{Bounds, Door};
    use axum::Router;
    use axum::routing::get;
    use std::time::Duration;
    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    use tokio::net::{TcpListener, TcpStream};
    use tokio_util::sync::CancellationToken;

    #[tokio::test]
    async fn who_falls_silent_is_hung_up_on_and_makes_room_for_the_next() {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let router = Router::new().route("/", get(async || "here"));
        let bounds = Bounds { connections: 1, silence: Duration::from_millis(50) };
        let door = Door { listener, tls: None, service: router, bounds };
        let shutdown = CancellationToken::new();
        let told = shutdown.clone();
        let node = tokio::spawn(async move { door.answer(&told).await });

        let mut silent = TcpStream::connect(address).await.unwrap();
        silent.write_all(b"GET / HTTP/1.1\r\nHost: ").await.unwrap();
        let mut next = TcpStream::connect(address).await.unwrap();
        next.write_all(b"GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n").await.unwrap();
        let mut answer = String::new();
        next.read_to_string(&mut answer).await.unwrap();
        assert!(answer.ends_with("here"), "{answer}");
        let mut nothing = String::new();
        silent.read_to_string(&mut nothing).await.unwrap();
        assert!(!nothing.contains("here"), "{nothing}");
        shutdown.cancel();
        node.await.unwrap();
    }
}
