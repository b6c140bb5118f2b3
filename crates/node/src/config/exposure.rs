//! What protects a node that other machines can reach.

use super::error::ConfigError;
use baton_net::tls::TlsFiles;
use std::net::SocketAddr;
use std::path::PathBuf;

/// What protects a node that other machines can reach.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Exposure {
    /// With what it speaks TLS; none means that it does not.
    pub tls: Option<TlsFiles>,
    /// Whether a proxy in front of it speaks TLS, and names the caller in `X-Forwarded-For`.
    pub behind_proxy: bool,
    /// Names under which it may be addressed, besides those of this machine: those that the settings allow, and
    /// those of the addresses that it tells others. One without a port stands for every port.
    pub allowed_hosts: Vec<String>,
}

impl Exposure {
    /// Refuses an address at which others could read along.
    pub fn check(&self, address: SocketAddr) -> Result<(), ConfigError> {
        self.check_setting("server.listen", address)
    }

    /// The same for the address in another setting.
    pub(crate) fn check_setting(
        &self,
        setting: &'static str,
        address: SocketAddr,
    ) -> Result<(), ConfigError> {
        if address.ip().is_loopback() || self.tls.is_some() || self.behind_proxy {
            Ok(())
        } else {
            Err(ConfigError::NotLoopback { setting, found: address })
        }
    }
}

/// Both files, or none.
pub(super) fn both_files(
    certificate: Option<PathBuf>,
    key: Option<PathBuf>,
) -> Result<Option<TlsFiles>, ConfigError> {
    match (certificate, key) {
        (Some(certificate), Some(key)) => Ok(Some(TlsFiles { certificate, key })),
        (None, None) => Ok(None),
        (Some(_), None) => Err(ConfigError::HalfTls { found: "server.tls.certificate" }),
        (None, Some(_)) => Err(ConfigError::HalfTls { found: "server.tls.key" }),
    }
}
