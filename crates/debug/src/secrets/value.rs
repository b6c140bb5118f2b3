//! Values behind a separator in any text: in quotes, until the end of a word, or of a line.

use super::look;
use std::ops::Range;

/// The longest name, in bytes.
pub(super) const MAX_NAME: usize = 64;
/// Names whose value goes on until the end of the line or of the quotation.
const WHOLE_LINE: [&str; 5] =
    ["authorization", "proxy-authorization", "cookie", "set-cookie", "cookies"];
/// Words before credentials, which go on until the end of the line.
const SCHEMES: [&str; 8] =
    ["apikey", "aws4-hmac-sha256", "basic", "bearer", "digest", "negotiate", "oauth", "token"];

/// Where a value begins, and how.
pub(super) struct Value<'a> {
    text: &'a str,
    start: usize,
    pub(super) quote: Option<u8>,
    /// How often the quote is escaped.
    depth: usize,
    /// Whether it is encoded as in an address.
    is_encoded: bool,
}

impl<'a> Value<'a> {
    pub(super) fn behind(text: &'a str, separator: &Range<usize>) -> Self {
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
    pub(super) fn whole(&self, name: &str) -> Range<usize> {
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
    pub(super) fn beginning(&self) -> &'a str {
        let bytes = &self.text.as_bytes()[self.start..];
        let length = bytes.iter().take(MAX_NAME).take_while(|c| is_part_of_name(**c)).count();
        &self.text[self.start..self.start + length]
    }

    /// All of it, if it is one long random text.
    pub(super) fn random(&self) -> Option<Range<usize>> {
        let bytes = &self.text.as_bytes()[self.start..];
        let fits = |c: &&u8| c.is_ascii_alphanumeric() || b"-_+/.~".contains(c);
        let length = bytes.iter().take_while(fits).count();
        let padding = bytes[length..].iter().take(2).take_while(|c| **c == b'=').count();
        let range = self.start..self.start + length + padding;
        look::is_random(&self.text[range.clone()]).then_some(range)
    }
}

/// The end of a word in which what ends one may be encoded.
fn end_of_encoded_word(bytes: &[u8], start: usize) -> usize {
    let encoded = ["%26", "%23", "%22", "%27", "%2C", "%2c", "%7D", "%7d"];
    let ends = |at: &usize| is_end_of_word(bytes[*at]) || starts_with_any(&bytes[*at..], &encoded);
    (start..bytes.len()).find(ends).unwrap_or(bytes.len())
}

pub(super) fn is_part_of_name(c: u8) -> bool {
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

pub(super) fn starts_with_any(bytes: &[u8], texts: &[&str]) -> bool {
    texts.iter().any(|text| bytes.starts_with(text.as_bytes()))
}
