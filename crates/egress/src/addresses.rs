//! Addresses of the internet, and those that mean something else in each network.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

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
