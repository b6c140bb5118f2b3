//! What may leave a sandbox, as rules of nftables.
//!
//! They are set in the sandbox's network namespace from outside of its user namespace, so nothing in
//! it can change them.

use crate::network::HOST;
use crate::network::{Allowed, Destination, Network};
use std::fmt::Write as _;

/// Where slirp4netns answers questions about names.
pub(super) const NAMES: &str = "10.0.2.3";

/// What the internet at large does not reach (IANA's registry of special addresses, RFC 6890).
const NOT_PUBLIC: &str = "0.0.0.0/8, 10.0.0.0/8, 100.64.0.0/10, 127.0.0.0/8, 169.254.0.0/16, \
    172.16.0.0/12, 192.0.0.0/24, 192.0.2.0/24, 192.168.0.0/16, 198.18.0.0/15, 198.51.100.0/24, \
    203.0.113.0/24, 224.0.0.0/3";

/// The rules for a sandbox. A refusal is told at once, so that nothing in it waits.
pub(super) fn rules(network: &Network) -> String {
    let mut lines: Vec<String> =
        vec!["oifname \"lo\" accept".into(), "ct state established,related accept".into()];
    let is_public = matches!(network, Network::Public(_));
    if is_public {
        lines.extend(["udp", "tcp"].map(|kind| format!("ip daddr {NAMES} {kind} dport 53 accept")));
    }
    lines.extend(network.allowed().iter().map(allow));
    if is_public {
        lines.push(format!("ip daddr {{ {NOT_PUBLIC} }} reject with icmp type admin-prohibited"));
        lines.push("meta nfproto ipv4 accept".into());
    }
    lines.push("reject with icmpx type admin-prohibited".into());
    let mut text = String::from(
        "table inet baton {\n  chain output {\n    type filter hook output priority 0; policy drop;\n",
    );
    for line in lines {
        // Writing to a text cannot fail.
        let _ = writeln!(text, "    {line}");
    }
    text.push_str("  }\n}\n");
    text
}

fn allow(allowed: &Allowed) -> String {
    let to = match allowed.to {
        Destination::Host => HOST.to_string(),
        Destination::Addresses(net) => net.to_string(),
    };
    match allowed.port {
        Some(port) => format!("ip daddr {to} meta l4proto {{ tcp, udp }} th dport {port} accept"),
        None => format!("ip daddr {to} accept"),
    }
}
