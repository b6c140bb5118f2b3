//! The way out of a session's browser: a proxy in its keeper, which lives as long as the browser does.
//!
//! The one idea: the browser gets one port of this machine and no name but that port's, so nothing it does
//! goes another way; and only its own processes may come to that port.

use super::protocol::{EgressSpec, KeeperError, ProxySpec};
use baton_egress::{
    BrowserProcesses, Credentials, Egress, Fence, InvalidRule, Ledger, NotProxyUrl, Others,
    ProxyUrl, Upstream,
};
use baton_session::Certificate;
use secrecy::SecretString;
use std::net::Ipv4Addr;
use std::path::PathBuf;
use std::sync::Arc;
use tokio::net::TcpListener;
use tokio_util::task::AbortOnDropHandle;

/// Why a session cannot have such a way out.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BadEgress {
    /// One of its hosts is none.
    #[error(transparent)]
    Host(#[from] InvalidRule),
    /// There are more than are looked at.
    #[error("expected at most {HOSTS} hosts, found {0}")]
    TooMany(usize),
    /// Its proxy is none.
    #[error(transparent)]
    Proxy(#[from] NotProxyUrl),
}

/// The most hosts that a session lists.
const HOSTS: usize = 200;

impl EgressSpec {
    /// The way out that an environment asks for; its proxy is asked without credentials.
    pub fn of(egress: &baton_session::state::Egress) -> Result<Self, BadEgress> {
        if egress.only.len() > HOSTS {
            return Err(BadEgress::TooMany(egress.only.len()));
        }
        let hosts = egress.only.iter().map(|rule| rule.parse()).collect::<Result<Vec<_>, _>>()?;
        let others = if hosts.is_empty() { Others::All } else { Others::None };
        let proxy = match &egress.proxy {
            None => None,
            Some(url) => {
                let url = url.parse::<ProxyUrl>()?.to_string();
                Some(ProxySpec { url, credentials: None })
            }
        };
        Ok(Self { fence: Fence { hosts, others }, proxy })
    }
}

/// A way out that listens, and serves as soon as it has a browser.
pub(super) struct WayOut {
    listener: TcpListener,
    egress: Egress,
    guests: Arc<BrowserProcesses>,
}

impl WayOut {
    /// Listens at a free port of this machine. The further proxy's certificate may be one of those that the
    /// session trusts.
    pub(super) async fn open(
        spec: &EgressSpec,
        trusted: &[Certificate],
    ) -> Result<Self, KeeperError> {
        let place = (Ipv4Addr::LOCALHOST, 0);
        let failed = KeeperError::file("listen at", PathBuf::from("127.0.0.1"));
        let listener = TcpListener::bind(place).await.map_err(failed)?;
        let upstream = match &spec.proxy {
            None => None,
            Some(proxy) => {
                let credentials = proxy.credentials.clone().map(|(user, password)| Credentials {
                    user,
                    password: SecretString::from(password),
                });
                let trusted = trusted.iter().map(|one| one.der().to_vec().into()).collect();
                let url: ProxyUrl = proxy.url.parse()?;
                Some(Upstream::new(url, credentials, trusted)?)
            }
        };
        let guests = Arc::new(BrowserProcesses::default());
        let egress = Egress::new(spec.fence.clone(), upstream, Arc::clone(&guests) as _);
        Ok(Self { listener, egress, guests })
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
        let serving = async move { match self.egress.serve(self.listener).await {} };
        AbortOnDropHandle::new(tokio::spawn(serving))
    }
}
