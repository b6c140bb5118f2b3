//! The registrable site: the unit in which login state belongs together.
//!
//! Cookies and tokens of one site are kept, merged and restored as a whole, because a cookie of
//! one instant with a token of another logs both out.

use serde::{Deserialize, Serialize};
use std::fmt;
use std::net::IpAddr;

/// The registrable domain (eTLD+1 of the public suffix list), or the host itself where there is
/// none: an IP address, `localhost`, a public suffix.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Site(String);

impl Site {
    /// The site of a host or cookie domain; a leading dot is ignored.
    pub fn of_host(host: &str) -> Self {
        let host = host.trim_start_matches('.').to_ascii_lowercase();
        if is_address(&host) {
            return Self(host);
        }
        let site = psl::domain_str(&host).map(str::to_owned);
        Self(site.unwrap_or(host))
    }

    /// The site of an origin such as `https://www.app.test:8443`.
    pub fn of_origin(origin: &str) -> Self {
        let host = url::Url::parse(origin).ok().and_then(|url| url.host_str().map(str::to_owned));
        Self::of_host(host.as_deref().unwrap_or(origin))
    }

    /// Whether the hosts below a lower-case host can share cookies: not those below an IP address
    /// or a public suffix. The private part of the list changes often, and there the browser's own
    /// copy decides.
    pub(crate) fn can_share(host: &str) -> bool {
        let is_private = |host: &str| {
            psl::suffix(host.as_bytes()).and_then(|suffix| suffix.typ()) == Some(psl::Type::Private)
        };
        !is_address(host) && (psl::domain_str(host).is_some() || is_private(host))
    }

    /// The site as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// Whether a host is an IP address; one of version 6 stands in brackets.
fn is_address(host: &str) -> bool {
    host.trim_start_matches('[').trim_end_matches(']').parse::<IpAddr>().is_ok()
}

impl fmt::Display for Site {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.0)
    }
}
