//! What a sandbox may reach.
//!
//! Refused by default is whatever the internet at large cannot reach either: private networks, this
//! machine, the addresses at which clouds answer their own machines (RFC 6890, RFC 3927, and what
//! `baton_egress` has besides).

use ipnet::Ipv4Net;
use std::fmt;
use std::net::Ipv4Addr;
use std::str::FromStr;

/// Where slirp4netns shows the loopback of this machine (its manual, `--disable-host-loopback`).
pub(crate) const HOST: Ipv4Addr = Ipv4Addr::new(10, 0, 2, 2);

/// What a sandbox may reach.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum Network {
    /// Nothing.
    #[default]
    None,
    /// The internet, and these.
    Public(Vec<Allowed>),
    /// These only. Names are not looked up in such a sandbox: a program that asks for a name tells something.
    Listed(Vec<Allowed>),
    /// Nothing by itself: there is no network but its own loopback, and what connects to these TCP ports there
    /// comes to the holder of the sandbox ([`Sandbox::connections`](crate::Sandbox::connections)), who says
    /// where it leads.
    Handed(Vec<u16>),
}

/// An address that a sandbox may reach: `203.0.113.7`, `203.0.113.0/24`, `203.0.113.7:443`, or
/// `host:8080` for a port of this machine's own loopback.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Allowed {
    /// Where.
    pub to: Destination,
    /// On which port; without one on all.
    pub port: Option<u16>,
}

/// Where something is that a sandbox may reach.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Destination {
    /// Addresses.
    Addresses(Ipv4Net),
    /// The loopback of this machine, which a sandbox finds at `10.0.2.2`, by the name `host`, and the TCP ports
    /// that it may reach there at its own loopback.
    Host,
}

/// Why a text names no address that a sandbox may reach.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "expected an IPv4 address or network with or without a port, or host:PORT for a port of this machine; found {0:?}"
)]
pub struct InvalidAllowed(String);

impl Network {
    /// What is allowed beside what the kind of network allows.
    pub fn allowed(&self) -> &[Allowed] {
        match self {
            Self::None | Self::Handed(_) => &[],
            Self::Public(allowed) | Self::Listed(allowed) => allowed,
        }
    }

    /// Whether packets of the sandbox go anywhere beside its own loopback.
    pub(crate) fn is_connected(&self) -> bool {
        matches!(self, Self::Public(_) | Self::Listed(_))
    }

    /// The ports whose connections the holder gets.
    pub(crate) fn handed_ports(&self) -> &[u16] {
        match self {
            Self::Handed(ports) => ports,
            Self::None | Self::Public(_) | Self::Listed(_) => &[],
        }
    }

    /// The ports of this machine's loopback among them.
    pub fn host_ports(&self) -> Vec<u16> {
        let of_host = self.allowed().iter().filter(|allowed| allowed.to == Destination::Host);
        of_host.filter_map(|allowed| allowed.port).collect()
    }
}

impl FromStr for Allowed {
    type Err = InvalidAllowed;

    fn from_str(text: &str) -> Result<Self, InvalidAllowed> {
        parse(text).ok_or_else(|| InvalidAllowed(text.to_owned()))
    }
}

fn parse(text: &str) -> Option<Allowed> {
    let (to, port) = match text.rsplit_once(':') {
        Some((to, port)) => (to, Some(port.parse().ok().filter(|port| *port != 0)?)),
        None => (text, None),
    };
    if to == "host" {
        return port.map(|port| Allowed { to: Destination::Host, port: Some(port) });
    }
    let net = match to.parse() {
        Ok(address) => Ipv4Net::new(address, 32).ok()?,
        Err(_) => to.parse::<Ipv4Net>().ok()?.trunc(),
    };
    Some(Allowed { to: Destination::Addresses(net), port })
}

impl fmt::Display for Allowed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.to {
            Destination::Host => f.write_str("host")?,
            Destination::Addresses(net) if net.prefix_len() == 32 => write!(f, "{}", net.addr())?,
            Destination::Addresses(net) => write!(f, "{net}")?,
        }
        self.port.map_or(Ok(()), |port| write!(f, ":{port}"))
    }
}
