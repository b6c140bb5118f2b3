//! A shown address: what everybody may see of one.
//!
//! The one idea: what leaves is of a type that only the redactor makes. Code that shows an address cannot
//! forget to hide what is secret in it, because there is nothing else to put there.

use crate::HIDDEN;
use crate::address::{find_segments, without_user};
use crate::grammars::GRAMMARS;
use crate::look::Look;
use crate::names::Names;
use crate::ranges::Ranges;
use crate::seen::Seen;
use crate::work::Work;
use std::fmt;

/// What stands in a URL in the place of a value.
const IN_URL: &str = HIDDEN;

/// An address as it is shown: without its userinfo, the values of its query, its fragment, and segments of
/// its path that are secrets. It is read as it was written, by those to whom it is shown.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(transparent))]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[cfg_attr(feature = "schema", schema(value_type = String))]
pub struct ShownAddress(String);

impl ShownAddress {
    /// What everybody may see of an address.
    #[must_use]
    pub fn of(url: &str) -> Self {
        Self(redact_url(url))
    }

    /// All of it: for a caller that asked for values, and has the scope `reveal`.
    #[must_use]
    pub fn revealed(url: &str) -> Self {
        Self(url.to_owned())
    }

    /// The text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for ShownAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.0)
    }
}

impl From<ShownAddress> for String {
    fn from(shown: ShownAddress) -> Self {
        shown.0
    }
}

impl AsRef<str> for ShownAddress {
    fn as_ref(&self) -> &str {
        &self.0
    }
}

/// The title of the page at an address. A page without one is called by its address, so that is shown as
/// addresses are.
#[must_use]
pub fn shown_title(title: &str, url: &str) -> String {
    let bare = url.split_once("://").map_or(url, |(_, rest)| rest);
    let is_address = |text: &str| text.contains("://") && !text.contains(char::is_whitespace);
    let is_its_own = !title.is_empty() && (url.starts_with(title) || bare.starts_with(title));
    if is_its_own || is_address(title) { redact_url(title) } else { title.to_owned() }
}

fn redact_url(url: &str) -> String {
    let (before, fragment) = cut(url, '#');
    let (address, query) = cut(before, '?');
    let mut redacted = redact_path(&without_user(address));
    if let Some(query) = query {
        redacted.push('?');
        redacted.push_str(&redact_query(query));
    }
    if let Some(fragment) = fragment {
        redacted.push('#');
        redacted.push_str(if fragment.is_empty() { "" } else { IN_URL });
    }
    redacted
}

fn cut(text: &str, at: char) -> (&str, Option<&str>) {
    text.split_once(at).map_or((text, None), |(before, after)| (before, Some(after)))
}

/// The address without what is secret in its path, by what stands there alone.
fn redact_path(address: &str) -> String {
    let (mut names, mut seen) = (Names::default(), Seen::new([0; 16]));
    let mut found = Ranges::default();
    let mut work = Work::new(&mut names, &mut seen, &GRAMMARS);
    work.sweep(address, &mut found);
    find_segments(&mut work, address, &mut found);
    let path = found.put_out(address);
    // A matrix parameter has a value as a query has.
    match path.split_once(';') {
        Some((path, parameters)) if parameters.contains('=') => {
            let values = parameters.split(';').map(|one| match one.split_once('=') {
                Some((name, value)) if Look::of(value) > Look::Plain || value.len() > 8 => {
                    format!("{name}={IN_URL}")
                }
                _ => one.to_owned(),
            });
            format!("{path};{}", values.collect::<Vec<_>>().join(";"))
        }
        _ => path.into_owned(),
    }
}

/// A part without `=` may be a token by itself.
fn redact_query(query: &str) -> String {
    let redact = |pair: &str| match pair.split_once('=') {
        Some((_, "")) => pair.to_owned(),
        Some((name, _)) => format!("{name}={IN_URL}"),
        None if pair.is_empty() => String::new(),
        None => IN_URL.to_owned(),
    };
    query.split('&').map(redact).collect::<Vec<_>>().join("&")
}
