//! What protects a listener that other machines can reach: TLS of its own, with the certificate that it shows, or a
//! proxy in front of it, which names the caller.

use axum::http::HeaderMap;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::ServerConfig;
use tokio_rustls::rustls::crypto::aws_lc_rs;
use tokio_rustls::rustls::pki_types::pem::{Error as PemError, PemObject};
use tokio_rustls::rustls::pki_types::{CertificateDer, PrivateKeyDer};

/// The files that TLS takes, both PEM.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TlsFiles {
    /// The certificate, and behind it those that vouch for it.
    pub certificate: PathBuf,
    /// Its private key.
    pub key: PathBuf,
}

/// Why TLS cannot be spoken.
#[derive(Debug, thiserror::Error)]
pub enum TlsError {
    /// A file cannot be read.
    #[error("expected {what} at {}, found: {source}", path.display())]
    Unreadable {
        /// What it should hold.
        what: &'static str,
        /// Which file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// A file holds something else.
    #[error("expected {what} at {}, found {found}", path.display())]
    NotPem {
        /// What it should hold.
        what: &'static str,
        /// Which file.
        path: PathBuf,
        /// What it holds instead; never a part of it.
        found: &'static str,
    },
    /// The two do not belong together, or are of a kind that is not taken.
    #[error(
        "expected the certificate {} and the key {} to belong together, found: {source}",
        certificate.display(),
        key.display()
    )]
    NotAPair {
        /// The certificate.
        certificate: PathBuf,
        /// The key.
        key: PathBuf,
        /// What does not fit.
        source: tokio_rustls::rustls::Error,
    },
}

/// Reads certificate and key.
pub fn load(files: &TlsFiles) -> Result<TlsAcceptor, TlsError> {
    let TlsFiles { certificate, key } = files;
    let what = "a certificate (PEM)";
    let chain = CertificateDer::pem_slice_iter(&read(what, certificate)?)
        .collect::<Result<Vec<_>, _>>()
        .map_err(|error| not_pem(what, certificate, &error))?;
    if chain.is_empty() {
        return Err(not_pem(what, certificate, &PemError::NoItemsFound));
    }
    let what = "a private key (PEM)";
    let private = PrivateKeyDer::from_pem_slice(&read(what, key)?)
        .map_err(|error| not_pem(what, key, &error))?;
    warn_if_shared(key);
    let not_a_pair =
        |source| TlsError::NotAPair { certificate: certificate.clone(), key: key.clone(), source };
    let config = ServerConfig::builder_with_provider(Arc::new(aws_lc_rs::default_provider()))
        .with_safe_default_protocol_versions()
        .map_err(not_a_pair)?
        .with_no_client_auth()
        .with_single_cert(chain, private)
        .map_err(not_a_pair)?;
    Ok(TlsAcceptor::from(Arc::new(config)))
}

fn read(what: &'static str, path: &Path) -> Result<Vec<u8>, TlsError> {
    std::fs::read(path).map_err(|source| TlsError::Unreadable {
        what,
        path: path.to_owned(),
        source,
    })
}

/// The error's own text could repeat what is in the file.
fn not_pem(what: &'static str, path: &Path, error: &PemError) -> TlsError {
    let found = match error {
        PemError::NoItemsFound => "none in it",
        _ => "something damaged",
    };
    TlsError::NotPem { what, path: path.to_owned(), found }
}

fn warn_if_shared(key: &Path) {
    use std::os::unix::fs::PermissionsExt;
    let Ok(found) = std::fs::metadata(key) else { return };
    let mode = found.permissions().mode() & 0o777;
    if mode & 0o077 != 0 {
        let mode = format!("{mode:o}");
        tracing::warn!(file = %key.display(), mode, "others can use the private key; run chmod 600 on it");
    }
}

/// What protects a node that other machines can reach.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Exposure {
    /// With what it speaks TLS; none means that it does not.
    pub tls: Option<TlsFiles>,
    /// Whether a proxy in front of it speaks TLS, and names the caller in `X-Forwarded-For`.
    pub behind_proxy: bool,
    /// Where another machine shows it to itself alone, as an engine of containers shows a port of a container at
    /// a loopback address of its host. Callers name that address, and nobody else can read along.
    pub published: Option<SocketAddr>,
    /// Names under which it may be addressed, besides those of this machine: those that the settings allow,
    /// and those of the addresses that it tells others. One without a port counts for every port.
    pub allowed_hosts: Vec<String>,
}

impl Exposure {
    /// Refuses an address at which others could read along.
    pub fn check(&self, address: SocketAddr) -> Result<(), NotLoopback> {
        if self.published.is_some() {
            return Ok(());
        }
        self.check_setting("server.listen", address)
    }

    /// The same for the address in another setting.
    pub fn check_setting(
        &self,
        setting: &'static str,
        address: SocketAddr,
    ) -> Result<(), NotLoopback> {
        if address.ip().is_loopback() || self.tls.is_some() || self.behind_proxy {
            Ok(())
        } else {
            Err(NotLoopback { setting, found: address })
        }
    }
}

/// An address that others can reach, in clear text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error(
    "expected {setting} to be a loopback address such as 127.0.0.1:{}, found {found}\n\
     other machines could read keys and cookies in clear text: set server.tls, or \
     server.behind_proxy when a proxy in front of the node speaks TLS{}",
    found.port(),
    in_a_container(setting)
)]
pub struct NotLoopback {
    /// Which setting.
    pub setting: &'static str,
    /// What it is.
    pub found: SocketAddr,
}

/// What else a node can be told that is in a container; its proxy cannot.
fn in_a_container(setting: &str) -> &'static str {
    if setting == "server.listen" {
        "\nin a container, server.published names where its host shows it to itself alone"
    } else {
        ""
    }
}

/// The address that the proxy itself has written, some with a port: the last one.
pub fn forwarded_for(headers: &HeaderMap) -> Option<IpAddr> {
    let last = headers.get_all("x-forwarded-for").iter().next_back()?.to_str().ok()?;
    let text = last.rsplit(',').next()?.trim();
    text.parse().ok().or_else(|| Some(text.parse::<SocketAddr>().ok()?.ip()))
}
