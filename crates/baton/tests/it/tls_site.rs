//! Sites over TLS, and authorities of one's own that sign for them.

use axum::Router;
use axum::serve::Listener;
use rcgen::{BasicConstraints, CertificateParams, DnType, IsCa, Issuer, KeyPair, KeyUsagePurpose};
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
use tokio_rustls::rustls::pki_types::{CertificateDer, PrivateKeyDer};
use tokio_rustls::server::TlsStream;
use url::Url;

/// How long a browser may take for its side of a handshake.
const HANDSHAKE: Duration = Duration::from_secs(10);

/// Whoever signs for sites.
pub(crate) struct Authority {
    issuer: Issuer<'static, KeyPair>,
    pub(crate) pem: String,
}

/// A certificate with its key.
pub(crate) struct Identity {
    certificate: CertificateDer<'static>,
    key: PrivateKeyDer<'static>,
    pub(crate) pem: String,
}

impl Authority {
    pub(crate) fn new(name: &str) -> Self {
        let mut params = CertificateParams::default();
        params.distinguished_name.push(DnType::CommonName, name);
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        params.key_usages = vec![KeyUsagePurpose::KeyCertSign];
        let key = KeyPair::generate().unwrap();
        let pem = params.self_signed(&key).unwrap().pem();
        Self { issuer: Issuer::new(params, key), pem }
    }

    /// A certificate for these hosts.
    pub(crate) fn sign(&self, hosts: &[&str]) -> Identity {
        let key = KeyPair::generate().unwrap();
        let certificate = params(hosts).signed_by(&key, &self.issuer).unwrap();
        Identity::of(&certificate, &key)
    }
}

impl Identity {
    /// A server that signs for itself.
    pub(crate) fn alone(hosts: &[&str]) -> Self {
        let key = KeyPair::generate().unwrap();
        Self::of(&params(hosts).self_signed(&key).unwrap(), &key)
    }

    fn of(certificate: &rcgen::Certificate, key: &KeyPair) -> Self {
        Self {
            certificate: certificate.der().clone(),
            key: PrivateKeyDer::try_from(key.serialize_der()).unwrap(),
            pem: certificate.pem(),
        }
    }
}

fn params(hosts: &[&str]) -> CertificateParams {
    let hosts: Vec<String> = hosts.iter().map(|host| (*host).to_owned()).collect();
    CertificateParams::new(hosts).unwrap()
}

/// A running site; it ends when this is dropped.
pub(crate) struct TlsSite {
    address: SocketAddr,
    task: JoinHandle<()>,
}

impl TlsSite {
    /// Serves `pages` on a free port, with the certificate of `identity`.
    pub(crate) async fn start(identity: Identity, pages: Router) -> Self {
        let config = ServerConfig::builder_with_provider(Arc::new(aws_lc_rs::default_provider()))
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_no_client_auth()
            .with_single_cert(vec![identity.certificate], identity.key)
            .unwrap();
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let acceptor = TlsAcceptor::from(Arc::new(config));
        let task = tokio::spawn(async move {
            // It ends with the task: there is nothing to say when it does.
            let _ =
                axum::serve(Handshakes { listener, acceptor, begun: JoinSet::new() }, pages).await;
        });
        Self { address, task }
    }

    /// The address of a path on a host.
    pub(crate) fn url(&self, host: &str, path: &str) -> Url {
        Url::parse(&format!("https://{host}:{}{path}", self.port())).unwrap()
    }

    pub(crate) fn port(&self) -> u16 {
        self.address.port()
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
                accepted = self.listener.accept() => {
                    let (stream, address) = accepted.unwrap();
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
