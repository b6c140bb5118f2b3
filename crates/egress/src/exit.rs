//! The exit: how a connection to a host is made, directly or through a further proxy.
//!
//! Directly, a name is looked up here and each address that it has is judged, at every connection anew. A
//! further proxy is told the name, and looks it up itself.

use crate::fence::{Fence, Refusal};
use crate::hosts::Target;
use crate::lookup::{self, Lookups};
use crate::route::{Route, Speech};
use crate::stream::Stream;
use crate::tunnel::{NotLetIn, tunnel};
use crate::upstream::{LOOKED_UP, Scheme, Upstream};
use http::{HeaderMap, HeaderValue};
use hyper::Uri;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::client::legacy::connect::dns::Name;
use hyper_util::client::legacy::connect::proxy::SocksV5;
use hyper_util::rt::TokioIo;
use std::error::Error;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;
use tokio_rustls::TlsConnector;
use tokio_rustls::rustls::pki_types::ServerName;
use tower_service::Service;

/// How long a connection may take to be made, with the look for its name, and what a further proxy says before it.
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
    /// Nobody said in time where it is.
    #[error("its name was not looked up within {:?}", lookup::LIMIT)]
    NotLookedUp,
    /// It does not answer.
    #[error("{0}")]
    Unreachable(String),
    /// It did not answer in time.
    #[error("no connection within {0:?}")]
    TimedOut(Duration),
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
    /// All of them hold.
    fences: Arc<[Fence]>,
    route: Arc<Route>,
    lookups: Lookups,
    /// How long a connection may take.
    limit: Duration,
}

impl Exit {
    pub(crate) fn new(fences: Vec<Fence>, route: Route) -> Self {
        let (route, lookups) = (Arc::new(route), Lookups::default());
        Self { fences: fences.into(), route, lookups, limit: CONNECT_LIMIT }
    }

    /// Connects to a target that may be asked for.
    pub(crate) async fn connect(
        &self,
        target: &Target,
        speech: Speech,
    ) -> Result<TokioIo<Stream>, ExitError> {
        self.fences.iter().try_for_each(|fence| fence.judge(target))?;
        let connecting = async {
            match self.route.to(target, speech) {
                None => self.direct(target).await,
                Some(upstream) => self.through(upstream, target, speech).await,
            }
        };
        let connected = tokio::time::timeout(self.limit, connecting).await;
        connected.unwrap_or_else(|_| {
            let timed_out = ExitError::TimedOut(self.limit);
            // It was the further proxy that was waited for, if there is one.
            let upstream = self.route.to(target, speech);
            Err(upstream.map_or(timed_out.clone(), |one| at_fault(one, timed_out.to_string())))
        })
    }

    /// Connects to a target of this machine that may be asked for, and by no further proxy: to that, the same address
    /// is another machine's.
    pub(crate) async fn here(&self, target: &Target) -> Result<TokioIo<Stream>, ExitError> {
        self.fences.iter().try_for_each(|fence| fence.judge(target))?;
        let connected = tokio::time::timeout(self.limit, self.direct(target)).await;
        connected.unwrap_or_else(|_| Err(ExitError::TimedOut(self.limit)))
    }

    /// What a further proxy wants to know with each request to a target that it takes itself.
    pub(crate) fn authorization(&self, target: &Target) -> Option<HeaderValue> {
        self.taker(target)?.authorization()
    }

    /// The further proxy that takes requests to a target itself: one of SOCKS leads to the target.
    fn taker(&self, target: &Target) -> Option<&Upstream> {
        let upstream = self.route.to(target, Speech::Requests);
        upstream.filter(|upstream| upstream.scheme() != Scheme::Socks5)
    }

    /// That the answer to a request is one of a further proxy that wants to know who comes, or that a site
    /// says so which is none.
    pub(crate) fn not_let_in(&self, target: &Target, answer: &HeaderMap) -> ExitError {
        match self.taker(target) {
            Some(upstream) => {
                let not_let_in = NotLetIn::of(answer, upstream.authorization().is_some());
                at_fault(upstream, not_let_in.to_string())
            }
            None => ExitError::Unreachable(
                "it answers as a proxy does that wants credentials".to_owned(),
            ),
        }
    }

    /// That a request to a target got no answer, by what was seen of it.
    pub(crate) fn unanswered(&self, target: &Target, error: &(dyn Error + 'static)) -> ExitError {
        match self.taker(target) {
            Some(upstream) => at_fault(
                upstream,
                format!("expected an answer to a request, found: {}", said(error)),
            ),
            None => ExitError::Unreachable(said(error)),
        }
    }

    /// That a connection to a target broke off in the midst; none where no further proxy leads there, for then a host
    /// did what hosts do.
    pub(crate) fn broke_off(&self, target: &Target, error: &io::Error) -> Option<ExitError> {
        let upstream = self.route.to(target, Speech::Anything)?;
        // Many that speak TLS end it without a word.
        let has_ended = error.kind() == io::ErrorKind::UnexpectedEof;
        (!has_ended).then(|| at_fault(upstream, format!("it broke a connection off: {error}")))
    }

    /// That an answer did not begin for so long; whose that is, is not known.
    pub(crate) fn slow(&self, target: &Target, limit: Duration) -> String {
        let why = format!("a request is without an answer for {limit:?}");
        match self.taker(target) {
            Some(upstream) => at_fault(upstream, why).to_string(),
            None => why,
        }
    }

    /// Where a host is: itself, or what its name leads to now.
    async fn addresses_of(&self, target: &Target) -> Result<Vec<IpAddr>, ExitError> {
        if let Some(addresses) = target.addresses() {
            return Ok(addresses);
        }
        let found = self.lookups.addresses(target.host.to_string()).await;
        found.map_err(|none| match none {
            lookup::NoAddress::None => ExitError::NoAddress,
            lookup::NoAddress::TimedOut => ExitError::NotLookedUp,
        })
    }

    async fn direct(&self, target: &Target) -> Result<TokioIo<Stream>, ExitError> {
        let mut addresses = self.addresses_of(target).await?;
        for fence in &*self.fences {
            addresses = fence.reachable(target, addresses)?;
        }
        let mut connector = connector_to(addresses);
        let place = format!("http://{LOOKED_UP}:{}", target.port);
        let place: Uri = place.parse().map_err(|_| ExitError::NoAddress)?;
        let connected = connector.call(place).await;
        let stream = connected.map_err(|error| ExitError::Unreachable(said(&error)))?;
        Ok(TokioIo::new(Stream::new(stream.into_inner())))
    }

    /// Connects through a further proxy.
    async fn through(
        &self,
        upstream: &Upstream,
        target: &Target,
        speech: Speech,
    ) -> Result<TokioIo<Stream>, ExitError> {
        let failed = |why: String| at_fault(upstream, why);
        let addresses = self.addresses_of(upstream.target()).await;
        let mut addresses = addresses.map_err(|error| failed(error.to_string()))?;
        for fence in &*self.fences {
            let passable = fence.passable(upstream.target(), addresses);
            addresses = passable.map_err(|refusal| failed(refusal.to_string()))?;
        }
        let mut dial = Dial { connector: connector_to(addresses), tls: upstream.tls() };
        let stream = dial.call(upstream.uri().clone()).await;
        let stream = stream.map_err(|error| failed(said(&*error)))?;
        match upstream.scheme() {
            Scheme::Http | Scheme::Https if speech == Speech::Requests => {
                Ok(TokioIo::new(stream.into_inner().for_requests()))
            }
            Scheme::Http | Scheme::Https => {
                let tunnel = tunnel(stream, target, upstream.authorization()).await;
                Ok(TokioIo::new(tunnel.map_err(|error| failed(error.to_string()))?))
            }
            Scheme::Socks5 => {
                let mut socks = SocksV5::new(upstream.uri().clone(), Dialed(Some(stream)));
                let login = upstream.user_and_password();
                let had_some = login.is_some();
                if let Some((user, password)) = login {
                    socks = socks.with_auth(user, password);
                }
                let led = socks.call(uri_of(target)?).await;
                led.map_err(|error| failed(no_way_by_socks(&error.to_string(), had_some)))
            }
        }
    }
}

/// That a further proxy did not do what it is for.
fn at_fault(upstream: &Upstream, why: String) -> ExitError {
    ExitError::Proxy { proxy: upstream.to_string(), why }
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

/// What a proxy of SOCKS did instead of leading to a target, by what the library says of it, which names its errors
/// by nothing else. What one of HTTP says with 407 is told as of that.
fn no_way_by_socks(found: &str, had_some: bool) -> String {
    match found.strip_prefix("SOCKS error: ").unwrap_or(found) {
        "credentials not accepted" => NotLetIn::OtherCredentials.to_string(),
        "server does not support user/pass authentication" if !had_some => {
            NotLetIn::Credentials.to_string()
        }
        found => format!("expected a connection by SOCKS, found: {found}"),
    }
}

/// What connects to these addresses, by whatever name.
fn connector_to(addresses: Vec<IpAddr>) -> HttpConnector<Checked> {
    let mut connector = HttpConnector::new_with_resolver(Checked(addresses));
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
    connector: HttpConnector<Checked>,
    tls: Option<(TlsConnector, ServerName<'static>)>,
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

/// A connection to a further proxy that is made, for what would make one itself and not tell why there is none.
struct Dialed(Option<TokioIo<Stream>>);

impl Service<Uri> for Dialed {
    type Response = TokioIo<Stream>;
    type Error = io::Error;
    type Future = std::future::Ready<Result<TokioIo<Stream>, io::Error>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), io::Error>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, _: Uri) -> Self::Future {
        std::future::ready(self.0.take().ok_or_else(|| io::ErrorKind::NotConnected.into()))
    }
}

#[cfg(test)]
mod tests {
    use super::{Exit, ExitError};
    use crate::fence::Fence;
    use crate::hosts::Target;
    use crate::route::{Route, Speech};
    use crate::upstream::Upstream;
    use std::time::Duration;
    use tokio::net::TcpListener;

    #[tokio::test]
    async fn a_proxy_that_is_waited_for_in_vain_is_named() {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        for scheme in ["http", "socks5"] {
            let url = format!("{scheme}://{}", listener.local_addr().unwrap());
            let upstream = Upstream::new(url.parse().unwrap(), None, Vec::new()).unwrap();
            let exit = Exit::new(vec![Fence::default()], Route::Through(Box::new(upstream)));
            let exit = Exit { limit: Duration::from_millis(50), ..exit };
            let target = Target::new("example.org", 443).unwrap();
            // The system takes the connection, and nobody answers.
            let error = exit.connect(&target, Speech::Anything).await.err().unwrap();
            let ExitError::Proxy { proxy, why } = error else { panic!("{error:?}") };
            assert_eq!((proxy, why), (url, "no connection within 50ms".to_owned()));
        }
    }
}
