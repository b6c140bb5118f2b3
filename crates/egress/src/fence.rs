//! The fence: which hosts a session may reach, and why it may not reach another one.
//!
//! The one idea: a name is judged before it is looked up, so that a name which may not be reached is asked of
//! nobody; and what it leads to is judged at each connection, so that it may lead elsewhere the second time.

use crate::addresses::{Elsewhere, is_public};
use crate::hosts::{HostRule, Target};
use serde::{Deserialize, Serialize};
use std::net::IpAddr;

/// Which hosts may be reached.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Fence {
    /// Those that may in any case. Private addresses count only where they are listed themselves, for a name
    /// leads wherever its owner wants.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub hosts: Vec<HostRule>,
    /// And the others.
    #[serde(default)]
    pub others: Others,
    /// Which private addresses may be reached at all, where `hosts` and `others` let them be; none: all. A node
    /// says so of the sessions of people to whom its machine and its network are not open.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lent: Option<Vec<HostRule>>,
}

/// What may be reached beside what is listed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Others {
    /// Everything.
    #[default]
    All,
    /// The hosts of the internet: what has a private address, or any of this machine's own, is not reached.
    Public,
    /// What leads to an address that is listed, by whatever name.
    Listed,
    /// Nothing.
    None,
}

/// Why a host is not reached.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Refusal {
    /// It is not listed.
    #[error("this session may not reach it: it is not listed")]
    NotListed,
    /// It leads to a private address that is not listed, or to one of this machine's own.
    #[error("it leads to {}, which is not listed", named(.0))]
    Private(IpAddr),
    /// It leads to an address that is not listed.
    #[error("it leads to the address {0}, which the settings of this node do not list")]
    Unlisted(IpAddr),
    /// It leads to a private address that the node does not lend, or to one of this machine's own.
    #[error("it leads to {}, which the settings of this node do not list", named(.0))]
    NotLent(IpAddr),
}

/// What a private address is called, and a public one of this machine.
fn named(address: &IpAddr) -> String {
    let what = if is_public(*address) { "this machine's own" } else { "the private" };
    format!("{what} address {address}")
}

impl Fence {
    /// Whether a host may be asked for, by what the client calls it.
    pub fn judge(&self, target: &Target) -> Result<(), Refusal> {
        let is_listed = self.hosts.iter().any(|rule| rule.lists(target));
        if self.others == Others::None && !is_listed {
            return Err(Refusal::NotListed);
        }
        match target.addresses() {
            Some(addresses) => self.reachable(target, addresses).map(drop),
            None => Ok(()),
        }
    }

    /// Of the addresses to which a target leads, those that may be reached.
    pub fn reachable(
        &self,
        target: &Target,
        addresses: Vec<IpAddr>,
    ) -> Result<Vec<IpAddr>, Refusal> {
        let elsewhere = Elsewhere::default();
        let is_elsewhere = |address| elsewhere.has(address);
        let addresses = match &self.lent {
            Some(lent) => reach(target, addresses, lent, is_elsewhere).map_err(Refusal::NotLent)?,
            None => addresses,
        };
        match self.others {
            Others::All => Ok(addresses),
            Others::Public | Others::None => {
                reach(target, addresses, &self.hosts, is_elsewhere).map_err(Refusal::Private)
            }
            Others::Listed => {
                reach(target, addresses, &self.hosts, |_| false).map_err(Refusal::Unlisted)
            }
        }
    }

    /// Of the addresses at which a further proxy is, those that may be asked. Whoever chooses the proxy of a
    /// session reaches it, and no host has to list it.
    pub fn passable(&self, proxy: &Target, addresses: Vec<IpAddr>) -> Result<Vec<IpAddr>, Refusal> {
        match &self.lent {
            Some(lent) => {
                let elsewhere = Elsewhere::default();
                let is_open = |address| elsewhere.has(address);
                reach(proxy, addresses, lent, is_open).map_err(Refusal::NotLent)
            }
            None if self.others == Others::Listed => self.reachable(proxy, addresses),
            None => Ok(addresses),
        }
    }
}

/// Of some addresses, those that are open to all or listed; the first of the others where that leaves none.
fn reach(
    target: &Target,
    addresses: Vec<IpAddr>,
    listed: &[HostRule],
    is_open: impl Fn(IpAddr) -> bool,
) -> Result<Vec<IpAddr>, IpAddr> {
    let is_listed = |address| listed.iter().any(|rule| rule.lists_address(target, address));
    let (may, may_not): (Vec<_>, Vec<_>) =
        addresses.into_iter().partition(|address| is_open(*address) || is_listed(*address));
    match may_not.first() {
        Some(first) if may.is_empty() => Err(first.to_canonical()),
        _ => Ok(may),
    }
}

#[cfg(test)]
mod tests {
    use super::{Fence, Others, Refusal};
    use crate::hosts::{HostRule, Target};

    fn fence(hosts: &[&str], others: Others) -> Fence {
        Fence { hosts: rules(hosts), others, lent: None }
    }

    fn rules(hosts: &[&str]) -> Vec<HostRule> {
        hosts.iter().map(|rule| rule.parse().unwrap()).collect()
    }

    fn reaches(fence: &Fence, host: &str, port: u16) -> Result<(), Refusal> {
        fence.judge(&Target::new(host, port).unwrap())
    }

    #[test]
    fn what_is_listed_is_reached_and_nothing_beside_it() {
        let only = fence(&["example.org", "*.shop.example", "api.example:8443"], Others::None);
        for (host, port) in [
            ("example.org", 443),
            ("EXAMPLE.org.", 80),
            ("a.shop.example", 443),
            ("a.b.shop.example", 443),
            ("api.example", 8443),
        ] {
            assert_eq!(reaches(&only, host, port), Ok(()), "{host}:{port}");
        }
        for (host, port) in [
            ("www.example.org", 443),
            ("notexample.org", 443),
            ("example.org.evil.example", 443),
            ("shop.example", 443),
            ("evilshop.example", 443),
            ("api.example", 443),
            ("93.184.215.14", 443),
            ("127.0.0.1", 443),
            ("localhost", 443),
        ] {
            assert_eq!(reaches(&only, host, port), Err(Refusal::NotListed), "{host}:{port}");
        }
    }

    #[test]
    fn a_private_address_is_reached_where_it_is_listed_however_it_is_written() {
        let public = fence(&["10.0.0.0/8"], Others::Public);
        for host in [
            "127.0.0.1",
            "127.1",
            "0x7f000001",
            "2130706433",
            "0177.0.0.1",
            "[::1]",
            "::1",
            "[::ffff:127.0.0.1]",
            "[::ffff:7f00:1]",
            "[0:0:0:0:0:ffff:7f00:0001]",
            "localhost",
            "LOCALHOST.",
            "a.localhost",
            "169.254.169.254",
            "[fd00::1]",
            "[fe80::1]",
            "[64:ff9b::7f00:1]",
            "[64:ff9b::127.0.0.1]",
            "[64:ff9b::10.1.2.3]",
            "[64:FF9B:0:0:0:0:7F00:1]",
            "[::127.0.0.1]",
            "[::7f00:1]",
            "[::10.1.2.3]",
            "[::ffff:0:7f00:1]",
            "[::FFFF:127.0.0.1]",
            "[0000:0000:0000:0000:0000:0000:0000:0001]",
            "[0:0:0:0:0:0:0:1]",
            "[2002:7f00:1::]",
            "[2002:0a01:0203::1]",
            "[2001::1]",
            "[2001:0:7f00:1::80ff:fffe]",
            "[2001:10::1]",
            "[2001:1ff:ffff::1]",
            "[2001:DB8::1]",
            "[FD00::1]",
            "[fc00::1]",
            "[FE80:0:0:0:0:0:0:1]",
            "[ff02::1]",
            "[100::1]",
            "[3fff::1]",
            "0.0.0.0",
            "[::]",
            "192.168.1.1",
            "100.64.0.1",
        ] {
            let found = reaches(&public, host, 80);
            assert!(matches!(found, Err(Refusal::Private(_))), "{host}: {found:?}");
        }
        for host in [
            "10.1.2.3",
            "[::ffff:10.1.2.3]",
            "[::FFFF:0a01:0203]",
            "example.org",
            "93.184.215.14",
            "[2606:4700::1111]",
        ] {
            assert_eq!(reaches(&public, host, 80), Ok(()), "{host}");
        }
        // What names an interface of one machine names no host.
        for host in ["[fe80::1%25eth0]", "[fe80::1%eth0]", "fe80::1%eth0", "[::1%lo]", "::1%1"] {
            assert!(Target::new(host, 80).is_err(), "{host}");
        }
    }

    #[test]
    fn where_a_name_leads_is_judged_too() {
        let only = fence(&["example.org", "shop.localhost:3000", "10.1.0.0/16"], Others::None);
        let leads = |host: &str, port, addresses: &[&str]| {
            let addresses = addresses.iter().map(|one| one.parse().unwrap()).collect();
            let found = only.reachable(&Target::new(host, port).unwrap(), addresses);
            found.map(|may| may.iter().map(ToString::to_string).collect::<Vec<_>>())
        };
        let may = |addresses: &[&str]| Ok(addresses.iter().map(ToString::to_string).collect());
        let public = "93.184.215.14";
        assert_eq!(leads("example.org", 443, &[public, "10.0.0.1"]), may(&[public]));
        let private = Refusal::Private("10.0.0.1".parse().unwrap());
        assert_eq!(leads("example.org", 443, &["10.0.0.1"]), Err(private));
        assert_eq!(leads("example.org", 443, &["10.1.0.1"]), may(&["10.1.0.1"]));
        assert_eq!(leads("shop.localhost", 3000, &["127.0.0.1"]), may(&["127.0.0.1"]));
        assert!(leads("shop.localhost", 3001, &["127.0.0.1"]).is_err());
        assert!(leads("other.localhost", 3000, &["127.0.0.1"]).is_err());
    }

    #[test]
    fn where_addresses_are_listed_a_name_leads_to_one_of_them_or_nowhere() {
        let listed = fence(&["93.184.215.0/24", "10.1.2.3:443"], Others::Listed);
        for (host, port) in [("example.org", 80), ("93.184.215.14", 80), ("10.1.2.3", 443)] {
            assert_eq!(reaches(&listed, host, port), Ok(()), "{host}:{port}");
        }
        for (host, port) in [("1.1.1.1", 80), ("10.1.2.3", 80), ("localhost", 80)] {
            let found = reaches(&listed, host, port);
            assert!(matches!(found, Err(Refusal::Unlisted(_))), "{host}:{port}: {found:?}");
        }
        let leads = |to: &str| {
            let target = Target::new("example.org", 443).unwrap();
            listed.reachable(&target, vec![to.parse().unwrap()]).is_ok()
        };
        assert!(leads("93.184.215.14") && leads("10.1.2.3"));
        assert!(!leads("1.1.1.1") && !leads("127.0.0.1"));
        let proxy = Target::new("proxy.example", 3128).unwrap();
        assert!(listed.passable(&proxy, vec!["93.184.215.14".parse().unwrap()]).is_ok());
        assert!(listed.passable(&proxy, vec!["1.1.1.1".parse().unwrap()]).is_err());
    }

    #[test]
    fn what_a_node_does_not_lend_is_not_reached_whoever_lists_it() {
        let hosts = ["localhost", "127.0.0.1", "10.0.0.0/8", "example.org"];
        let lent = Some(rules(&["localhost:3000", "10.1.0.0/16"]));
        for others in [Others::None, Others::Public, Others::All] {
            let fence = Fence { lent: lent.clone(), ..fence(&hosts, others) };
            for (host, port) in [
                ("localhost", 9000),
                ("127.0.0.1", 9000),
                ("[::1]", 80),
                ("a.localhost", 80),
                ("10.0.0.1", 80),
                ("[::ffff:10.0.0.1]", 80),
            ] {
                let found = reaches(&fence, host, port);
                assert!(matches!(found, Err(Refusal::NotLent(_))), "{host}:{port}: {found:?}");
            }
            for (host, port) in [("localhost", 3000), ("10.1.2.3", 80), ("example.org", 443)] {
                assert_eq!(reaches(&fence, host, port), Ok(()), "{host}:{port}");
            }
            let leads = |fence: &Fence, to: &str| {
                let target = Target::new("example.org", 443).unwrap();
                fence.reachable(&target, vec![to.parse().unwrap()]).is_ok()
            };
            assert!(leads(&fence, "93.184.215.14") && leads(&fence, "10.1.2.3"));
            assert!(!leads(&fence, "169.254.169.254") && !leads(&fence, "10.0.0.1"));
            // A list that has the name has no address to which its owner leads it.
            let named = Fence { hosts: rules(&["localhost:3000", "example.org"]), ..fence.clone() };
            assert!(leads(&named, "93.184.215.14") && reaches(&named, "localhost", 3000).is_ok());
            assert_eq!(leads(&named, "10.1.2.3"), others == Others::All);
            let proxy = |host, port| {
                let target = Target::new(host, port).unwrap();
                let addresses = target.addresses().unwrap();
                fence.passable(&target, addresses).is_ok()
            };
            assert!(proxy("127.0.0.1", 3000) && proxy("93.184.215.14", 1080));
            assert!(!proxy("127.0.0.1", 9000) && !proxy("[fd00::1]", 1080));
        }
        let own = fence(&[], Others::Public);
        let target = Target::new("127.0.0.1", 1080).unwrap();
        let addresses = target.addresses().unwrap();
        assert!(own.passable(&target, addresses).is_ok(), "a proxy of one's own machine");
    }

    #[test]
    fn a_rule_touches_a_site_when_it_lists_a_host_of_it() {
        for (rule, site) in [
            ("example.org", "example.org"),
            ("app.example.org:8443", "example.org"),
            ("*.example.org", "example.org"),
            ("*.example.org", "app.example.org"),
            ("10.0.0.0/8", "10.1.2.3"),
            ("localhost:3000", "shop.localhost"),
        ] {
            assert!(rule.parse::<HostRule>().unwrap().touches(site), "{rule} {site}");
        }
        for (rule, site) in [
            ("example.org", "notexample.org"),
            ("notexample.org", "example.org"),
            ("10.0.0.0/8", "example.org"),
            ("10.0.0.0/8", "11.0.0.1"),
        ] {
            assert!(!rule.parse::<HostRule>().unwrap().touches(site), "{rule} {site}");
        }
        let names = |rule: &str, host| rule.parse::<HostRule>().unwrap().names(host);
        assert!(names("app.example.org:8443", "app.example.org"));
        assert!(names("*.example.org", "app.example.org"));
        assert!(!names("*.example.org", "example.org") && !names("app.example.org", "example.org"));
    }

    #[test]
    fn two_rules_meet_in_what_both_list() {
        let rule = |text: &str| text.parse::<HostRule>().unwrap();
        for (one, other, both) in [
            ("example.org", "example.org", Some("example.org")),
            ("example.org", "example.org:443", Some("example.org:443")),
            ("*.example.org", "app.example.org:443", Some("app.example.org:443")),
            ("*.example.org:443", "app.example.org", Some("app.example.org:443")),
            ("*.example.org", "*.app.example.org", Some("*.app.example.org")),
            ("*.example.org", "*.example.org", Some("*.example.org")),
            ("10.0.0.0/8", "10.1.0.0/16:443", Some("10.1.0.0/16:443")),
            ("localhost", "shop.localhost:3000", Some("shop.localhost:3000")),
            ("localhost", "*.shop.localhost", Some("*.shop.localhost")),
            ("127.0.0.1", "shop.localhost", Some("shop.localhost")),
            ("0.0.0.0/0", "localhost:80", Some("localhost:80")),
            ("*.example.org", "example.org", None),
            ("example.org", "notexample.org", None),
            ("*.example.org", "notexample.org", None),
            ("example.org:443", "example.org:80", None),
            ("10.0.0.0/8", "11.0.0.0/8", None),
            ("10.0.0.0/8", "example.org", None),
            ("10.0.0.0/8", "localhost", None),
            ("*.example.org", "10.0.0.0/8", None),
        ] {
            for (one, other) in [(one, other), (other, one)] {
                let met = rule(one).meet(&rule(other)).map(|rule| rule.to_string());
                assert_eq!(met.as_deref(), both, "{one} {other}");
            }
        }
        let met = rule("localhost:80").meet(&rule("127.0.0.1"));
        assert_eq!(met, Some(rule("127.0.0.1:80")));
    }

    #[test]
    fn a_rule_is_written_as_it_is_read_and_what_is_none_is_refused() {
        for rule in [
            "example.org",
            "*.example.org",
            "example.org:8443",
            "10.0.0.0/8",
            "10.0.0.0/8:443",
            "10.1.2.3:80",
            "[::1]:80",
        ] {
            assert_eq!(rule.parse::<HostRule>().unwrap().to_string(), rule);
        }
        for text in [
            "",
            "*",
            "*.",
            "*.10.0.0.1",
            "a.*.org",
            "10.0.0.0/33",
            "10.0.0.0/8:",
            "a:b",
            "a:70000",
            "a b",
            "http://a",
        ] {
            assert!(text.parse::<HostRule>().is_err(), "{text}");
        }
    }
}
