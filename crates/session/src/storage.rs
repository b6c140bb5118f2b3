//! Web storage: the site and the key that say whose it is, and the entries of one area.

use crate::text::Text;
use serde::{Deserialize, Serialize, Serializer};
use std::collections::BTreeMap;
use std::fmt;
use std::net::IpAddr;

/// Whose storage it is, as Chromium serialises it (`blink::StorageKey::Serialize` in
/// `third_party/blink/common/storage_key/storage_key.cc`).
///
/// First party: `https://app.test/`. A third party's partition: `https://cdn.test/^0https://app.test`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct StorageKey(String);

impl StorageKey {
    /// A key as Chromium wrote it.
    pub fn new(serialized: impl Into<String>) -> Self {
        Self(serialized.into())
    }

    /// The first-party key of an origin such as `https://app.test`.
    pub fn first_party(origin: &str) -> Self {
        Self(format!("{}/", origin.trim_end_matches('/')))
    }

    /// The key as Chromium writes it.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The origin that owns the storage, without a trailing slash.
    pub fn origin(&self) -> &str {
        let end = self.0.find('^').unwrap_or(self.0.len());
        self.0[..end].trim_end_matches('/')
    }

    /// The top-level site of a third party's partition; `None` for a first party.
    pub fn top_level_site(&self) -> Option<&str> {
        self.0.split_once("^0").map(|(_, site)| site)
    }

    /// How a receipt names what this key has under a name: a database, or a cache.
    pub fn place_of(&self, name: &Text) -> String {
        format!("{self} {}", name.to_lossy())
    }

    /// Whether it is the origin's own, and no partition of it.
    pub fn is_first_party(&self) -> bool {
        !self.0.contains('^')
    }

    /// Whether it is that of a frame of the top-level site itself, inside of another site's frame
    /// (the ancestor bit, `^31`).
    pub fn is_inside_another(&self) -> bool {
        self.0.split_once('^').is_some_and(|(_, rest)| rest == "31")
    }

    /// Whether a document of ours can be given this key: first parties and partitions can, opaque
    /// keys (`^1`) cannot.
    pub fn is_reachable(&self) -> bool {
        self.is_first_party() || self.top_level_site().is_some() || self.is_inside_another()
    }

    /// The registrable site of the origin.
    pub fn site(&self) -> Site {
        Site::of_origin(self.origin())
    }
}

impl fmt::Display for StorageKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.0)
    }
}

/// The entries of one localStorage or sessionStorage, sorted by key; written as a list of pairs.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(from = "Vec<(Text, Text)>")]
pub struct Entries(pub BTreeMap<Text, Text>);

impl Entries {
    /// How many entries.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl From<Vec<(Text, Text)>> for Entries {
    fn from(pairs: Vec<(Text, Text)>) -> Self {
        Self(pairs.into_iter().collect())
    }
}

/// They may be megabytes, so they are written where they are.
impl Serialize for Entries {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(&self.0)
    }
}

impl<K: Into<Text>, V: Into<Text>> FromIterator<(K, V)> for Entries {
    fn from_iter<I: IntoIterator<Item = (K, V)>>(pairs: I) -> Self {
        Self(pairs.into_iter().map(|(key, value)| (key.into(), value.into())).collect())
    }
}

/// The registrable domain (eTLD+1 of the public suffix list), or the host itself where there is
/// none: an IP address, `localhost`, a public suffix.
///
/// It is the unit in which login state belongs together: cookies and tokens of one site are kept, merged
/// and restored as a whole, because a cookie of one instant with a token of another logs both out.
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

/// Whether a host is an IP address; one of version 6 is in brackets.
fn is_address(host: &str) -> bool {
    host.trim_start_matches('[').trim_end_matches(']').parse::<IpAddr>().is_ok()
}

impl fmt::Display for Site {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.0)
    }
}
