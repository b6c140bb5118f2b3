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
        let literal = host.trim_start_matches('[').trim_end_matches(']');
        if literal.parse::<IpAddr>().is_ok() {
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

    /// The site as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Site {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.0)
    }
}
