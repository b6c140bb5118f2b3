//! Upstream services: what is behind the proxy and for whom, and what settings and callers say of one.
//!
//! What is left out of what is said is as others say, or as usual.

use baton_api::{Invalid, UpstreamId};
use baton_session::Owner;
use std::collections::BTreeMap;
use std::str::FromStr;
use std::sync::{Arc, PoisonError, RwLock};
use url::{Position, Url};

/// A service behind the proxy.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UpstreamService {
    /// Which one: a label of host names.
    pub id: UpstreamId,
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

/// Who may reach an upstream service.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Access {
    /// Callers from a loopback address, to a loopback name.
    #[default]
    Loopback,
    /// Callers with a key of its owner with the scope `debug`, or with a pass that a ticket brought.
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

/// Where an upstream service answers: `http`, a host, a port. Paths go on as they come.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Upstream(Url);

/// An address at which no upstream service can answer. What was found may hold a password and is not repeated.
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

/// The upstream services of a proxy. Cheap to clone; a change counts from the next request on.
#[derive(Debug, Clone, Default)]
pub struct UpstreamServices(Arc<RwLock<BTreeMap<UpstreamId, Arc<UpstreamService>>>>);

impl UpstreamServices {
    /// Adds an upstream service, or puts it in the place of the one with the same id, and gives that back.
    pub fn insert(&self, service: UpstreamService) -> Option<Arc<UpstreamService>> {
        let mut services = self.0.write().unwrap_or_else(PoisonError::into_inner);
        services.insert(service.id.clone(), Arc::new(service))
    }

    /// The upstream service of this id.
    pub fn fetch(&self, id: &UpstreamId) -> Option<Arc<UpstreamService>> {
        self.0.read().unwrap_or_else(PoisonError::into_inner).get(id).cloned()
    }

    /// All of them, by id.
    pub fn list(&self) -> Vec<Arc<UpstreamService>> {
        self.0.read().unwrap_or_else(PoisonError::into_inner).values().cloned().collect()
    }

    /// Takes an upstream service away, and gives it back.
    pub fn remove(&self, id: &UpstreamId) -> Option<Arc<UpstreamService>> {
        self.0.write().unwrap_or_else(PoisonError::into_inner).remove(id)
    }
}

impl FromIterator<UpstreamService> for UpstreamServices {
    fn from_iter<I: IntoIterator<Item = UpstreamService>>(services: I) -> Self {
        let by_id = services.into_iter().map(|service| (service.id.clone(), Arc::new(service)));
        Self(Arc::new(RwLock::new(by_id.collect())))
    }
}

/// How much of a body may be kept at most, in bytes.
const MOST_BYTES: u64 = 10 << 20;

/// What settings or a caller say of an upstream service.
#[derive(Debug, Clone)]
pub struct UpstreamChoices {
    /// Which one.
    pub id: UpstreamId,
    /// What people call it; its id when left out.
    pub name: Option<String>,
    /// Where it answers.
    pub upstream: Upstream,
    /// To whom it belongs.
    pub owner: Option<Owner>,
    /// Who may reach it.
    pub access: Access,
    /// Which of its pages may be looked into.
    pub browser_debug: PageChoices,
}

impl UpstreamChoices {
    /// What it and the defaults say together. `pages` holds where it says nothing, and without an owner it
    /// belongs to `owner`.
    pub fn settle(self, pages: &PageChoices, owner: &Owner) -> UpstreamService {
        UpstreamService {
            name: self.name.unwrap_or_else(|| self.id.to_string()),
            id: self.id,
            upstream: self.upstream,
            owner: self.owner.unwrap_or_else(|| owner.clone()),
            access: self.access,
            browser_debug: self.browser_debug.or(pages.clone()).settle(),
        }
    }
}

impl From<InvalidUpstream> for Invalid {
    fn from(_: InvalidUpstream) -> Self {
        Self {
            field: "cocoons.upstream",
            expected: "an address such as http://127.0.0.1:3000, without a path or a user",
            found: "another text".to_owned(),
        }
    }
}

/// What was said of the pages that get a token, before anybody looked at it.
#[derive(Debug, Clone, Default)]
pub struct PageTexts {
    /// Whether any do.
    pub enabled: Option<bool>,
    /// The media types that count as pages.
    pub content_types: Option<Vec<String>>,
    /// How much of a response's body is kept, in bytes.
    pub response_body_max_size: Option<i64>,
    /// Paths that get none, with what is below them.
    pub exclude_paths: Option<Vec<String>>,
    /// Whether navigations are guessed where a browser does not mark them.
    pub without_fetch_metadata: Option<bool>,
}

/// What one source chose of the pages that get a token.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PageChoices {
    enabled: Option<bool>,
    content_types: Option<Vec<String>>,
    response_body_max_size: Option<u64>,
    exclude_paths: Option<Vec<String>>,
    without_fetch_metadata: Option<bool>,
}

impl PageChoices {
    /// Checks what was said.
    pub fn check(texts: PageTexts) -> Result<Self, Invalid> {
        let lower = |types: Vec<String>| types.iter().map(|one| one.to_ascii_lowercase()).collect();
        let excluded = texts.exclude_paths.map(exclude).transpose()?;
        Ok(Self {
            enabled: texts.enabled,
            content_types: texts.content_types.map(lower),
            response_body_max_size: texts.response_body_max_size.map(size).transpose()?,
            exclude_paths: excluded,
            without_fetch_metadata: texts.without_fetch_metadata,
        })
    }

    /// These choices, and `other`'s where these say nothing.
    #[must_use]
    pub fn or(self, other: Self) -> Self {
        Self {
            enabled: self.enabled.or(other.enabled),
            content_types: self.content_types.or(other.content_types),
            response_body_max_size: self.response_body_max_size.or(other.response_body_max_size),
            exclude_paths: self.exclude_paths.or(other.exclude_paths),
            without_fetch_metadata: self.without_fetch_metadata.or(other.without_fetch_metadata),
        }
    }

    /// What they and the defaults say together.
    pub fn settle(self) -> BrowserDebug {
        let usual = BrowserDebug::default();
        BrowserDebug {
            enabled: self.enabled.unwrap_or(usual.enabled),
            content_types: self.content_types.unwrap_or(usual.content_types),
            response_body_max_size: self
                .response_body_max_size
                .unwrap_or(usual.response_body_max_size),
            exclude_paths: self.exclude_paths.unwrap_or(usual.exclude_paths),
            without_fetch_metadata: self
                .without_fetch_metadata
                .unwrap_or(usual.without_fetch_metadata),
        }
    }
}

fn size(found: i64) -> Result<u64, Invalid> {
    let fits = u64::try_from(found).ok().filter(|size| *size <= MOST_BYTES);
    fits.ok_or_else(|| Invalid {
        field: "browser_debug.response_body_max_size",
        expected: "a number from 0 to 10485760",
        found: found.to_string(),
    })
}

fn exclude(paths: Vec<String>) -> Result<Vec<String>, Invalid> {
    match paths.iter().find(|path| !path.starts_with('/')) {
        Some(path) => Err(Invalid {
            field: "browser_debug.exclude_paths",
            expected: "paths such as /health",
            found: format!("{path:?}"),
        }),
        None => Ok(paths),
    }
}

#[cfg(test)]
mod tests {
    use super::{MOST_BYTES, PageChoices, PageTexts, Upstream};

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

    #[test]
    fn as_much_is_kept_of_a_body_as_is_said_at_most() {
        let check = |size| {
            let texts = PageTexts { response_body_max_size: Some(size), ..PageTexts::default() };
            PageChoices::check(texts).map(|pages| pages.settle().response_body_max_size)
        };
        let most = i64::try_from(MOST_BYTES).unwrap();
        assert_eq!((check(0), check(most)), (Ok(0), Ok(MOST_BYTES)));
        for bad in [-1, most + 1] {
            let expected = format!(
                "expected browser_debug.response_body_max_size to be a number from 0 to {most}, found {bad}"
            );
            assert_eq!(check(bad).unwrap_err().to_string(), expected);
        }
    }
}
