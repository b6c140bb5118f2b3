//! Where a node listens: at one address, and with TLS at a second one for this machine.
//!
//! Commands of this machine find the node without a certificate. So a node that speaks TLS listens
//! at a free loopback port as well, in clear text that never leaves the machine.

use super::router;
use crate::context::Context;
use crate::ingress::HttpConfig;
use baton_net::connections::{Bounds, Listener};
use baton_net::tls;
use baton_net::tls::{Exposure, TlsError};
use baton_runtime::keys::StoredKeys;
use std::io;
use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr};
use std::sync::Arc;
use tokio::net::TcpListener;
use tokio_rustls::TlsAcceptor;
use tokio_util::sync::CancellationToken;

/// Listens, and does not answer yet.
pub struct Listeners {
    address: SocketAddr,
    listener: TcpListener,
    secured: Option<Secured>,
}

/// What TLS adds.
struct Secured {
    acceptor: TlsAcceptor,
    local: TcpListener,
    local_address: SocketAddr,
}

/// A listener cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum DoorError {
    /// The certificate or its key.
    #[error(transparent)]
    Tls(#[from] TlsError),
    /// The listener.
    #[error(transparent)]
    Io(#[from] io::Error),
}

impl Listeners {
    /// Reads the certificate, if there is one, and opens the second door that it needs.
    pub async fn prepare(exposure: &Exposure, listener: TcpListener) -> Result<Self, DoorError> {
        let address = listener.local_addr()?;
        let Some(files) = &exposure.tls else {
            return Ok(Self { address, listener, secured: None });
        };
        let acceptor = tls::load(files)?;
        let local = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?;
        let local_address = local.local_addr()?;
        let secured = Some(Secured { acceptor, local, local_address });
        Ok(Self { address, listener, secured })
    }

    /// Where everybody finds the node.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Where commands of this machine find it, in clear text.
    pub fn local(&self) -> SocketAddr {
        match (&self.secured, self.address) {
            (Some(secured), _) => secured.local_address,
            (None, SocketAddr::V4(any)) if any.ip().is_unspecified() => {
                (Ipv4Addr::LOCALHOST, any.port()).into()
            }
            (None, SocketAddr::V6(any)) if any.ip().is_unspecified() => {
                (Ipv6Addr::LOCALHOST, any.port()).into()
            }
            (None, address) => address,
        }
    }

    /// Answers requests until `shutdown`; those under way then are finished.
    pub async fn answer(
        self,
        context: &Context,
        exposure: &Exposure,
        body_bytes: usize,
        bounds: Bounds,
        shutdown: &CancellationToken,
    ) {
        let public = HttpConfig {
            address: self.address,
            tls: self.secured.is_some(),
            behind_proxy: exposure.behind_proxy,
            published: exposure.published,
            allowed_hosts: exposure.allowed_hosts.clone(),
            body_bytes,
            for_peers: false,
        };
        let bound = |listener, tls, config: &HttpConfig| Listener {
            listener,
            tls,
            service: router(context.clone(), config),
            bounds,
            // There every connection comes from the host.
            behind_proxy: config.behind_proxy || config.published.is_some(),
            keys: Some(Arc::new(StoredKeys(context.store.clone()))),
        };
        let Some(Secured { acceptor, local, local_address }) = self.secured else {
            return bound(self.listener, None, &public).answer(shutdown).await;
        };
        let private = HttpConfig {
            address: local_address,
            tls: false,
            behind_proxy: false,
            published: None,
            allowed_hosts: Vec::new(),
            body_bytes,
            for_peers: false,
        };
        tokio::join!(
            bound(self.listener, Some(acceptor), &public).answer(shutdown),
            bound(local, None, &private).answer(shutdown),
        );
    }
}
