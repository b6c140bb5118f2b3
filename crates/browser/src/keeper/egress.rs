//! The way out of a session's browser: a proxy in its keeper, which lives as long as the browser does.
//!
//! The one idea: the browser gets one port of this machine and no name but that port's, so nothing it does
//! goes another way; and only its own processes may come to that port.

use super::protocol::{EgressSpec, KeeperError, OneProxy, ProxySpec};
use baton_egress::{
    BrowserProcesses, Credentials, Egress, Ledger, MachineRoute, NotProxyUrl, Route, Upstream,
};
use baton_session::Certificate;
use secrecy::SecretString;
use std::net::Ipv4Addr;
use std::path::PathBuf;
use std::sync::Arc;
use tokio::net::TcpListener;
use tokio_util::task::AbortOnDropHandle;

/// A way out that listens, and serves as soon as it has a browser.
pub(super) struct WayOut {
    listener: TcpListener,
    egress: Egress,
    guests: Arc<BrowserProcesses>,
}

impl WayOut {
    /// Listens at a free port of this machine.
    pub(super) async fn open(
        spec: &EgressSpec,
        trusted: &[Certificate],
    ) -> Result<Self, KeeperError> {
        let place = (Ipv4Addr::LOCALHOST, 0);
        let failed = KeeperError::file("listen at", PathBuf::from("127.0.0.1"));
        let listener = TcpListener::bind(place).await.map_err(failed)?;
        let egress = Egress::new(vec![spec.fence.clone()], spec.route(trusted)?);
        Ok(Self { listener, egress, guests: Arc::default() })
    }

    /// Where it listens.
    pub(super) fn port(&self) -> Result<u16, KeeperError> {
        let failed = KeeperError::file("look at", PathBuf::from("127.0.0.1"));
        self.listener.local_addr().map(|address| address.port()).map_err(failed)
    }

    /// What is asked for, by host.
    pub(super) fn ledger(&self) -> Ledger {
        self.egress.ledger().clone()
    }

    /// Serves the processes of this browser, until what this returns is dropped.
    pub(super) fn serve(self, browser: u32) -> AbortOnDropHandle<()> {
        self.guests.admit(browser);
        let serving = async move { match self.egress.serve(self.listener, self.guests).await {} };
        AbortOnDropHandle::new(tokio::spawn(serving))
    }
}

impl EgressSpec {
    /// Its route; a further proxy's certificate may be one of those that the session trusts.
    pub fn route(&self, trusted: &[Certificate]) -> Result<Route, NotProxyUrl> {
        let route = self.proxy.as_ref().map(|proxy| proxy.route(trusted)).transpose()?;
        Ok(route.unwrap_or_default())
    }
}

impl ProxySpec {
    fn route(&self, trusted: &[Certificate]) -> Result<Route, NotProxyUrl> {
        let upstream = |one: &OneProxy| {
            let credentials = one.credentials.clone().map(|known| Credentials {
                user: known.user,
                password: SecretString::from(known.password),
            });
            let trusted = trusted.iter().map(|one| one.der().to_vec().into()).collect();
            Upstream::new(one.url.parse()?, credentials, trusted)
        };
        Ok(match self {
            Self::One(one) => Route::Through(Box::new(upstream(one)?)),
            Self::Machine { http, https, except } => {
                let http = http.as_ref().map(upstream).transpose()?;
                let https = https.as_ref().map(upstream).transpose()?;
                Route::Machine(Box::new(MachineRoute::new(http, https, except)))
            }
        })
    }
}
