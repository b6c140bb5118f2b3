//! A cookie with everything that the browser knows about it.
//!
//! The fields are those of `Network.Cookie` of the Chrome DevTools Protocol, which are those of
//! RFC 6265bis plus partitioning (CHIPS), priority, and the scheme and port that set it. What the
//! browser distinguishes stays distinct: an unspecified `SameSite` is not `Lax`, a host-only domain
//! is not a domain cookie.

use crate::storage::Site;
use serde::{Deserialize, Serialize};
use std::borrow::Borrow;
use std::cmp::Reverse;
use std::net::Ipv6Addr;

/// One cookie.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Cookie {
    /// May be empty when the value is not.
    pub name: String,
    /// A secret, as far as we know.
    pub value: String,
    /// `.app.test` for a domain cookie, `app.test` for a host-only one.
    pub domain: String,
    /// Starts with `/`; all of the host where none is said.
    #[serde(default = "everywhere")]
    pub path: String,
    /// When it ends; `None` for a cookie that ends with the browser.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expires: Option<Expiry>,
    /// Hidden from page scripts.
    #[serde(default)]
    pub http_only: bool,
    /// Sent over https only.
    #[serde(default)]
    pub secure: bool,
    /// `None` is *unspecified*, which browsers treat almost, but not quite, as `Lax`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub same_site: Option<SameSite>,
    /// Which cookies the browser drops first when a domain has too many.
    #[serde(default)]
    pub priority: Priority,
    /// The scheme that set it.
    #[serde(default)]
    pub source_scheme: SourceScheme,
    /// The port that set it; `None` when unknown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source_port: Option<u16>,
    /// The partition it lives in (CHIPS).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub partition_key: Option<PartitionKey>,
}

/// The path of a cookie that says none.
fn everywhere() -> String {
    "/".to_owned()
}

/// The instant a cookie ends: microseconds since 1970, the browser's own precision.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Expiry(pub i64);

impl Expiry {
    /// From seconds since 1970, as protocols have them. 0, −1 and what is not finite mean "ends
    /// with the browser".
    pub fn from_seconds(seconds: f64) -> Option<Self> {
        #[expect(clippy::cast_possible_truncation, reason = "`as` saturates, far beyond any date")]
        (seconds.is_finite() && seconds > 0.0).then(|| Self((seconds * 1e6).round() as i64))
    }

    /// Seconds since 1970.
    #[expect(clippy::cast_precision_loss, reason = "microseconds until the year 2255 fit in f64")]
    pub fn as_seconds(self) -> f64 {
        self.0 as f64 / 1e6
    }
}

/// When a cookie travels with requests that another site caused.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum SameSite {
    /// Never.
    Strict,
    /// With top-level navigations.
    Lax,
    /// Always.
    None,
}

/// Which cookies go first when a domain has too many.
#[derive(
    Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
pub enum Priority {
    /// First.
    Low,
    /// The default.
    #[default]
    Medium,
    /// Last.
    High,
}

/// The scheme of the page or response that set a cookie.
#[derive(
    Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
pub enum SourceScheme {
    /// Not recorded.
    #[default]
    Unset,
    /// http.
    NonSecure,
    /// https.
    Secure,
}

/// The partition of a CHIPS cookie.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct PartitionKey {
    /// A *site* such as `https://app.test`, not an origin.
    pub top_level_site: String,
    /// Whether a frame of another site stood in between.
    pub has_cross_site_ancestor: bool,
}

/// What makes two cookies the same cookie: Chromium's unique index.
pub type CookieKey<'a> =
    (&'a str, &'a str, &'a str, Option<&'a PartitionKey>, SourceScheme, Option<u16>);

/// What makes two cookies the same to who replaces one by the other: by which scheme and port it was set may become known
/// later.
pub type CookieIdentity<'a> = (&'a str, &'a str, &'a str, Option<&'a PartitionKey>);

/// Why a cookie cannot be set.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum InvalidCookie {
    /// Neither a name nor a value.
    #[error("expected a name or a value, found neither")]
    Empty,
    /// No name, and a value that would be read as a name and a value: Chromium reads none such from its
    /// store.
    #[error("expected a name, or a value without '=', found neither")]
    Ambiguous,
    /// A character that would end the cookie or its header.
    #[error("expected no control character or ';' in the {field}, found one")]
    Character {
        /// `name`, `value` or `path`.
        field: &'static str,
    },
    /// No usable domain.
    #[error("expected a lower-case ASCII host without a port as domain, found {0:?}")]
    Domain(String),
    /// A domain cookie of what has no hosts below it, or whose hosts have nothing in common.
    #[error("expected a domain whose hosts belong together, found {0:?}")]
    Shared(String),
    /// A path that does not start with `/`.
    #[error("expected a path that starts with '/', found {0:?}")]
    Path(String),
    /// The rules of the name's prefix are broken (RFC 6265bis, 4.1.3).
    #[error("expected {rule} because of the prefix of {name:?}")]
    Prefix {
        /// The cookie's name.
        name: String,
        /// The rule that is broken.
        rule: &'static str,
    },
    /// `SameSite=None` or `Partitioned` without `Secure`: no server would get it.
    #[error("expected Secure together with {0}")]
    NeedsSecure(&'static str),
    /// It ended before the restore.
    #[error("it expired")]
    Expired,
    /// Space that the store of a profile loses.
    #[error("expected no space at the ends of the name and the value, found one")]
    Padded,
    /// A page may set one with a tab in its value, and the store of a profile loses it.
    #[error("expected no tab in the value, found one")]
    Tab,
    /// More than a browser takes (RFC 6265bis, 5.6).
    #[error("expected name and value in at most {PAIR} bytes, found {0}")]
    Large(usize),
    /// The same of a path.
    #[error("expected a path of at most {PATH} bytes, found {0}")]
    LongPath(usize),
}

/// The most bytes of name and value together, and of a path (RFC 6265bis, 5.6).
const PAIR: usize = 4096;
const PATH: usize = 1024;

impl Cookie {
    /// What makes it the same cookie as another.
    pub fn key(&self) -> CookieKey<'_> {
        (
            &self.domain,
            &self.path,
            &self.name,
            self.partition_key.as_ref(),
            self.source_scheme,
            self.source_port,
        )
    }

    /// What makes it the same cookie as another, whatever set the two.
    pub fn identity(&self) -> CookieIdentity<'_> {
        (&self.domain, &self.path, &self.name, self.partition_key.as_ref())
    }

    /// Where it lives, for people and receipts: domain, path and name, never its value. Up to the first `/`
    /// it is the domain.
    pub fn place(&self) -> String {
        format!("{}{} {}", self.domain, self.path, self.name)
    }

    /// The registrable site it belongs to.
    pub fn site(&self) -> Site {
        Site::of_host(&self.domain)
    }

    /// Whether only its own host gets it.
    pub fn is_host_only(&self) -> bool {
        !self.domain.starts_with('.')
    }

    /// Whether Chromium keeps it, if it does, and never sends it.
    pub(crate) fn is_none_without_secure(&self) -> bool {
        self.same_site == Some(SameSite::None) && !self.secure
    }

    /// Checks what a browser would refuse, so that one bad cookie can be named before it costs the
    /// others. `now` is microseconds since 1970.
    pub fn validate(&self, now: Expiry) -> Result<(), InvalidCookie> {
        self.validate_characters()?;
        self.validate_domain()?;
        if !self.path.starts_with('/') {
            return Err(InvalidCookie::Path(self.path.clone()));
        }
        self.validate_prefix()?;
        if self.partition_key.is_some() && !self.secure {
            return Err(InvalidCookie::NeedsSecure("Partitioned"));
        }
        if self.is_none_without_secure() {
            return Err(InvalidCookie::NeedsSecure("SameSite=None"));
        }
        if self.expires.is_some_and(|expires| expires <= now) {
            return Err(InvalidCookie::Expired);
        }
        Ok(())
    }

    /// Checks also what the store of a profile does not keep as it is. One that fails here is in no profile that is made,
    /// and so cannot have been deleted where that was used.
    pub fn validate_in_store(&self, now: Expiry) -> Result<(), InvalidCookie> {
        self.validate(now)?;
        let is_padded = |text: &str| text.trim_matches([' ', '\t']).len() != text.len();
        if is_padded(&self.name) || is_padded(&self.value) {
            return Err(InvalidCookie::Padded);
        }
        if self.value.contains('\t') {
            return Err(InvalidCookie::Tab);
        }
        let size = self.name.len() + self.value.len();
        if size > PAIR {
            return Err(InvalidCookie::Large(size));
        }
        if self.path.len() > PATH {
            return Err(InvalidCookie::LongPath(self.path.len()));
        }
        Ok(())
    }

    fn validate_characters(&self) -> Result<(), InvalidCookie> {
        if self.name.is_empty() && self.value.is_empty() {
            return Err(InvalidCookie::Empty);
        }
        if self.name.is_empty() && self.value.contains('=') {
            return Err(InvalidCookie::Ambiguous);
        }
        let bad = |text: &str| text.chars().any(|c| (c.is_control() && c != '\t') || c == ';');
        for (field, text) in [("name", &self.name), ("value", &self.value), ("path", &self.path)] {
            if bad(text) {
                return Err(InvalidCookie::Character { field });
            }
        }
        if self.name.contains('=') {
            return Err(InvalidCookie::Character { field: "name" });
        }
        Ok(())
    }

    fn validate_domain(&self) -> Result<(), InvalidCookie> {
        let host = self.domain.strip_prefix('.').unwrap_or(&self.domain);
        let good =
            |c: char| c.is_ascii_graphic() && !c.is_ascii_uppercase() && !"/@?#\\;".contains(c);
        let literal = host.strip_prefix('[').and_then(|host| host.strip_suffix(']'));
        let is_literal = || literal.is_some_and(|literal| literal.parse::<Ipv6Addr>().is_ok());
        let has_port = host.contains(':') && !is_literal();
        if host.is_empty() || host.starts_with('.') || !host.chars().all(good) || has_port {
            return Err(InvalidCookie::Domain(self.domain.clone()));
        }
        // The browser would make it a cookie of the host alone, in the place of the host's own.
        if !self.is_host_only() && !Site::can_share(host) {
            return Err(InvalidCookie::Shared(self.domain.clone()));
        }
        Ok(())
    }

    fn validate_prefix(&self) -> Result<(), InvalidCookie> {
        let broken = |rule| Err(InvalidCookie::Prefix { name: self.name.clone(), rule });
        let name = self.name.to_ascii_lowercase();
        if name.starts_with("__secure-") && !self.secure {
            return broken("Secure");
        }
        if name.starts_with("__host-") && !(self.secure && self.is_host_only() && self.path == "/")
        {
            return broken("Secure, path '/' and a host-only domain");
        }
        let is_of_http = name.starts_with("__http-") || name.starts_with("__host-http-");
        if is_of_http && !(self.secure && self.http_only) {
            return broken("Secure and HttpOnly");
        }
        Ok(())
    }
}

/// Puts cookies into the order in which a browser sends those of one site (RFC 6265, 5.4): longer paths
/// first, and of paths of one length those first that were set first, as they stand. Where one name
/// stands for a host and for the domain above it, the first one is the login. Sites follow each other
/// by name.
pub fn order<C: Borrow<Cookie>>(cookies: &mut [C]) {
    cookies.sort_by_cached_key(|cookie| {
        let cookie = cookie.borrow();
        (cookie.site(), Reverse(cookie.path.len()))
    });
}
