//! Hosts: the names by which a client asks for one, and the rules that list some of them.
//!
//! The one idea: a host has one spelling here, whatever a client wrote: `0x7f.1` and `[::ffff:127.0.0.1]` are
//! `127.0.0.1`, and `Example.org.` is `example.org`. So no rule is passed by another way to write what it
//! names.

use crate::addresses::is_within;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::str::FromStr;
use url::Host;

/// A host, and a port of it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Target {
    /// The host, in its one spelling.
    pub host: Host<String>,
    /// The port.
    pub port: u16,
}

/// A text that names no host.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("expected a host, found {0:?}")]
pub struct NotHost(String);

impl Target {
    /// What a client means by a host, as it stands in an address, and a port.
    pub fn new(host: &str, port: u16) -> Result<Self, NotHost> {
        Ok(Self { host: parse(host)?, port })
    }

    /// Its address, when it is named by that, or this machine's own when it is `localhost` (RFC 6761, section
    /// 6.3): what DNS says of that name counts for nothing.
    pub fn addresses(&self) -> Option<Vec<IpAddr>> {
        match &self.host {
            Host::Ipv4(address) => Some(vec![(*address).into()]),
            Host::Ipv6(address) => Some(vec![(*address).into()]),
            Host::Domain(name) if is_localhost(name) => {
                Some(vec![Ipv4Addr::LOCALHOST.into(), Ipv6Addr::LOCALHOST.into()])
            }
            Host::Domain(_) => None,
        }
    }
}

impl fmt::Display for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.host, self.port)
    }
}

fn is_localhost(name: &str) -> bool {
    name == "localhost" || name.ends_with(".localhost")
}

/// The one spelling of a host.
fn parse(text: &str) -> Result<Host<String>, NotHost> {
    let not_host = || NotHost(text.to_owned());
    let bare = text.strip_suffix('.').unwrap_or(text);
    let host = match bare.parse::<Ipv6Addr>() {
        Ok(address) => Host::Ipv6(address),
        Err(_) => Host::parse(bare).map_err(|_| not_host())?,
    };
    match host {
        Host::Ipv6(address) => Ok(match address.to_canonical() {
            IpAddr::V4(address) => Host::Ipv4(address),
            IpAddr::V6(address) => Host::Ipv6(address),
        }),
        Host::Domain(name) if name.is_empty() || name.ends_with('.') => Err(not_host()),
        host => Ok(host),
    }
}

/// Some hosts: `example.org`, `*.example.org` (all below it), `10.0.0.0/8`, `localhost`, each perhaps with a
/// port, `example.org:8443`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct HostRule {
    hosts: Hosts,
    port: Option<u16>,
}

#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
enum Hosts {
    /// This name, or all at this machine when it is `localhost`.
    Name(String),
    /// All below this name, and not itself.
    Below(String),
    /// The addresses with the same first bits.
    Network(IpAddr, u8),
}

/// A text that lists no hosts.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "expected a host such as example.org, *.example.org, 10.0.0.0/8 or localhost, perhaps with a port, found \
     {0:?}"
)]
pub struct InvalidRule(String);

impl InvalidRule {
    /// The text.
    pub fn found(&self) -> &str {
        &self.0
    }
}

impl HostRule {
    /// Whether it lists a target by what the client calls it.
    pub fn lists(&self, target: &Target) -> bool {
        self.is_at(target.port)
            && match (&self.hosts, &target.host) {
                (Hosts::Name(name), Host::Domain(host)) => {
                    name == host || name == "localhost" && is_localhost(host)
                }
                (Hosts::Name(name), _) => {
                    name == "localhost"
                        && target.addresses().is_some_and(|all| all[0].is_loopback())
                }
                (Hosts::Below(name), Host::Domain(host)) => {
                    host.strip_suffix(name.as_str()).is_some_and(|rest| rest.ends_with('.'))
                }
                (Hosts::Below(_), _) => false,
                (Hosts::Network(network, bits), _) => {
                    let all = target.addresses().unwrap_or_default();
                    all.iter().any(|address| is_within(*network, *bits, *address))
                }
            }
    }

    /// Whether it lists an address to which a target leads, so that it counts even if it is private. A name
    /// does not list where it leads, unless it can lead to this machine alone.
    pub fn lists_address(&self, target: &Target, address: IpAddr) -> bool {
        match &self.hosts {
            Hosts::Name(name) | Hosts::Below(name) => {
                is_localhost(name) && self.lists(target) && address.to_canonical().is_loopback()
            }
            Hosts::Network(network, bits) => {
                self.is_at(target.port) && is_within(*network, *bits, address)
            }
        }
    }

    /// Whether it lists a host, or one below it, at whatever port.
    pub fn touches(&self, host: &str) -> bool {
        let Ok(target) = Target::new(host, self.port.unwrap_or(443)) else { return false };
        match (&self.hosts, &target.host) {
            (Hosts::Name(name) | Hosts::Below(name), Host::Domain(host)) => {
                name == host || lies_below(name, host) || self.lists(&target)
            }
            _ => self.lists(&target),
        }
    }

    /// Whether it lists a host itself, at whatever port.
    pub fn names(&self, host: &str) -> bool {
        Target::new(host, self.port.unwrap_or(443)).is_ok_and(|target| self.lists(&target))
    }

    /// Whether it lists addresses: a network, or this machine itself. A name does not, for it leads wherever
    /// its owner wants.
    pub fn lists_addresses(&self) -> bool {
        match &self.hosts {
            Hosts::Name(name) | Hosts::Below(name) => is_localhost(name),
            Hosts::Network(..) => true,
        }
    }

    /// What both this one and another list; none where no host is in both.
    pub fn meet(&self, other: &Self) -> Option<Self> {
        let port = match (self.port, other.port) {
            (Some(one), Some(other)) if one != other => return None,
            (one, other) => one.or(other),
        };
        let hosts = if self.hosts.cover(&other.hosts) {
            &other.hosts
        } else if other.hosts.cover(&self.hosts) {
            &self.hosts
        } else {
            return None;
        };
        Some(Self { hosts: hosts.clone(), port })
    }

    fn is_at(&self, port: u16) -> bool {
        self.port.is_none_or(|only| only == port)
    }
}

impl Hosts {
    /// Whether all that others name is among these.
    fn cover(&self, others: &Self) -> bool {
        match (self, others) {
            (Self::Name(name), Self::Name(host)) => {
                name == host || name == "localhost" && is_localhost(host)
            }
            (Self::Name(name), Self::Below(host)) => name == "localhost" && is_localhost(host),
            (Self::Name(name), Self::Network(network, bits)) => {
                let shortest = if network.is_ipv4() { 8 } else { 128 };
                name == "localhost" && network.is_loopback() && *bits >= shortest
            }
            (Self::Below(name), Self::Name(host)) => lies_below(host, name),
            (Self::Below(name), Self::Below(host)) => name == host || lies_below(host, name),
            (Self::Below(_), Self::Network(..)) => false,
            (Self::Network(network, bits), Self::Name(host) | Self::Below(host)) => {
                let here: [IpAddr; 2] = [Ipv4Addr::LOCALHOST.into(), Ipv6Addr::LOCALHOST.into()];
                is_localhost(host) && here.iter().any(|one| is_within(*network, *bits, *one))
            }
            (Self::Network(network, bits), Self::Network(inner, more)) => {
                bits <= more && is_within(*network, *bits, *inner)
            }
        }
    }
}

/// Whether a name is one below another.
fn lies_below(name: &str, above: &str) -> bool {
    name.strip_suffix(above).is_some_and(|rest| rest.ends_with('.'))
}

impl FromStr for HostRule {
    type Err = InvalidRule;

    fn from_str(text: &str) -> Result<Self, InvalidRule> {
        let invalid = || InvalidRule(text.to_owned());
        if let Some((address, rest)) = text.split_once('/') {
            let (bits, port) = match rest.split_once(':') {
                Some((bits, port)) => (bits, Some(port.parse().map_err(|_| invalid())?)),
                None => (rest, None),
            };
            let address: IpAddr = address.parse().map_err(|_| invalid())?;
            let bits = bits.parse().map_err(|_| invalid())?;
            let most = if address.is_ipv4() { 32 } else { 128 };
            let hosts = Hosts::Network(address, bits);
            return if bits <= most { Ok(Self { hosts, port }) } else { Err(invalid()) };
        }
        let (host, port) = match text.rsplit_once(':') {
            // An address of version 6 without brackets has no port behind it.
            Some((host, port)) if !host.contains(':') || host.ends_with(']') => {
                (host, Some(port.parse().map_err(|_| invalid())?))
            }
            _ => (text, None),
        };
        let (name, is_below) = match host.strip_prefix("*.") {
            Some(name) => (name, true),
            None => (host, false),
        };
        let hosts = match (parse(name).map_err(|_| invalid())?, is_below) {
            (Host::Domain(name), _) if name.contains('*') => return Err(invalid()),
            (Host::Domain(name), true) => Hosts::Below(name),
            (Host::Domain(name), false) => Hosts::Name(name),
            (Host::Ipv4(address), false) => Hosts::Network(address.into(), 32),
            (Host::Ipv6(address), false) => Hosts::Network(address.into(), 128),
            (_, true) => return Err(invalid()),
        };
        Ok(Self { hosts, port })
    }
}

impl fmt::Display for HostRule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.hosts {
            Hosts::Name(name) => f.write_str(name)?,
            Hosts::Below(name) => write!(f, "*.{name}")?,
            Hosts::Network(IpAddr::V4(address), 32) => write!(f, "{address}")?,
            Hosts::Network(IpAddr::V6(address), 128) => write!(f, "[{address}]")?,
            Hosts::Network(address, bits) => write!(f, "{address}/{bits}")?,
        }
        self.port.map_or(Ok(()), |port| write!(f, ":{port}"))
    }
}

impl TryFrom<String> for HostRule {
    type Error = InvalidRule;

    fn try_from(text: String) -> Result<Self, InvalidRule> {
        text.parse()
    }
}

impl From<HostRule> for String {
    fn from(rule: HostRule) -> Self {
        rule.to_string()
    }
}
