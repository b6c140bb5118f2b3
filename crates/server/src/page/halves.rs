//! The two halves of what opens the node to a page: a cookie, and a value that the page keeps.
//!
//! The one idea: neither opens anything alone, and nothing is kept of either but a hash.

use axum::http::HeaderMap;
use axum::http::header::{COOKIE, HeaderName, HeaderValue};
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use baton_api::{GUEST_HEADER, PAGE_HEADER};
use baton_session::NodeMark;
use jiff::{SignedDuration, Timestamp};
use secrecy::{ExposeSecret, SecretString};
use sha2::{Digest, Sha256};

/// What names of our cookies begin with; the proxy passes on none that begins so. What follows tells the pages of
/// one browser apart.
pub(super) const COOKIE_NAME: &str = "baton_page_";
/// How long that is, in characters.
pub(super) const TAG_LENGTH: usize = 8;

/// [`GUEST_HEADER`], as names of headers are compared.
const GUEST: HeaderName = HeaderName::from_static(GUEST_HEADER);

/// What is kept of a secret.
pub(crate) type PageHash = [u8; 32];

/// What a request of the page shows.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct PageHalves {
    /// The hash of the half that the browser keeps.
    pub(super) cookie: PageHash,
    /// That of the half that the page keeps.
    pub(super) value: PageHash,
}

impl PageHalves {
    /// The hash of the half that the browser keeps.
    pub(crate) fn cookie(&self) -> PageHash {
        self.cookie
    }

    /// Both halves, where a request shows both.
    pub(crate) fn of(headers: &HeaderMap) -> Option<Self> {
        Self::shown(headers, PAGE_HEADER)
    }

    /// Those of a guest, whose page says its half in a header of its own: neither is good for the other's.
    pub(crate) fn of_guest(headers: &HeaderMap) -> Option<Self> {
        Self::shown(headers, GUEST_HEADER)
    }

    /// What a guest's page says.
    pub(crate) fn guests_value(headers: &HeaderMap) -> Option<&str> {
        headers.get(GUEST_HEADER)?.to_str().ok()
    }

    /// What a guest's request shows, and no other cookie: for the node that gave it to them.
    pub(crate) fn guests_headers(headers: &HeaderMap) -> HeaderMap {
        let mut guests = HeaderMap::new();
        let Some(value) = Self::guests_value(headers) else { return guests };
        let Some(tag) = value.get(..TAG_LENGTH) else { return guests };
        guests.extend(cookie_alone(headers, tag).map(|cookie| (COOKIE, cookie)));
        guests.extend(headers.get(GUEST_HEADER).map(|shown| (GUEST, shown.clone())));
        guests
    }

    fn shown(headers: &HeaderMap, header: &str) -> Option<Self> {
        let value = headers.get(header)?.to_str().ok()?;
        let cookie = cookies(headers, value.get(..TAG_LENGTH)?).next()?;
        Some(Self { cookie: hash(cookie), value: hash(value) })
    }
}

/// A page that was signed in: both halves, this once.
pub(crate) struct NewPage {
    /// For the cookie.
    pub(super) cookie: SecretString,
    /// For the page; it begins with what the cookie's name ends with.
    pub(crate) value: SecretString,
    /// When it ends.
    pub(crate) ends_at: Timestamp,
    /// How long that is.
    left: SignedDuration,
}

impl NewPage {
    /// New ones, for a page that ends then, which is so long.
    pub(super) fn generate(ends_at: Timestamp, left: SignedDuration) -> Self {
        Self { cookie: random(), value: random(), ends_at, left }
    }

    /// What is kept of them.
    pub(super) fn halves(&self) -> PageHalves {
        let [cookie, value] = [&self.cookie, &self.value].map(|half| hash(half.expose_secret()));
        PageHalves { cookie, value }
    }

    /// The header that gives a browser its half; `secure` where it came by TLS.
    pub(crate) fn cookie(&self, secure: bool) -> String {
        cookie(self.value.expose_secret(), self.cookie.expose_secret(), self.left, secure)
    }
}

/// Both halves of a guest's page, this once.
pub(crate) struct NewGuest {
    cookie: SecretString,
    /// For the page; it begins with what the cookie's name ends with.
    pub(crate) value: SecretString,
}

impl NewGuest {
    /// New ones, of which the page's ends with the mark of their node.
    pub(crate) fn generate(node: NodeMark) -> Self {
        Self { cookie: random(), value: marked(&random(), node) }
    }

    /// What is kept of them.
    pub(crate) fn halves(&self) -> PageHalves {
        let [cookie, value] = [&self.cookie, &self.value].map(|half| hash(half.expose_secret()));
        PageHalves { cookie, value }
    }

    /// The header that gives a browser its half for so long.
    pub(crate) fn cookie(&self, limit: SignedDuration, secure: bool) -> String {
        cookie(self.value.expose_secret(), self.cookie.expose_secret(), limit, secure)
    }
}

/// What a request shows in cookies of ours with this tag.
pub(super) fn cookies<'a>(headers: &'a HeaderMap, tag: &'a str) -> impl Iterator<Item = &'a str> {
    let cookies = headers.get_all(COOKIE).iter().filter_map(|value| value.to_str().ok());
    let pairs = cookies.flat_map(|value| value.split(';')).map(str::trim);
    pairs.filter_map(move |pair| {
        pair.strip_prefix(COOKIE_NAME)?.strip_prefix(tag)?.strip_prefix('=')
    })
}

/// The cookie that goes with a code, or with the state of who comes back from a provider, and no other one: for the node
/// that gave both out.
pub(crate) fn cookie_beside(secret: &str, headers: &HeaderMap) -> Option<HeaderValue> {
    cookie_alone(headers, secret.get(..TAG_LENGTH)?)
}

/// The header with the cookie of ours that has this tag, and with no other one.
fn cookie_alone(headers: &HeaderMap, tag: &str) -> Option<HeaderValue> {
    let cookie = cookies(headers, tag).next()?;
    HeaderValue::from_str(&format!("{COOKIE_NAME}{tag}={cookie}")).ok()
}

/// The header that takes it back from the page that shows this value.
pub(crate) fn no_cookie(value: &str, secure: bool) -> String {
    cookie(value, "", SignedDuration::ZERO, secure)
}

fn cookie(value: &str, half: &str, limit: SignedDuration, secure: bool) -> String {
    let tag = value.get(..TAG_LENGTH).unwrap_or_default();
    let name = format!("{COOKIE_NAME}{tag}");
    let seconds = limit.as_secs();
    format!(
        "{name}={half}; Path=/; Max-Age={seconds}; HttpOnly; SameSite=Strict{}",
        self::secure(secure)
    )
}

/// The end of a cookie's header.
pub(super) fn secure(is_secure: bool) -> &'static str {
    if is_secure { "; Secure" } else { "" }
}

/// A new secret.
pub(crate) fn random() -> SecretString {
    URL_SAFE_NO_PAD.encode(rand::random::<PageHash>()).into()
}

/// A secret that says by its end which node gave it out.
pub(crate) fn marked(secret: &SecretString, node: NodeMark) -> SecretString {
    format!("{}{node}", secret.expose_secret()).into()
}

/// What is shown is looked up by its hash, so the time that takes says nothing about what exists.
pub(crate) fn hash(text: &str) -> PageHash {
    Sha256::digest(text.as_bytes()).into()
}
