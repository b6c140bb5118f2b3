//! A site over TLS, which signed its certificate itself.

use anyhow::Result;
use axum::Router;
use axum::serve::Listener;
use baton_session::certificate::Certificate;
use rcgen::{CertificateParams, KeyPair};
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;
use tokio::net::{TcpListener, TcpStream};
use tokio::task::{JoinHandle, JoinSet};
use tokio::time::timeout;
use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::ServerConfig;
use tokio_rustls::rustls::crypto::aws_lc_rs;
use tokio_rustls::rustls::pki_types::{PrivateKeyDer, PrivatePkcs8KeyDer};
use tokio_rustls::server::TlsStream;
use url::Url;

/// The host that the certificate names.
const HOST: &str = "tls.localhost";
/// How long a browser may take for its side of a handshake.
const HANDSHAKE: Duration = Duration::from_secs(10);

/// A running site; it ends when this is dropped.
pub struct TlsSite {
    /// What a browser has to trust.
    pub certificate: Certificate,
    address: SocketAddr,
    task: JoinHandle<()>,
}

impl TlsSite {
    /// Serves `pages` on a free port.
    pub async fn start(pages: Router) -> Result<Self> {
        let key = KeyPair::generate()?;
        let signed = CertificateParams::new(vec![HOST.to_owned()])?.self_signed(&key)?;
        let private = PrivateKeyDer::from(PrivatePkcs8KeyDer::from(key.serialize_der()));
        let config = ServerConfig::builder_with_provider(Arc::new(aws_lc_rs::default_provider()))
            .with_safe_default_protocol_versions()?
            .with_no_client_auth()
            .with_single_cert(vec![signed.der().clone()], private)?;
        let listener = TcpListener::bind("127.0.0.1:0").await?;
        let address = listener.local_addr()?;
        let acceptor = TlsAcceptor::from(Arc::new(config));
        let task = tokio::spawn(async move {
            let handshakes = Handshakes { listener, acceptor, begun: JoinSet::new() };
            // It ends with the task: there is nothing to say when it does.
            let _ = axum::serve(handshakes, pages).await;
        });
        Ok(Self { certificate: signed.pem().parse()?, address, task })
    }

    /// The address of a path.
    pub fn url(&self, path: &str) -> Result<Url> {
        Ok(Url::parse(&format!("https://{HOST}:{}{path}", self.address.port()))?)
    }
}

impl Drop for TlsSite {
    fn drop(&mut self) {
        self.task.abort();
    }
}

/// Connections whose handshake came to an end: one that says nothing keeps no other one waiting.
struct Handshakes {
    listener: TcpListener,
    acceptor: TlsAcceptor,
    begun: JoinSet<Option<(TlsStream<TcpStream>, SocketAddr)>>,
}

impl Listener for Handshakes {
    type Io = TlsStream<TcpStream>;
    type Addr = SocketAddr;

    async fn accept(&mut self) -> (Self::Io, Self::Addr) {
        loop {
            tokio::select! {
                (stream, address) = Listener::accept(&mut self.listener) => {
                    let acceptor = self.acceptor.clone();
                    self.begun.spawn(async move {
                        // A browser that does not trust the certificate leaves.
                        let handshake = timeout(HANDSHAKE, acceptor.accept(stream)).await;
                        Some((handshake.ok()?.ok()?, address))
                    });
                }
                // A handshake that failed must not switch this branch off.
                ended = self.begun.join_next(), if !self.begun.is_empty() => {
                    if let Some(Ok(Some(ready))) = ended {
                        return ready;
                    }
                }
            }
        }
    }

    fn local_addr(&self) -> io::Result<SocketAddr> {
        self.listener.local_addr()
    }
}
