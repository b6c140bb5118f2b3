//! Any text: secrets by their look, and values behind names of secrets.
//!
//! Found are `name=value`, `name: value` and `"name": "value"` (also with the quotes escaped, as in JSON
//! within JSON), a value that ends with the text, elements `<name>value</name>`, segments of a way behind a name
//! (`/reset-token/…`), and the value of a pair that is named beside it: `name="password" value="…"`. A value is
//! in quotes, or ends with its word, or with its line.

use super::names::{is_named_beside, is_secret, is_secret_in_address, names_another};
use super::patterns::{and_then, is_random};
use super::{HIDDEN, patterns};
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
    let text = patterns::hide(text);
    let text = and_then(text, |text| hide_named(text, kind));
    let text = and_then(text, hide_segments);
    if kind == Kind::Code { text } else { and_then(text, hide_elements) }
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

/// The longest name, in bytes.
const MAX_NAME: usize = 64;
/// Names whose value goes on until the end of the line or of the quotation.
const WHOLE_LINE: [&str; 5] =
    ["authorization", "proxy-authorization", "cookie", "set-cookie", "cookies"];
/// Words before credentials, which go on until the end of the line.
const SCHEMES: [&str; 8] =
    ["apikey", "aws4-hmac-sha256", "basic", "bearer", "digest", "negotiate", "oauth", "token"];

/// Where a value begins, and how.
struct Value<'a> {
    text: &'a str,
    start: usize,
    quote: Option<u8>,
    /// How often the quote is escaped.
    depth: usize,
    /// Whether it is encoded as in an address.
    is_encoded: bool,
}

impl<'a> Value<'a> {
    fn behind(text: &'a str, separator: &Range<usize>) -> Self {
        let bytes = text.as_bytes();
        let mut start = separator.end;
        if separator.len() > 1 {
            start += if starts_with_any(&bytes[start..], &["%22", "%27", "%20"]) { 3 } else { 0 };
            return Self { text, start, quote: None, depth: 0, is_encoded: true };
        }
        start += usize::from(bytes.get(start) == Some(&b'>'));
        let count = |from: usize, most: usize, fits: fn(&&u8) -> bool| {
            bytes[from..].iter().take(most).take_while(fits).count()
        };
        start += count(start, 2, |c| matches!(c, b' ' | b'\t'));
        let depth = count(start, 8, |c| **c == b'\\');
        match bytes.get(start + depth) {
            Some(quote @ (b'"' | b'\'' | b'`')) => {
                let start = start + depth + 1;
                Self { text, start, quote: Some(*quote), depth, is_encoded: false }
            }
            _ => Self { text, start, quote: None, depth: 0, is_encoded: false },
        }
    }

    /// All of it: in quotes, or until something that ends a word.
    fn whole(&self, name: &str) -> Range<usize> {
        let bytes = self.text.as_bytes();
        if let Some(quote) = self.quote {
            return self.start..end_of_quotation(bytes, self.start, quote, self.depth);
        }
        if self.is_encoded {
            return self.start..end_of_encoded_word(bytes, self.start);
        }
        let last = name.rsplit('.').next().unwrap_or_default();
        if is_one_of(last, &WHOLE_LINE) {
            return self.start..end(bytes, self.start, is_end_of_line);
        }
        let word = end(bytes, self.start, is_end_of_word);
        let is_scheme = is_one_of(&self.text[self.start..word], &SCHEMES);
        self.start..if is_scheme { end(bytes, word, is_end_of_line) } else { word }
    }

    /// As much of it as a name may have.
    fn beginning(&self) -> &'a str {
        let bytes = &self.text.as_bytes()[self.start..];
        let length = bytes.iter().take(MAX_NAME).take_while(|c| is_part_of_name(**c)).count();
        &self.text[self.start..self.start + length]
    }

    /// All of it, if it is one long random text.
    fn random(&self) -> Option<Range<usize>> {
        let bytes = &self.text.as_bytes()[self.start..];
        let fits = |c: &&u8| c.is_ascii_alphanumeric() || b"-_+/.~".contains(c);
        let length = bytes.iter().take_while(fits).count();
        let padding = bytes[length..].iter().take(2).take_while(|c| **c == b'=').count();
        let range = self.start..self.start + length + padding;
        patterns::is_random(&self.text[range.clone()]).then_some(range)
    }
}

/// The end of a word in which what ends one may be encoded.
fn end_of_encoded_word(bytes: &[u8], start: usize) -> usize {
    let encoded = ["%26", "%23", "%22", "%27", "%2C", "%2c", "%7D", "%7d"];
    let ends = |at: &usize| is_end_of_word(bytes[*at]) || starts_with_any(&bytes[*at..], &encoded);
    (start..bytes.len()).find(ends).unwrap_or(bytes.len())
}

fn is_part_of_name(c: u8) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, b'_' | b'-' | b'.' | b'$')
}

fn is_end_of_word(c: u8) -> bool {
    c.is_ascii_whitespace() || b"\"'`,;&<>(){}[]|\\".contains(&c)
}

fn is_end_of_line(c: u8) -> bool {
    matches!(c, b'\n' | b'\r' | b'"' | b'<')
}

fn end(bytes: &[u8], from: usize, ends: fn(u8) -> bool) -> usize {
    bytes[from..].iter().position(|c| ends(*c)).map_or(bytes.len(), |at| from + at)
}

/// The quote that is escaped as often as the first one, or less; the end of the text when there is none.
fn end_of_quotation(bytes: &[u8], from: usize, quote: u8, depth: usize) -> usize {
    let mut escapes = 0;
    for (at, c) in bytes.iter().enumerate().skip(from) {
        if *c == b'\\' {
            escapes += 1;
            continue;
        }
        if *c == quote && (escapes <= depth || (depth == 0 && escapes % 2 == 0)) {
            return if depth == 0 { at } else { at - escapes };
        }
        escapes = 0;
    }
    bytes.len()
}

fn is_one_of(name: &str, names: &[&str]) -> bool {
    names.iter().any(|one| name.eq_ignore_ascii_case(one))
}

fn starts_with_any(bytes: &[u8], texts: &[&str]) -> bool {
    texts.iter().any(|text| bytes.starts_with(text.as_bytes()))
}

/// The longest name of an element, and the longest rest of its tag, in bytes.
const MAX_ELEMENT: usize = 64;
const MAX_TAG: usize = 512;

/// The text without what stands in such elements.
fn hide_elements(text: &str) -> Cow<'_, str> {
    let mut hidden = Vec::new();
    let mut from = 0;
    while let Some(at) = text[from..].find('<').map(|at| from + at) {
        from = at + 1;
        let Some(content) = content_of(text, from) else { continue };
        if !text[content.clone()].trim().is_empty() {
            from = content.end;
            hidden.push(content);
        }
    }
    put_out(text, &hidden)
}

/// The content of the element whose name begins here, if it is a secret's.
fn content_of(text: &str, start: usize) -> Option<Range<usize>> {
    let bytes = text.as_bytes();
    let fits = |c: &u8| c.is_ascii_alphanumeric() || matches!(c, b'_' | b'-' | b'.' | b':');
    let length = bytes[start..].iter().take(MAX_ELEMENT).take_while(|c| fits(c)).count();
    let name = &text[start..start + length];
    let local = name.rsplit(':').next().unwrap_or_default();
    if local.is_empty() || !is_secret(local) {
        return None;
    }
    let rest = bytes[start + length..].iter().take(MAX_TAG).position(|c| *c == b'>')?;
    let content = start + length + rest + 1;
    let end = bytes[content..].iter().position(|c| *c == b'<').unwrap_or(bytes.len() - content);
    Some(content..content + end)
}

/// The longest name, in bytes.
const MAX_SEGMENT: usize = 64;

/// The text without such segments, where they look like secrets: `/token/new` is none.
fn hide_segments(text: &str) -> Cow<'_, str> {
    let bytes = text.as_bytes();
    let fits = |c: &&u8| c.is_ascii_alphanumeric() || b"_-.~+=%".contains(c);
    let mut hidden = Vec::new();
    for (at, _) in text.match_indices('/') {
        let length = bytes[at + 1..].iter().take_while(fits).count();
        let segment = at + 1..at + 1 + length;
        if !is_random(&text[segment.clone()]) {
            continue;
        }
        let name = bytes[..at].iter().rev().take(MAX_SEGMENT).take_while(fits).count();
        if is_secret(&text[at - name..at]) {
            hidden.push(segment);
        }
    }
    put_out(text, &hidden)
}

/// The text with these ranges hidden.
fn put_out<'a>(text: &'a str, hidden: &[Range<usize>]) -> Cow<'a, str> {
    if hidden.is_empty() {
        return Cow::Borrowed(text);
    }
    let (mut out, mut from) = (String::with_capacity(text.len()), 0);
    for range in hidden {
        out.push_str(&text[from..range.start]);
        out.push_str(HIDDEN);
        from = range.end;
    }
    out.push_str(&text[from..]);
    Cow::Owned(out)
}
