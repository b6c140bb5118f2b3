//! Who reaches a proxy: whoever is on this machine, or other machines as well.
//!
//! The one idea: at a loopback address everybody speaks clear text that never leaves the machine. At
//! any other address the proxy speaks TLS, or another one in front of it does, as for the node itself; and
//! there every cocoon wants a key or a pass, for "this machine only" can not be told from outside.

use super::cocoon::{Access, Cocoon};
use super::error::CocoonError;
use super::route::Route;
use baton_api::CocoonId;
use baton_net::exposure::Exposure;
use baton_net::exposure::NotLoopback;
use baton_net::tls::{self, TlsError};
use std::net::SocketAddr;
use tokio_rustls::TlsAcceptor;

/// Who reaches a proxy, and how. The default is this machine, in clear text.
#[derive(Clone, Default)]
pub struct Outside {
    /// Where it listens, when other machines reach that.
    reached_at: Option<SocketAddr>,
    tls: Option<TlsAcceptor>,
    behind_proxy: bool,
}

/// A cocoon that wants no key, where others can reach it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "expected every cocoon to want a key, because other machines reach proxy.listen, {found}; found that \
     {id} wants none\n\
     set its access to \"key\", or let the proxy listen at a loopback address"
)]
pub struct OpenCocoon {
    /// Which one.
    pub id: CocoonId,
    /// Where the proxy listens.
    pub found: SocketAddr,
}

/// Why a proxy cannot listen where it should.
#[derive(Debug, thiserror::Error)]
pub enum OutsideError {
    /// Other machines could read along.
    #[error(transparent)]
    NotLoopback(#[from] NotLoopback),
    /// Others could reach a cocoon without a key.
    #[error(transparent)]
    Open(#[from] OpenCocoon),
    /// TLS cannot be spoken as the settings say.
    #[error(transparent)]
    Tls(#[from] TlsError),
}

impl Outside {
    /// How a proxy at `address` is protected. Fails when other machines reach it and could read along, or
    /// could reach one of these cocoons without a key.
    pub fn prepare<'a>(
        exposure: &Exposure,
        address: SocketAddr,
        cocoons: impl IntoIterator<Item = &'a Cocoon>,
    ) -> Result<Self, OutsideError> {
        let behind_proxy = exposure.behind_proxy;
        if address.ip().to_canonical().is_loopback() {
            return Ok(Self { reached_at: None, tls: None, behind_proxy });
        }
        exposure.check_setting("proxy.listen", address)?;
        if let Some(open) = cocoons.into_iter().find(|cocoon| cocoon.access == Access::Loopback) {
            return Err(OpenCocoon { id: open.id.clone(), found: address }.into());
        }
        let tls = exposure.tls.as_ref().map(tls::load).transpose()?;
        Ok(Self { reached_at: Some(address), tls, behind_proxy })
    }

    /// Whether a cocoon may be one that wants no key.
    pub(crate) fn allows(&self, access: Access) -> Result<(), CocoonError> {
        match (access, self.reached_at) {
            (Access::Loopback, Some(found)) => Err(CocoonError::Open { found }),
            _ => Ok(()),
        }
    }

    /// With what it speaks TLS.
    pub(super) fn tls(&self) -> Option<TlsAcceptor> {
        self.tls.clone()
    }

    /// Whether it speaks TLS itself.
    pub(crate) fn speaks_tls(&self) -> bool {
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
