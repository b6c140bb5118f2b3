//! Any text: secrets by their look, and values behind names of secrets.
//!
//! Found are `name=value`, `name: value` and `"name": "value"` (also with the quotes escaped, as in JSON
//! within JSON), a value that ends with the text, elements `<name>value</name>`, and the value of a pair
//! that is named beside it: `name="password" value="…"`.

use super::HIDDEN;
use super::hidden::put_out;
use super::look::{self, and_then};
use super::names::{is_named_beside, is_secret, is_secret_in_address, names_another};
use super::value::{MAX_NAME, Value, is_part_of_name, starts_with_any};
use super::{markup, ways};
use std::borrow::Cow;
use std::ops::Range;

/// What kind of text it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Lines for people: any value counts, and a long random one whatever its name is.
    Prose,
    /// Data and markup: any value counts.
    Data,
    /// Programs and style sheets: values in quotes count.
    Code,
}

/// How far the value is from its name at most, in bytes.
const BESIDE: usize = 256;
/// Values that hide nothing.
const NOTHING: [&str; 6] = ["null", "undefined", "true", "false", "none", HIDDEN];

/// The text without its secrets.
pub fn redact(text: &str, kind: Kind) -> Cow<'_, str> {
    let text = look::hide(text);
    let text = and_then(text, |text| hide_named(text, kind));
    let text = and_then(text, ways::hide_segments);
    if kind == Kind::Code { text } else { and_then(text, markup::hide_elements) }
}

fn hide_named(text: &str, kind: Kind) -> Cow<'_, str> {
    let mut hidden: Vec<Range<usize>> = Vec::new();
    let (mut from, mut named) = (0, None);
    while let Some(separator) = next_separator(text, from) {
        from = separator.end;
        let Some(name) = name_before(text, separator.start) else { continue };
        let value = Value::behind(text, &separator);
        let beside = named.is_some_and(|end| separator.start - end <= BESIDE);
        let secret = if is_secret_name(text, &name, beside) {
            (value.quote.is_some() || kind != Kind::Code).then(|| value.whole(&text[name]))
        } else if names_another(&text[name]) && is_secret(value.beginning()) {
            named = Some(separator.end);
            None
        } else {
            (kind == Kind::Prose).then(|| value.random()).flatten()
        };
        if let Some(range) = secret.filter(|range| hides_something(&text[range.clone()])) {
            (from, named) = (range.end, None);
            hidden.push(range);
        }
    }
    put_out(text, &hidden)
}

/// Whether a value behind this name is a secret; `beside` a name of one is what it names.
fn is_secret_name(text: &str, name: &Range<usize>, beside: bool) -> bool {
    // Behind these it is a pair of an address.
    let begins_pair = is_behind(text, name.start, &["?", "&", "%3F", "%3f", "%26"]).is_some();
    let name = &text[name.clone()];
    (beside && is_named_beside(name))
        || if begins_pair { is_secret_in_address(name) } else { is_secret(name) }
}

fn hides_something(value: &str) -> bool {
    !value.is_empty() && !NOTHING.contains(&value)
}

/// The next colon or equals sign, perhaps encoded as in an address within another one.
fn next_separator(text: &str, from: usize) -> Option<Range<usize>> {
    let bytes = text.as_bytes();
    (from..bytes.len()).find_map(|at| match bytes[at] {
        b':' | b'=' => Some(at..at + 1),
        b'%' => starts_with_any(&bytes[at..], &["%3D", "%3d", "%3A", "%3a"]).then_some(at..at + 3),
        _ => None,
    })
}

/// The length of the one of `texts` that ends before `at`.
fn is_behind(text: &str, at: usize, texts: &[&str]) -> Option<usize> {
    let before = &text.as_bytes()[..at];
    texts.iter().find(|text| before.ends_with(text.as_bytes())).map(|text| text.len())
}

/// The name that ends before a separator, perhaps in quotes, perhaps with a space behind it.
fn name_before(text: &str, separator: usize) -> Option<Range<usize>> {
    let bytes = text.as_bytes();
    let back = |mut end: usize, most: usize, fits: fn(u8) -> bool| {
        let least = end.saturating_sub(most);
        while end > least && fits(bytes[end - 1]) {
            end -= 1;
        }
        end
    };
    let end = back(separator, 2, |c| c == b' ' || c == b'\t');
    let end = back(end, 8, |c| matches!(c, b'"' | b'\'' | b'`' | b'\\' | b']'));
    let end = end - is_behind(text, end, &["%22", "%27"]).unwrap_or(0);
    let start = back(end, MAX_NAME, is_part_of_name);
    // `%3Fname` begins behind the encoded character.
    let is_encoded = start > 0 && bytes[start - 1] == b'%' && end - start >= 2;
    let start = if is_encoded { start + 2 } else { start };
    bytes[start..end].iter().any(u8::is_ascii_alphabetic).then_some(start..end)
}
