//! Where a node listens for peers alone, besides its settings, and at which addresses others reach that.
//!
//! The one idea: an invitation opens this listener on a node that listens on its own machine only. It lasts, and
//! is opened again at every start; a node that has one does not end because nobody uses it.

use baton_net::connections::Bounds;
use nix::ifaddrs::getifaddrs;
use nix::net::if_::InterfaceFlags;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::sync::Arc;
use tokio::sync::{Mutex, MutexGuard};
use tokio_util::sync::CancellationToken;
use url::Url;

/// How many addresses of a machine others are told.
const ADDRESSES_MAX: usize = 6;

/// The listener for peers of a node: where it is, and within which bounds. Cheap to clone.
#[derive(Clone)]
pub struct PeerPlace(Arc<PeerPlaceState>);

struct PeerPlaceState {
    bounds: Bounds,
    open: Mutex<Option<OpenListener>>,
    inviting: Mutex<Option<String>>,
}

/// A listener that is open. It closes when this is dropped.
pub(crate) struct OpenListener {
    /// Where.
    pub(crate) address: SocketAddr,
    /// Ends it.
    pub(crate) ending: CancellationToken,
}

impl Drop for OpenListener {
    fn drop(&mut self) {
        self.ending.cancel();
    }
}

impl PeerPlace {
    /// No listener yet.
    pub fn new(bounds: Bounds) -> Self {
        Self(Arc::new(PeerPlaceState {
            bounds,
            open: Mutex::default(),
            inviting: Mutex::default(),
        }))
    }

    /// How many may come, and how long they may take.
    pub(crate) fn bounds(&self) -> Bounds {
        self.0.bounds
    }

    /// The listener, if one is open. Who holds this opens and closes alone.
    pub(crate) async fn open(&self) -> MutexGuard<'_, Option<OpenListener>> {
        self.0.open.lock().await
    }

    /// The turn of who invites, takes an invitation back, or closes the listener for good, with the id of the invitation
    /// for which the listener was opened, if there was no other since: one that fails, or is undone, closes what was
    /// opened for it, to which no other one may lead by then.
    pub(crate) async fn inviting(&self) -> MutexGuard<'_, Option<String>> {
        self.0.inviting.lock().await
    }

    /// Where it is.
    pub(crate) async fn address(&self) -> Option<SocketAddr> {
        self.open().await.as_ref().map(|open| open.address)
    }
}

/// Where other machines ask a listener at this address: at it, or at every address that this machine has.
pub(crate) fn reached_at(listens: SocketAddr) -> Vec<Url> {
    let addresses = match listens.ip() {
        any if any.is_unspecified() => of_machine(any.is_ipv6()),
        one => vec![one],
    };
    let url = |ip: IpAddr| Url::parse(&format!("https://{}", SocketAddr::new(ip, listens.port())));
    addresses.into_iter().filter_map(|ip| url(ip).ok()).collect()
}

/// The addresses of this machine, those of its networks first; its own loopback when there is no network.
fn of_machine(with_v6: bool) -> Vec<IpAddr> {
    let mut found = Vec::new();
    for one in getifaddrs().into_iter().flatten() {
        let is_up = one.flags.contains(InterfaceFlags::IFF_UP);
        let Some(address) = one.address.filter(|_| is_up) else { continue };
        let v4 = address.as_sockaddr_in().map(|address| IpAddr::V4(address.ip()));
        let v6 = address.as_sockaddr_in6().map(|address| IpAddr::V6(address.ip()));
        found.extend(v4.or(v6.filter(|_| with_v6)).filter(is_reachable));
    }
    // Those of IPv4 go first, for they are shorter to type and more often routed.
    found.sort_by_key(IpAddr::is_ipv6);
    found.dedup();
    found.truncate(ADDRESSES_MAX);
    if found.is_empty() {
        found.push(Ipv4Addr::LOCALHOST.into());
    }
    found
}

/// Whether another machine can name it: an address of one link means another one elsewhere.
fn is_reachable(address: &IpAddr) -> bool {
    let is_of_link = match address {
        IpAddr::V4(address) => address.is_link_local(),
        IpAddr::V6(address) => address.is_unicast_link_local(),
    };
    !address.is_loopback() && !address.is_unspecified() && !is_of_link
}

#[cfg(test)]
mod tests {
    use super::{is_reachable, reached_at};

    #[test]
    fn a_listener_is_reached_where_it_is_and_one_at_every_address_at_those_of_the_machine() {
        let at = |address: &str| reached_at(address.parse().unwrap());
        assert_eq!(at("192.168.1.20:7421"), ["https://192.168.1.20:7421".parse().unwrap()]);
        assert_eq!(at("[2001:db8::1]:7421"), ["https://[2001:db8::1]:7421".parse().unwrap()]);
        let anywhere = at("0.0.0.0:7421");
        assert!(!anywhere.is_empty());
        for url in anywhere {
            assert!(url.port() == Some(7421) && url.host_str() != Some("0.0.0.0"), "{url}");
        }
    }

    #[test]
    fn addresses_of_a_link_or_of_the_machine_itself_are_not_told() {
        for (address, expected) in [
            ("192.168.1.20", true),
            ("100.64.0.7", true),
            ("2001:db8::1", true),
            ("127.0.0.1", false),
            ("169.254.1.1", false),
            ("::1", false),
            ("fe80::1", false),
            ("0.0.0.0", false),
        ] {
            assert_eq!(is_reachable(&address.parse().unwrap()), expected, "{address}");
        }
    }
}
