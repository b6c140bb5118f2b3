//! The exit: how a connection to a host is made, directly or through a further proxy.
//!
//! Directly, a name is looked up here and each address that it has is judged, at every connection anew. A
//! further proxy is told the name, and looks it up itself.

use crate::fence::{Fence, Refusal};
use crate::hosts::Target;
use crate::upstream::{Scheme, Upstream};
use http::HeaderValue;
use hyper::Uri;
use hyper_util::client::legacy::connect::dns::{GaiResolver, Name};
use hyper_util::client::legacy::connect::proxy::{SocksV5, Tunnel};
use hyper_util::client::legacy::connect::{Connected, Connection, HttpConnector};
use hyper_util::rt::TokioIo;
use std::error::Error;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio_rustls::TlsConnector;
use tokio_rustls::rustls::pki_types::ServerName;
use tower_service::Service;

/// How long a name may take to be looked up, and a connection to be made, with what a further proxy says
/// before it.
const LOOKUP_LIMIT: Duration = Duration::from_secs(10);
const CONNECT_LIMIT: Duration = Duration::from_secs(30);
/// After how long of silence it is asked whether the other side of a connection is there.
const KEEPALIVE: Duration = Duration::from_mins(1);

/// Why there is no connection.
#[derive(Debug, Clone, thiserror::Error)]
pub enum ExitError {
    /// The session may not go there.
    #[error(transparent)]
    Refused(#[from] Refusal),
    /// No address of it is known.
    #[error("it has no address")]
    NoAddress,
    /// It does not answer.
    #[error("{0}")]
    Unreachable(String),
    /// It did not answer in time.
    #[error("no connection within {CONNECT_LIMIT:?}")]
    TimedOut,
    /// The further proxy is at fault.
    #[error("the session's proxy {proxy}: {why}")]
    Proxy {
        /// Which one, without credentials.
        proxy: String,
        /// What it did.
        why: String,
    },
}

/// The way out.
#[derive(Debug, Clone)]
pub(crate) struct Exit {
    fence: Arc<Fence>,
    upstream: Option<Arc<Upstream>>,
}

/// What is spoken over a connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Speech {
    /// Whatever the client wants: the connection leads to the target itself.
    Anything,
    /// Requests of HTTP, which a further proxy takes as well.
    Requests,
}

impl Exit {
    pub(crate) fn new(fence: Arc<Fence>, upstream: Option<Upstream>) -> Self {
        Self { fence, upstream: upstream.map(Arc::new) }
    }

    /// Connects to a target that may be asked for.
    pub(crate) async fn connect(
        &self,
        target: &Target,
        speech: Speech,
    ) -> Result<TokioIo<Stream>, ExitError> {
        self.fence.judge(target)?;
        let connecting = async {
            match &self.upstream {
                None => self.direct(target).await,
                Some(upstream) => through(upstream, target, speech).await,
            }
        };
        tokio::time::timeout(CONNECT_LIMIT, connecting).await.unwrap_or(Err(ExitError::TimedOut))
    }

    /// What a further proxy wants to know with each request that it takes itself.
    pub(crate) fn authorization(&self) -> Option<HeaderValue> {
        let upstream =
            self.upstream.as_ref().filter(|upstream| upstream.scheme() != Scheme::Socks5)?;
        upstream.authorization()
    }

    /// That a further proxy wants other credentials, or that a site says so which is none.
    pub(crate) fn credentials_refused(&self) -> ExitError {
        let why = "it wants other credentials".to_owned();
        match &self.upstream {
            Some(upstream) => ExitError::Proxy { proxy: upstream.to_string(), why },
            None => ExitError::Unreachable(
                "it answers as a proxy does that wants credentials".to_owned(),
            ),
        }
    }

    async fn direct(&self, target: &Target) -> Result<TokioIo<Stream>, ExitError> {
        let addresses = match target.addresses() {
            Some(addresses) => addresses,
            None => look_up(target).await?,
        };
        let addresses = self.fence.reachable(target, addresses)?;
        let mut connector = connector_to(Checked(addresses));
        // The resolver gives the addresses, so any name will do.
        let place = format!("http://checked.invalid:{}", target.port);
        let place: Uri = place.parse().map_err(|_| ExitError::NoAddress)?;
        let connected = connector.call(place).await;
        let stream = connected.map_err(|error| ExitError::Unreachable(said(&error)))?;
        Ok(TokioIo::new(Stream::new(stream.into_inner())))
    }
}

async fn look_up(target: &Target) -> Result<Vec<IpAddr>, ExitError> {
    let name = target.host.to_string();
    let lookup = tokio::net::lookup_host((name.as_str(), target.port));
    match tokio::time::timeout(LOOKUP_LIMIT, lookup).await {
        Ok(Ok(found)) => Ok(found.map(|address| address.ip()).collect()),
        Ok(Err(_)) | Err(_) => Err(ExitError::NoAddress),
    }
}

/// Connects through a further proxy.
async fn through(
    upstream: &Upstream,
    target: &Target,
    speech: Speech,
) -> Result<TokioIo<Stream>, ExitError> {
    let failed = |why: String| ExitError::Proxy { proxy: upstream.to_string(), why };
    let place = uri_of(target)?;
    let dial = Dial::to(upstream);
    match upstream.scheme() {
        Scheme::Http | Scheme::Https if speech == Speech::Requests => {
            let mut dial = dial;
            let stream = dial.call(upstream.uri().clone()).await;
            let mut stream = stream.map_err(|error| failed(said(&*error)))?.into_inner();
            stream.is_proxy = true;
            Ok(TokioIo::new(stream))
        }
        Scheme::Http | Scheme::Https => {
            let mut tunnel = Tunnel::new(upstream.uri().clone(), dial);
            if let Some(credentials) = upstream.authorization() {
                tunnel = tunnel.with_auth(credentials);
            }
            tunnel.call(place).await.map_err(|error| failed(said(&error)))
        }
        Scheme::Socks5 => {
            let mut socks = SocksV5::new(upstream.uri().clone(), dial);
            if let Some((user, password)) = upstream.user_and_password() {
                socks = socks.with_auth(user, password);
            }
            socks.call(place).await.map_err(|error| failed(said(&error)))
        }
    }
}

fn uri_of(target: &Target) -> Result<Uri, ExitError> {
    let place = format!("http://{target}");
    place.parse().map_err(|_| ExitError::NoAddress)
}

/// The cause of an error, without what led to it.
fn said(error: &(dyn Error + 'static)) -> String {
    let mut cause = error;
    while let Some(deeper) = cause.source() {
        cause = deeper;
    }
    cause.to_string()
}

fn connector_to<R>(resolver: R) -> HttpConnector<R> {
    let mut connector = HttpConnector::new_with_resolver(resolver);
    connector.enforce_http(false);
    connector.set_nodelay(true);
    connector.set_keepalive(Some(KEEPALIVE));
    connector.set_connect_timeout(Some(CONNECT_LIMIT));
    connector
}

/// Addresses that were judged, whatever the name.
#[derive(Debug, Clone)]
struct Checked(Vec<IpAddr>);

impl Service<Name> for Checked {
    type Response = std::vec::IntoIter<SocketAddr>;
    type Error = io::Error;
    type Future = std::future::Ready<Result<Self::Response, io::Error>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), io::Error>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, _: Name) -> Self::Future {
        let addresses: Vec<_> = self.0.iter().map(|address| SocketAddr::new(*address, 0)).collect();
        std::future::ready(Ok(addresses.into_iter()))
    }
}

/// Connects to a further proxy, in TLS if it wants that.
#[derive(Clone)]
struct Dial {
    connector: HttpConnector,
    tls: Option<(TlsConnector, ServerName<'static>)>,
}

impl Dial {
    fn to(upstream: &Upstream) -> Self {
        let resolver = GaiResolver::new();
        Self { connector: connector_to(resolver), tls: upstream.tls() }
    }
}

type BoxError = Box<dyn Error + Send + Sync>;

impl Service<Uri> for Dial {
    type Response = TokioIo<Stream>;
    type Error = BoxError;
    type Future = Pin<Box<dyn Future<Output = Result<TokioIo<Stream>, BoxError>> + Send>>;

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), BoxError>> {
        self.connector.poll_ready(context).map_err(Into::into)
    }

    fn call(&mut self, place: Uri) -> Self::Future {
        let (connecting, tls) = (self.connector.call(place), self.tls.clone());
        Box::pin(async move {
            let stream = connecting.await?.into_inner();
            Ok(TokioIo::new(match tls {
                Some((connector, name)) => Stream::new(connector.connect(name, stream).await?),
                None => Stream::new(stream),
            }))
        })
    }
}

/// A connection to a target, or to a further proxy that takes requests for it.
pub(crate) struct Stream {
    io: Box<dyn Io>,
    is_proxy: bool,
}

trait Io: AsyncRead + AsyncWrite + Send + Unpin {}

impl<T: AsyncRead + AsyncWrite + Send + Unpin> Io for T {}

impl Stream {
    fn new(io: impl Io + 'static) -> Self {
        Self { io: Box::new(io), is_proxy: false }
    }
}

/// Requests to a further proxy name the whole address (RFC 9112, section 3.2.2).
impl Connection for Stream {
    fn connected(&self) -> Connected {
        Connected::new().proxy(self.is_proxy)
    }
}

impl AsyncRead for Stream {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.io).poll_read(context, buffer)
    }
}

impl AsyncWrite for Stream {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.io).poll_write(context, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.io).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.io).poll_shutdown(context)
    }
}
