//! Tags: where they begin and end, their attributes, and the texts that entities stand for.

use std::borrow::Cow;
use std::ops::Range;

/// The slash of a tag that closes, also as programs write it.
pub(crate) fn slash(rest: &str) -> Option<usize> {
    ["/", "\\/"].iter().find(|slash| rest.starts_with(**slash)).map(|slash| slash.len())
}

/// The next sign that opens a tag, also as text within other markup or a program.
pub(crate) fn next_open(text: &str, from: usize) -> Option<Range<usize>> {
    let bytes = text.as_bytes();
    let mut at = from;
    loop {
        at += bytes.get(at..)?.iter().position(|c| matches!(c, b'<' | b'&' | b'\\'))?;
        let rest = &bytes[at..];
        if rest[0] == b'<' {
            return Some(at..at + 1);
        }
        let written = ["&lt;", "\\u003c", "\\u003C", "\\x3c", "\\x3C"];
        if let Some(open) = written.iter().find(|open| rest.starts_with(open.as_bytes())) {
            return Some(at..at + open.len());
        }
        at += 1;
    }
}

/// Where the sign ends that closes a tag, if one is here.
pub(crate) fn close_at(rest: &[u8]) -> Option<usize> {
    ["/>", "?>", ">", "&gt;", "\\u003e", "\\u003E", "\\x3e", "\\x3E"]
        .iter()
        .find(|close| rest.starts_with(close.as_bytes()))
        .map(|close| close.len())
}

pub(crate) fn end_of_tag(text: &str, from: usize) -> usize {
    let bytes = text.as_bytes();
    let mut at = from;
    while at < bytes.len() && bytes[at] != b'<' {
        if let Some(length) = close_at(&bytes[at..]) {
            return at + length;
        }
        at += 1;
    }
    at
}

/// One attribute, its value without quotes.
pub(crate) struct Attribute {
    pub(crate) name: Range<usize>,
    pub(crate) value: Range<usize>,
}

impl Attribute {
    pub(crate) fn name(&self, text: &str) -> String {
        let name = &text[self.name.clone()];
        name.chars().filter(|c| *c != '\0').map(|c| c.to_ascii_lowercase()).collect()
    }
}

/// The attributes of a tag, and where the tag ends.
pub(crate) fn attributes(text: &str, from: usize) -> (Vec<Attribute>, usize) {
    let bytes = text.as_bytes();
    let (mut all, mut at) = (Vec::new(), from);
    while at < bytes.len() && bytes[at] != b'<' {
        if let Some(length) = close_at(&bytes[at..]) {
            return (all, at + length);
        }
        if bytes[at].is_ascii_whitespace()
            || matches!(bytes[at], b'/' | b'=' | b'"' | b'\'' | b'\\')
        {
            at += 1;
            continue;
        }
        let start = at;
        while at < bytes.len() && !is_end_of_name(&bytes[at..]) {
            at += 1;
        }
        let name = start..at;
        if at == start {
            at += 1;
            continue;
        }
        let equals = at + blanks(bytes, at);
        if bytes.get(equals) != Some(&b'=') {
            continue;
        }
        let value = value_at(text, equals + 1 + blanks(bytes, equals + 1));
        at = value.end;
        all.push(Attribute { name, value });
    }
    (all, at)
}

pub(crate) fn is_end_of_name(rest: &[u8]) -> bool {
    let c = rest[0];
    c.is_ascii_whitespace()
        || matches!(c, b'=' | b'<' | b'>')
        || (matches!(c, b'/' | b'&' | b'\\' | b'?') && close_at(rest).is_some())
}

pub(crate) fn blanks(bytes: &[u8], from: usize) -> usize {
    bytes.get(from..).unwrap_or_default().iter().take_while(|c| c.is_ascii_whitespace()).count()
}

/// A value in quotes, which may be written as text within other markup or a program, or one word.
pub(crate) fn value_at(text: &str, start: usize) -> Range<usize> {
    let rest = &text[start.min(text.len())..];
    let start = text.len() - rest.len();
    let escapes = rest.len() - rest.trim_start_matches('\\').len();
    let quotes = ["\"", "'", "&quot;", "&#34;", "&#39;", "&apos;"];
    let Some(quote) = quotes.iter().find(|quote| rest[escapes..].starts_with(**quote)) else {
        let bytes = rest.as_bytes();
        let is_end = |at: &usize| {
            let rest = &bytes[*at..];
            let is_close = rest[0] != b'/' && rest[0] != b'?' && close_at(rest).is_some();
            rest[0].is_ascii_whitespace() || rest[0] == b'<' || is_close
        };
        let end = (0..bytes.len()).find(is_end).unwrap_or(bytes.len());
        let end =
            if rest[..end].ends_with('/') && rest[end..].starts_with('>') { end - 1 } else { end };
        return start..start + end;
    };
    let (quote, begin) = (&rest[..escapes + quote.len()], start + escapes + quote.len());
    let value = &text[begin..];
    // Where the quotes are not closed the tag may be, or the text is cut.
    let end = value.find(quote).or_else(|| value.find('>')).unwrap_or(value.len());
    begin..begin + end
}

/// The text without its character references.
pub(crate) fn plain(text: &str) -> Cow<'_, str> {
    if !text.contains('&') {
        return Cow::Borrowed(text);
    }
    let (mut out, mut rest) = (String::with_capacity(text.len()), text);
    while let Some(at) = rest.find('&') {
        out.push_str(&rest[..at]);
        rest = &rest[at..];
        let length = rest.bytes().take(10).position(|c| c == b';').unwrap_or(0);
        let (c, length) = match referenced(&rest[1..length.max(1)]) {
            Some(c) => (c, length + 1),
            None => ('&', 1),
        };
        out.push(c);
        rest = &rest[length..];
    }
    out.push_str(rest);
    Cow::Owned(out)
}

pub(crate) fn referenced(name: &str) -> Option<char> {
    match name {
        "amp" => Some('&'),
        "lt" => Some('<'),
        "gt" => Some('>'),
        "quot" => Some('"'),
        "apos" => Some('\''),
        "nbsp" => Some(' '),
        _ => {
            let number = name.strip_prefix('#')?;
            let code = match number.strip_prefix(['x', 'X']) {
                Some(hex) => u32::from_str_radix(hex, 16),
                None => number.parse(),
            };
            code.ok().and_then(char::from_u32)
        }
    }
}

pub(crate) fn is_one_of(name: &str, names: &[&str]) -> bool {
    names.contains(&name)
}

/// The name behind the prefix of a namespace, in small letters.
pub(crate) fn local(name: &str) -> String {
    name.rsplit(':').next().unwrap_or_default().to_ascii_lowercase()
}
