//! Where a proxy is reached, by whom, and the settings of both.
//!
//! The one idea: at a loopback address everybody speaks clear text that never leaves the machine. At any
//! other address the proxy speaks TLS, or another one in front of it does, as for the node itself; and there
//! every upstream service wants a key or a pass, for "this machine only" cannot be checked from outside.

use crate::error::UpstreamError;
use crate::route::Route;
use crate::upstream::{Access, PageChoices, UpstreamService};
use baton_api::UpstreamId;
use baton_api::debug::WatchedUpstream;
use baton_net::tls::{self, Exposure, NotLoopback, TlsError};
use std::net::SocketAddr;
use std::time::Duration;
use tokio_rustls::TlsAcceptor;
use url::Url;

/// The proxy in front of upstream services.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProxySettings {
    /// Where it listens; none means that the node has no proxy.
    pub listen: Option<SocketAddr>,
    /// The name whose subdomains are upstream services, beside `localhost`.
    pub host: Option<String>,
    /// How long an upstream service may take until its answer begins.
    pub first_byte: Duration,
    /// The upstream services of the settings.
    pub services: Vec<UpstreamService>,
    /// What holds for every upstream service that does not say otherwise.
    pub pages: PageChoices,
}

impl ProxySettings {
    /// How much of a body is kept of the tabs of sessions, in bytes: what holds for every upstream service
    /// that does not say otherwise.
    pub fn body_bytes(&self) -> usize {
        usize::try_from(self.pages.clone().settle().response_body_max_size).unwrap_or(usize::MAX)
    }

    /// The same of whatever keeps most.
    pub fn most_body_bytes(&self) -> usize {
        let asked =
            self.services.iter().map(|service| service.browser_debug.response_body_max_size);
        let asked = asked.filter_map(|asked| usize::try_from(asked).ok());
        asked.fold(self.body_bytes(), usize::max)
    }

    /// Whether the settings name this upstream service.
    pub fn names(&self, id: &UpstreamId) -> bool {
        self.services.iter().any(|service| service.id == *id)
    }
}

/// Who reaches a proxy, and how. The default is this machine, in clear text.
#[derive(Clone, Default)]
pub struct Outside {
    /// Where it listens, when other machines reach that.
    reached_at: Option<SocketAddr>,
    tls: Option<TlsAcceptor>,
    behind_proxy: bool,
}

/// An upstream service that wants no key, where others can reach it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "expected every cocoon to want a key, because other machines reach proxy.listen, {found}; found that \
     {id} wants none\n\
     set its access to \"key\", or let the proxy listen at a loopback address"
)]
pub struct OpenUpstream {
    /// Which one.
    pub id: UpstreamId,
    /// Where the proxy listens.
    pub found: SocketAddr,
}

/// Why a proxy cannot listen where it should.
#[derive(Debug, thiserror::Error)]
pub enum OutsideError {
    /// Other machines could read along.
    #[error(transparent)]
    NotLoopback(#[from] NotLoopback),
    /// Others could reach an upstream service without a key.
    #[error(transparent)]
    Open(#[from] OpenUpstream),
    /// TLS cannot be spoken as the settings say.
    #[error(transparent)]
    Tls(#[from] TlsError),
}

impl Outside {
    /// How a proxy at `address` is protected. Fails when other machines reach it and could read along, or
    /// could reach one of these upstream services without a key.
    pub fn prepare<'a>(
        exposure: &Exposure,
        address: SocketAddr,
        services: impl IntoIterator<Item = &'a UpstreamService>,
    ) -> Result<Self, OutsideError> {
        let behind_proxy = exposure.behind_proxy;
        if address.ip().to_canonical().is_loopback() {
            return Ok(Self { reached_at: None, tls: None, behind_proxy });
        }
        exposure.check_setting("proxy.listen", address)?;
        if let Some(open) = services.into_iter().find(|service| service.access == Access::Loopback)
        {
            return Err(OpenUpstream { id: open.id.clone(), found: address }.into());
        }
        let tls = exposure.tls.as_ref().map(tls::load).transpose()?;
        Ok(Self { reached_at: Some(address), tls, behind_proxy })
    }

    /// Whether an upstream service may be one that wants no key.
    pub(crate) fn allows(&self, access: Access) -> Result<(), UpstreamError> {
        match (access, self.reached_at) {
            (Access::Loopback, Some(found)) => Err(UpstreamError::Open { found }),
            _ => Ok(()),
        }
    }

    /// With what it speaks TLS.
    pub(super) fn tls(&self) -> Option<TlsAcceptor> {
        self.tls.clone()
    }

    /// Whether it speaks TLS itself.
    fn speaks_tls(&self) -> bool {
        self.tls.is_some()
    }

    /// Whether a proxy in front of it speaks TLS, and says who asks.
    pub(crate) fn is_behind_proxy(&self) -> bool {
        self.behind_proxy
    }

    /// Whether other machines reach it.
    pub(super) fn is_reached(&self) -> bool {
        self.reached_at.is_some()
    }

    /// How the browser speaks that sent a request. What is asked for under a name of this machine came past
    /// the proxy in front.
    pub(super) fn scheme(&self, route: &Route) -> &'static str {
        if self.tls.is_some() || self.behind_proxy && !route.is_loopback { "https" } else { "http" }
    }
}

/// Where a proxy is reached.
#[derive(Clone)]
pub struct ProxyPlace {
    /// Where it listens.
    pub address: SocketAddr,
    /// The name whose subdomains are upstream services, beside `localhost`.
    pub host: Option<String>,
    /// Who reaches it, and how.
    pub outside: Outside,
}

impl ProxyPlace {
    /// Where a person begins: at the host name of the upstream service's own.
    pub fn home(&self, service: &UpstreamService) -> Option<Url> {
        let host = self.host.as_deref().unwrap_or("localhost");
        format!("{}/", self.origin(&format!("{}.{host}", service.id))).parse().ok()
    }

    /// The origin of a host. One that leads to this machine from elsewhere is the proxy's in front, when there
    /// is one: it has the port that belongs to https.
    fn origin(&self, host: &str) -> String {
        let is_named = self.host.as_ref().is_some_and(|ours| host.ends_with(ours.as_str()));
        let port = self.address.port();
        if self.outside.speaks_tls() {
            format!("https://{host}:{port}")
        } else if self.outside.is_behind_proxy() && is_named {
            format!("https://{host}")
        } else {
            format!("http://{host}:{port}")
        }
    }

    /// Every address of the upstream service's first page, that of [`home`](Self::home) among them.
    pub fn urls(&self, service: &UpstreamService) -> Vec<Url> {
        let ways = self.ways(service).into_iter();
        ways.filter_map(|way| format!("{}{}", way.origin, way.path).parse().ok()).collect()
    }

    /// Every way to the pages of an upstream service: by a host name of its own, and by a path.
    pub fn ways(&self, service: &UpstreamService) -> Vec<WatchedUpstream> {
        let id = &service.id;
        let way = |origin: String, path: String| WatchedUpstream {
            id: id.clone(),
            name: Some(service.name.clone()),
            origin,
            path,
        };
        let hosts = [Some("localhost"), self.host.as_deref()];
        let named = hosts.into_iter().flatten();
        let named = named.map(|host| way(self.origin(&format!("{id}.{host}")), "/".to_owned()));
        let plain = ["localhost", "127.0.0.1"];
        let below = plain.map(|host| way(self.origin(host), format!("/proxy/{id}/")));
        named.chain(below).collect()
    }
}
