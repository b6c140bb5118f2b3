//! Addresses of the internet, and those that mean something else in each network, or this machine.

use nix::ifaddrs::{InterfaceAddress, getifaddrs};
use std::cell::OnceCell;
use std::collections::BTreeSet;
use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, UdpSocket};

/// What is elsewhere: the internet without this machine, for what listens at all of a machine's addresses, and is meant
/// for its network, is found at a public one too. The machine is asked for its addresses once, when one of the internet
/// is looked at first: so each question makes one anew, for they come and go.
#[derive(Debug)]
pub struct Elsewhere {
    own: OnceCell<io::Result<BTreeSet<IpAddr>>>,
    list: fn() -> io::Result<BTreeSet<IpAddr>>,
    leads_here: fn(IpAddr) -> io::Result<bool>,
}

impl Default for Elsewhere {
    fn default() -> Self {
        Self { own: OnceCell::new(), list: own_addresses, leads_here }
    }
}

impl Elsewhere {
    /// Whether an address is one of the internet, and none of this machine's own.
    pub fn has(&self, address: IpAddr) -> bool {
        // Where it is not known whether it leads here, it may; if there is no way to it at all, nothing is lost.
        is_public(address) && !self.is_own(address).unwrap_or(true)
    }

    /// Whether an address is one of this machine's own; none where neither the machine nor its kernel says so now.
    pub fn is_own(&self, address: IpAddr) -> Option<bool> {
        let address = address.to_canonical();
        match self.own.get_or_init(self.list) {
            Ok(all) => Some(all.contains(&address)),
            // A process may not ask for the list within some sandboxes, or has no file descriptor left.
            Err(_) => (self.leads_here)(address).ok(),
        }
    }
}

/// The addresses of this machine's interfaces now.
fn own_addresses() -> io::Result<BTreeSet<IpAddr>> {
    Ok(getifaddrs()?.filter_map(|one| ip(&one)).collect())
}

/// The address of an interface.
fn ip(of: &InterfaceAddress) -> Option<IpAddr> {
    let address = of.address.as_ref()?;
    let v4 = address.as_sockaddr_in().map(|address| address.ip().into());
    v4.or_else(|| Some(address.as_sockaddr_in6()?.ip().into()))
}

/// Whether the kernel would go to an address from that address itself, as it does to each of its own. Nothing is sent.
fn leads_here(address: IpAddr) -> io::Result<bool> {
    let any: IpAddr = match address {
        IpAddr::V4(_) => Ipv4Addr::UNSPECIFIED.into(),
        IpAddr::V6(_) => Ipv6Addr::UNSPECIFIED.into(),
    };
    let socket = UdpSocket::bind((any, 0))?;
    socket.connect((address, 80))?;
    Ok(socket.local_addr()?.ip() == address)
}

/// The networks of version 4 that are none of the internet, each with how many bits its addresses share: to each machine
/// its own, its network's, or its cloud's. A cloud may answer its machines at an address that looks public; those of
/// others are among these (Alibaba's 100.100.100.200, Oracle's 192.0.0.192).
pub const NOT_PUBLIC: [(Ipv4Addr, u8); 16] = [
    // This machine, private networks, and links (IANA's registry of special addresses, RFC 6890).
    (Ipv4Addr::UNSPECIFIED, 8),
    (Ipv4Addr::new(10, 0, 0, 0), 8),
    (Ipv4Addr::new(127, 0, 0, 0), 8),
    (Ipv4Addr::new(169, 254, 0, 0), 16),
    (Ipv4Addr::new(172, 16, 0, 0), 12),
    (Ipv4Addr::new(192, 168, 0, 0), 16),
    // Behind the routers of providers, for protocols, for documents, and for benchmarks (there as well).
    (Ipv4Addr::new(100, 64, 0, 0), 10),
    (Ipv4Addr::new(192, 0, 0, 0), 24),
    (Ipv4Addr::new(192, 0, 2, 0), 24),
    (Ipv4Addr::new(198, 18, 0, 0), 15),
    (Ipv4Addr::new(198, 51, 100, 0), 24),
    (Ipv4Addr::new(203, 0, 113, 0), 24),
    // To many machines at once, and not given to anybody (there as well).
    (Ipv4Addr::new(224, 0, 0, 0), 3),
    // The host of a machine of Azure, which tells it what it is and gives it its secrets (Microsoft, "What is IP address
    // 168.63.129.16?").
    (Ipv4Addr::new(168, 63, 129, 16), 32),
    // Services of IBM Cloud for its own machines (IBM, VPC API: reserved address ranges).
    (Ipv4Addr::new(161, 26, 0, 0), 16),
    (Ipv4Addr::new(166, 8, 0, 0), 14),
];

/// Whether an address is one of the internet: of version 4, whether it is in none of [`NOT_PUBLIC`].
pub fn is_public(address: IpAddr) -> bool {
    match address.to_canonical() {
        IpAddr::V4(address) => is_public_v4(address),
        IpAddr::V6(address) => is_public_v6(address),
    }
}

fn is_public_v4(address: Ipv4Addr) -> bool {
    let is_in =
        |(network, bits): &(Ipv4Addr, u8)| is_within((*network).into(), *bits, address.into());
    !NOT_PUBLIC.iter().any(is_in)
}

fn is_public_v6(address: Ipv6Addr) -> bool {
    let [first, second, ..] = address.segments();
    // Global unicast is 2000::/3; of that, 2001:db8::/32 and 3fff::/20 are for documents, 2001::/23 is for
    // protocols, and 2002::/16, 64:ff9b::/96 and 2001::/32 carry addresses of version 4 in them.
    let is_global = first & 0xe000 == 0x2000;
    let is_special = first == 0x2002
        || first == 0x2001 && (second == 0x0db8 || second < 0x0200)
        || first == 0x3fff && second < 0x1000;
    is_global && !is_special
}

/// Whether two addresses have the same first bits.
pub fn is_within(network: IpAddr, bits: u8, address: IpAddr) -> bool {
    match (network, address.to_canonical()) {
        (IpAddr::V4(network), IpAddr::V4(address)) => {
            let differ = u32::from(network) ^ u32::from(address);
            differ.checked_shr(32 - u32::from(bits)).unwrap_or(0) == 0
        }
        (IpAddr::V6(network), IpAddr::V6(address)) => {
            let differ = u128::from(network) ^ u128::from(address);
            differ.checked_shr(128 - u32::from(bits)).unwrap_or(0) == 0
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::{Elsewhere, is_public, leads_here, own_addresses};
    use std::cell::OnceCell;
    use std::collections::BTreeSet;
    use std::io;
    use std::net::{IpAddr, Ipv4Addr};
    use std::sync::atomic::{AtomicUsize, Ordering};

    /// An address of the internet, which nobody here has.
    const OTHER: &str = "11.7.255.254";

    #[test]
    fn an_address_of_an_interface_is_one_of_this_machine() {
        let own = own_addresses().unwrap();
        assert!(own.iter().any(IpAddr::is_loopback), "{own:?}");
        let elsewhere = Elsewhere::default();
        for address in own {
            assert_eq!(elsewhere.is_own(address), Some(true), "{address}");
            assert!(!elsewhere.has(address), "{address}");
        }
        assert!(elsewhere.has(OTHER.parse().unwrap()));
    }

    #[test]
    fn the_machine_is_asked_once_however_many_addresses_there_are() {
        static ASKED: AtomicUsize = AtomicUsize::new(0);
        let list: fn() -> io::Result<BTreeSet<IpAddr>> = || {
            ASKED.fetch_add(1, Ordering::Relaxed);
            Ok(BTreeSet::from([OTHER.parse().unwrap()]))
        };
        let elsewhere = Elsewhere { own: OnceCell::new(), list, leads_here };
        assert!(!elsewhere.has("10.0.0.1".parse().unwrap()));
        assert_eq!(ASKED.load(Ordering::Relaxed), 0, "a private address is none in any case");
        for last in 0..=255 {
            let address = IpAddr::from([11, 7, 255, last]);
            assert_eq!(elsewhere.has(address), address.to_string() != OTHER, "{address}");
        }
        assert_eq!(ASKED.load(Ordering::Relaxed), 1);
    }

    #[test]
    fn each_network_of_version_4_that_is_none_of_the_internet_ends_where_it_does() {
        for (first, last) in [
            ("0.0.0.0", "0.255.255.255"),
            ("10.0.0.0", "10.255.255.255"),
            ("100.64.0.0", "100.127.255.255"),
            ("127.0.0.0", "127.255.255.255"),
            ("161.26.0.0", "161.26.255.255"),
            ("166.8.0.0", "166.11.255.255"),
            ("168.63.129.16", "168.63.129.16"),
            ("169.254.0.0", "169.254.255.255"),
            ("172.16.0.0", "172.31.255.255"),
            ("192.0.0.0", "192.0.0.255"),
            ("192.0.2.0", "192.0.2.255"),
            ("192.168.0.0", "192.168.255.255"),
            ("198.18.0.0", "198.19.255.255"),
            ("198.51.100.0", "198.51.100.255"),
            ("203.0.113.0", "203.0.113.255"),
            ("224.0.0.0", "255.255.255.255"),
        ] {
            let [first, last] =
                [first, last].map(|text| u32::from(text.parse::<Ipv4Addr>().unwrap()));
            let is_of_the_internet = |address: u32| is_public(Ipv4Addr::from(address).into());
            for inside in [first, first.midpoint(last), last] {
                assert!(!is_of_the_internet(inside), "{}", Ipv4Addr::from(inside));
            }
            for beside in [first.checked_sub(1), last.checked_add(1)].into_iter().flatten() {
                assert!(is_of_the_internet(beside), "{}", Ipv4Addr::from(beside));
            }
        }
        // Where clouds answer their machines.
        for address in ["169.254.169.254", "100.100.100.200", "192.0.0.192", "::ffff:168.63.129.16"]
        {
            assert!(!is_public(address.parse().unwrap()), "{address}");
        }
    }

    #[test]
    fn each_special_network_of_version_6_is_none_of_the_internet_and_ends_where_it_does() {
        for (address, is_of_the_internet) in [
            // Global unicast, and what lies on both sides of it.
            ("1fff:ffff::1", false),
            ("2000::1", true),
            ("2606:4700::1111", true),
            ("3fff:ffff::1", true),
            ("4000::1", false),
            ("e000::1", false),
            // Addresses of version 4 in it: 6to4.
            ("2001:ffff::1", true),
            ("2002::1", false),
            ("2002:7f00:1::", false),
            ("2002:ffff::1", false),
            ("2003::1", true),
            // For documents.
            ("2001:db7::1", true),
            ("2001:db8::1", false),
            ("2001:db8:ffff::1", false),
            ("2001:db9::1", true),
            ("2003:db8::1", true),
            // For protocols, Teredo among them.
            ("2001::1", false),
            ("2001:0:7f00:1::1", false),
            ("2001:1ff:ffff::1", false),
            ("2001:200::1", true),
            ("2003:100::1", true),
            // For documents as well.
            ("3ffe::1", true),
            ("3fff::1", false),
            ("3fff:fff::1", false),
            ("3fff:1000::1", true),
            // What is elsewhere altogether.
            ("::", false),
            ("::1", false),
            ("::127.0.0.1", false),
            ("::ffff:0:7f00:1", false),
            ("64:ff9b::7f00:1", false),
            ("64:ff9b::5db8:d70e", false),
            ("100::1", false),
            ("fc00::1", false),
            ("fd00::1", false),
            ("fe80::1", false),
            ("fec0::1", false),
            ("ff02::1", false),
            // And those of version 4 that are written so are what they are.
            ("::ffff:127.0.0.1", false),
            ("::ffff:93.184.215.14", true),
        ] {
            assert_eq!(is_public(address.parse().unwrap()), is_of_the_internet, "{address}");
        }
    }

    #[test]
    fn what_nobody_can_look_at_may_be_this_machine() {
        let list: fn() -> io::Result<BTreeSet<IpAddr>> =
            || Err(io::ErrorKind::PermissionDenied.into());
        let address: IpAddr = OTHER.parse().unwrap();
        assert!(is_public(address));
        let found = |leads_here: fn(IpAddr) -> io::Result<bool>| {
            let elsewhere = Elsewhere { own: OnceCell::new(), list, leads_here };
            (elsewhere.has(address), elsewhere.is_own(address))
        };
        assert_eq!(found(|_| Ok(false)), (true, Some(false)));
        assert_eq!(found(|_| Ok(true)), (false, Some(true)));
        assert_eq!(found(|_| Err(io::ErrorKind::Other.into())), (false, None));
    }

    #[test]
    fn the_kernel_goes_to_itself_from_where_it_goes_to() {
        assert!(leads_here("127.0.0.1".parse().unwrap()).unwrap());
        // There may be no way there at all.
        assert!(!leads_here(OTHER.parse().unwrap()).unwrap_or(false));
    }
}
