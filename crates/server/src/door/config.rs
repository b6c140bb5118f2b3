//! What a door needs besides what operations do.

use std::net::SocketAddr;

/// What a door needs besides the operations' context.
#[derive(Debug, Clone)]
pub struct HttpConfig {
    /// Where it listens.
    pub address: SocketAddr,
    /// Whether it speaks TLS.
    pub tls: bool,
    /// See [`Exposure::behind_proxy`](baton_net::exposure::Exposure::behind_proxy).
    pub behind_proxy: bool,
    /// See [`Exposure::allowed_hosts`](baton_net::exposure::Exposure::allowed_hosts).
    pub allowed_hosts: Vec<String>,
    /// The largest request body, in bytes; a file that becomes a session has a bound of its own.
    pub body_bytes: usize,
}
