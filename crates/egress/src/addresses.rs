//! Addresses of the internet, and those that mean something else in each network, or this machine.

use nix::ifaddrs::{InterfaceAddress, getifaddrs};
use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, UdpSocket};

/// Whether an address is one of the internet, and none of this machine's own: what listens at all of a machine's
/// addresses, and is meant for its network, is found at a public one too. Looked at anew each time, for they come
/// and go.
pub fn is_elsewhere(address: IpAddr) -> bool {
    is_public(address) && !is_of_machine(address.to_canonical())
}

fn is_of_machine(address: IpAddr) -> bool {
    match getifaddrs() {
        Ok(mut all) => all.any(|one| ip(&one) == Some(address)),
        // Where a process may not ask for the list, as within some sandboxes.
        Err(_) => leads_here(address).unwrap_or(false),
    }
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

/// Whether an address is one of the internet (RFC 6890 lists the others).
pub fn is_public(address: IpAddr) -> bool {
    match address.to_canonical() {
        IpAddr::V4(address) => is_public_v4(address),
        IpAddr::V6(address) => is_public_v6(address),
    }
}

fn is_public_v4(address: Ipv4Addr) -> bool {
    let [a, b, c, _] = address.octets();
    !(address.is_loopback()
        || address.is_private()
        || address.is_link_local()
        || address.is_broadcast()
        || address.is_documentation()
        || address.is_multicast()
        || a == 0
        || a >= 240
        // Behind the routers of providers, for protocols, and for benchmarks.
        || a == 100 && (64..128).contains(&b)
        || a == 192 && b == 0 && c == 0
        || a == 198 && (18..20).contains(&b))
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
    use super::{ip, is_elsewhere, is_of_machine, leads_here};
    use nix::ifaddrs::getifaddrs;
    use std::net::IpAddr;

    #[test]
    fn an_address_of_an_interface_is_one_of_this_machine() {
        let own: Vec<IpAddr> = getifaddrs().unwrap().filter_map(|one| ip(&one)).collect();
        assert!(own.iter().any(IpAddr::is_loopback), "{own:?}");
        for address in own {
            assert!(is_of_machine(address) && !is_elsewhere(address), "{address}");
        }
        let other = "11.7.255.254".parse().unwrap();
        assert!(!is_of_machine(other) && is_elsewhere(other));
    }

    #[test]
    fn the_kernel_goes_to_itself_from_where_it_goes_to() {
        assert!(leads_here("127.0.0.1".parse().unwrap()).unwrap());
        // There may be no way there at all.
        assert!(!leads_here("11.7.255.254".parse().unwrap()).unwrap_or(false));
    }
}
