//! Where a proxy is reached, and so where the pages of each cocoon are.

use super::Cocoon;
use baton_api::debug::WatchedCocoon;
use std::net::SocketAddr;
use url::Url;

/// Where a proxy is reached.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProxyPlace {
    /// Where it listens.
    pub address: SocketAddr,
    /// The name whose subdomains are cocoons, beside `localhost`.
    pub host: Option<String>,
}

impl ProxyPlace {
    /// Where a person begins: at the host name of the cocoon's own.
    pub fn home(&self, cocoon: &Cocoon) -> Option<Url> {
        let host = self.host.as_deref().unwrap_or("localhost");
        format!("http://{}.{host}:{}/", cocoon.id, self.address.port()).parse().ok()
    }

    /// Every address of the cocoon's first page, that of [`home`](Self::home) among them.
    pub fn urls(&self, cocoon: &Cocoon) -> Vec<Url> {
        let ways = self.ways(cocoon).into_iter();
        ways.filter_map(|way| format!("{}{}", way.origin, way.path).parse().ok()).collect()
    }

    /// Every way to the pages of a cocoon: by a host name of its own, and by a path.
    pub fn ways(&self, cocoon: &Cocoon) -> Vec<WatchedCocoon> {
        let (id, port) = (&cocoon.id, self.address.port());
        let way = |origin: String, path: String| WatchedCocoon {
            id: id.clone(),
            name: Some(cocoon.name.clone()),
            origin,
            path,
        };
        let hosts = [Some("localhost"), self.host.as_deref()];
        let named = hosts.into_iter().flatten();
        let named = named.map(|host| way(format!("http://{id}.{host}:{port}"), "/".to_owned()));
        let plain = ["localhost", "127.0.0.1"];
        let below = plain.map(|host| way(format!("http://{host}:{port}"), format!("/proxy/{id}/")));
        named.chain(below).collect()
    }
}
