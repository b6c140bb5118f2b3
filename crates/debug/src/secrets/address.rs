//! Addresses: the way stays, with the values that are no secrets.

use super::form;
use super::text::{self, Kind};
use baton_session::redact::ShownAddress;

/// The URL without its userinfo, and without the values of query and fragment that are secrets. Of a URL
/// that is all content, such as `data:`, the scheme stays.
pub fn redact(url: &str) -> String {
    let (before, fragment) = cut(url, '#');
    let (way, query) = cut(before, '?');
    let mut redacted = redact_way(ShownAddress::of(way).as_str());
    if let Some(query) = query {
        redacted.push('?');
        redacted.push_str(&form::redact(query));
    }
    if let Some(fragment) = fragment {
        redacted.push('#');
        redacted.push_str(&redact_fragment(fragment));
    }
    redacted
}

fn cut(text: &str, at: char) -> (&str, Option<&str>) {
    text.split_once(at).map_or((text, None), |(before, after)| (before, Some(after)))
}

fn redact_way(way: &str) -> String {
    text::redact(way, Kind::Data).into_owned()
}

/// A fragment is a way within the page, pairs, or both.
fn redact_fragment(fragment: &str) -> String {
    match fragment.split_once('?') {
        Some((way, query)) => format!("{}?{}", redact_way(way), form::redact(query)),
        None if fragment.starts_with(['/', '!']) => redact_way(fragment),
        None => form::redact(fragment),
    }
}
