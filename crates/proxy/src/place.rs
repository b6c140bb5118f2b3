//! Where a proxy is reached, and so where the pages of each cocoon are.

use super::cocoon::Cocoon;
use super::outside::Outside;
use baton_api::debug::WatchedCocoon;
use std::net::SocketAddr;
use url::Url;

/// Where a proxy is reached.
#[derive(Clone)]
pub struct ProxyPlace {
    /// Where it listens.
    pub address: SocketAddr,
    /// The name whose subdomains are cocoons, beside `localhost`.
    pub host: Option<String>,
    /// Who reaches it, and how.
    pub outside: Outside,
}

impl ProxyPlace {
    /// Where a person begins: at the host name of the cocoon's own.
    pub fn home(&self, cocoon: &Cocoon) -> Option<Url> {
        let host = self.host.as_deref().unwrap_or("localhost");
        format!("{}/", self.origin(&format!("{}.{host}", cocoon.id))).parse().ok()
    }

    /// The origin of a host. One that leads to this machine from elsewhere is the proxy's in front, when there
    /// is one: it has the port that belongs to https.
    fn origin(&self, host: &str) -> String {
        let is_named = self.host.as_ref().is_some_and(|ours| host.ends_with(ours.as_str()));
        let port = self.address.port();
        if self.outside.speaks_tls() {
            format!("https://{host}:{port}")
        } else if self.outside.is_behind_proxy() && is_named {
            format!("https://{host}")
        } else {
            format!("http://{host}:{port}")
        }
    }

    /// Every address of the cocoon's first page, that of [`home`](Self::home) among them.
    pub fn urls(&self, cocoon: &Cocoon) -> Vec<Url> {
        let ways = self.ways(cocoon).into_iter();
        ways.filter_map(|way| format!("{}{}", way.origin, way.path).parse().ok()).collect()
    }

    /// Every way to the pages of a cocoon: by a host name of its own, and by a path.
    pub fn ways(&self, cocoon: &Cocoon) -> Vec<WatchedCocoon> {
        let id = &cocoon.id;
        let way = |origin: String, path: String| WatchedCocoon {
            id: id.clone(),
            name: Some(cocoon.name.clone()),
            origin,
            path,
        };
        let hosts = [Some("localhost"), self.host.as_deref()];
        let named = hosts.into_iter().flatten();
        let named = named.map(|host| way(self.origin(&format!("{id}.{host}")), "/".to_owned()));
        let plain = ["localhost", "127.0.0.1"];
        let below = plain.map(|host| way(self.origin(host), format!("/proxy/{id}/")));
        named.chain(below).collect()
    }
}
