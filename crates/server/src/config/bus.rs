//! By what the nodes of a cluster tell each other at once that something changed: servers of NATS.

use super::{ConfigError, invalid};
use std::path::PathBuf;
use url::Url;

/// The bus of a cluster.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BusSettings {
    /// Where it is: `nats://` or `tls://`, one or several that are one.
    pub servers: Vec<Url>,
    /// The file that says who the node is to them: one of NATS (`.creds`), or a line with `user:password` or a token.
    pub credentials: Option<PathBuf>,
    /// Whom to trust that they are themselves (PEM); none trusts whom the machine trusts.
    pub authorities: Option<PathBuf>,
}

/// The most servers of a bus.
const MOST: usize = 16;

/// The servers that a text names; it may hold a password and is not repeated.
pub(super) fn servers(origin: &str, text: &str) -> Result<Vec<Url>, ConfigError> {
    let key = "cluster.bus_url";
    let expected = "1 to 16 addresses such as nats://10.0.0.9:4222 or tls://bus.example.org, separated by commas";
    let refused = |found| invalid(origin, key, expected, found);
    let mut servers = Vec::new();
    for text in text.split(',') {
        let server: Url = text.trim().parse().map_err(|_| refused("something else"))?;
        if !matches!(server.scheme(), "nats" | "tls") {
            return Err(refused("an address of another kind"));
        }
        if !server.username().is_empty() || server.password().is_some() {
            return Err(refused(
                "a user in one; whoever sees settings would know it: put it into the file of cluster.bus_credentials",
            ));
        }
        let is_bare = matches!(server.path(), "" | "/")
            && server.query().is_none()
            && server.fragment().is_none();
        if !is_bare || server.host_str().is_none_or(str::is_empty) {
            return Err(refused("one without a host, or with a path or a query"));
        }
        servers.push(server);
    }
    if servers.len() > MOST {
        return Err(refused("more"));
    }
    Ok(servers)
}
