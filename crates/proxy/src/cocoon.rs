//! Cocoons: what stands behind the proxy, and for whom.

use baton_api::CocoonId;
use baton_session::Owner;
use std::collections::BTreeMap;
use std::str::FromStr;
use std::sync::{Arc, PoisonError, RwLock};
use url::{Position, Url};

/// A service behind the proxy.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cocoon {
    /// Which one: a label of host names.
    pub id: CocoonId,
    /// What people call it.
    pub name: String,
    /// Where it answers.
    pub upstream: Upstream,
    /// To whom it belongs.
    pub owner: Owner,
    /// Who may reach it.
    pub access: Access,
    /// Which of its pages may be looked into.
    pub browser_debug: BrowserDebug,
}

/// Who may reach a cocoon.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Access {
    /// Whoever comes from a loopback address, to a loopback name.
    #[default]
    Loopback,
    /// Whoever has a key of its owner with the scope `debug`, or a pass that a ticket brought.
    Key,
}

/// Which pages get a token.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BrowserDebug {
    /// Whether any do.
    pub enabled: bool,
    /// The media types that count as pages, in lower case.
    pub content_types: Vec<String>,
    /// How much of a response's body is kept, in bytes; the extension goes by it.
    pub response_body_max_size: u64,
    /// Paths that get none, with what is below them.
    pub exclude_paths: Vec<String>,
    /// Whether navigations are guessed where a browser does not mark them, which it does at `https` and
    /// `localhost` only. Scripts of a page can then read the token.
    pub without_fetch_metadata: bool,
}

impl Default for BrowserDebug {
    fn default() -> Self {
        Self {
            enabled: true,
            content_types: vec!["text/html".to_owned()],
            response_body_max_size: 100 << 10,
            exclude_paths: Vec::new(),
            without_fetch_metadata: false,
        }
    }
}

/// Where a cocoon answers: `http`, a host, a port. Paths go on as they come.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Upstream(Url);

/// An address at which no cocoon can answer. What was found may hold a password and is not repeated.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("expected an address such as http://127.0.0.1:3000, without a path, a query or a user")]
pub struct InvalidUpstream;

impl Upstream {
    /// The address.
    pub fn url(&self) -> &Url {
        &self.0
    }

    /// Host and port as they stand in the address.
    pub(super) fn authority(&self) -> &str {
        self.0.authority()
    }
}

impl FromStr for Upstream {
    type Err = InvalidUpstream;

    fn from_str(text: &str) -> Result<Self, InvalidUpstream> {
        let url: Url = text.parse().map_err(|_| InvalidUpstream)?;
        let fits = url.scheme() == "http"
            && url.has_host()
            && url.username().is_empty()
            && url.password().is_none()
            && url.port() != Some(0)
            && matches!(&url[Position::BeforePath..], "" | "/");
        if fits { Ok(Self(url)) } else { Err(InvalidUpstream) }
    }
}

/// The cocoons of a proxy. Cheap to clone; a change counts from the next request on.
#[derive(Debug, Clone, Default)]
pub struct Cocoons(Arc<RwLock<BTreeMap<CocoonId, Arc<Cocoon>>>>);

impl Cocoons {
    /// Adds a cocoon, or puts it in the place of the one with the same id, and gives that back.
    pub fn insert(&self, cocoon: Cocoon) -> Option<Arc<Cocoon>> {
        let mut cocoons = self.0.write().unwrap_or_else(PoisonError::into_inner);
        cocoons.insert(cocoon.id.clone(), Arc::new(cocoon))
    }

    /// The cocoon of this id.
    pub fn fetch(&self, id: &CocoonId) -> Option<Arc<Cocoon>> {
        self.0.read().unwrap_or_else(PoisonError::into_inner).get(id).cloned()
    }

    /// All of them, by id.
    pub fn list(&self) -> Vec<Arc<Cocoon>> {
        self.0.read().unwrap_or_else(PoisonError::into_inner).values().cloned().collect()
    }

    /// Takes a cocoon away, and gives it back.
    pub fn remove(&self, id: &CocoonId) -> Option<Arc<Cocoon>> {
        self.0.write().unwrap_or_else(PoisonError::into_inner).remove(id)
    }
}

impl FromIterator<Cocoon> for Cocoons {
    fn from_iter<I: IntoIterator<Item = Cocoon>>(cocoons: I) -> Self {
        let by_id = cocoons.into_iter().map(|cocoon| (cocoon.id.clone(), Arc::new(cocoon)));
        Self(Arc::new(RwLock::new(by_id.collect())))
    }
}

#[cfg(test)]
mod tests {
    use super::Upstream;

    #[test]
    fn an_upstream_is_a_host_and_a_port() {
        for good in ["http://127.0.0.1:3000", "http://app/", "http://[::1]:8000"] {
            assert!(good.parse::<Upstream>().is_ok(), "{good}");
        }
        for bad in [
            "127.0.0.1:3000",
            "https://app",
            "http://a:b@app",
            "http://app/x",
            "http://app?x",
            "http://app:0",
            "",
        ] {
            assert!(bad.parse::<Upstream>().is_err(), "{bad}");
        }
    }
}
