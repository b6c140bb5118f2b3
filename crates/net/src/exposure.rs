//! What protects a listener that other machines can reach.

use crate::tls::TlsFiles;
use std::net::SocketAddr;

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
    pub fn check(&self, address: SocketAddr) -> Result<(), NotLoopback> {
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
     server.behind_proxy when a proxy in front of the node speaks TLS",
    found.port()
)]
pub struct NotLoopback {
    /// Which setting.
    pub setting: &'static str,
    /// What it is.
    pub found: SocketAddr,
}
