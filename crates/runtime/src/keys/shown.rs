//! What a request shows of who asks, be it a key or a token.

use super::secret::KeySecret;
use http::HeaderMap;
use http::header::AUTHORIZATION;

/// A request carries no key that opens anything.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NoKey {
    /// What it carries instead; never the key itself.
    pub found: &'static str,
}

/// The key that a request shows. The proxy asks here, too, so that it never passes on as a stranger's what
/// the node takes for a key.
pub fn key_of(headers: &HeaderMap) -> Result<KeySecret, NoKey> {
    let token = authorization(headers)?;
    KeySecret::parse(token).ok_or(NoKey { found: "no key of Baton" })
}

/// The token of a request that shows one. What it is worth is not known.
pub fn token(headers: &HeaderMap) -> Option<&str> {
    let token = authorization(headers).ok()?;
    // A key has no dots; three parts with dots between them are a signed token.
    (token.split('.').count() == 3).then_some(token)
}

/// What a request shows, be it a key or a token.
fn authorization(headers: &HeaderMap) -> Result<&str, NoKey> {
    let none = NoKey { found: "no such header" };
    let value = headers.get(AUTHORIZATION).ok_or(none)?;
    let text = value.to_str().unwrap_or_default();
    match text.split_once([' ', '\t']) {
        Some((scheme, token)) if scheme.eq_ignore_ascii_case("bearer") => Ok(token.trim()),
        _ => Err(NoKey { found: "another kind of credentials" }),
    }
}
