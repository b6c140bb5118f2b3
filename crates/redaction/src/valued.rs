//! The value behind a name in any text: where it begins, how it is quoted, and where it ends.

use crate::characters::{
    MAX_NAME, QUOTES, count, is_end_of_line, is_end_of_word, is_one_of, is_part_of_name,
    starts_with_any,
};
use crate::kind::Kind;
use crate::look::Look;
use crate::search::behind_around;
use std::ops::Range;

/// Names whose value goes on until the end of the line or of the quotation.
const WHOLE_LINE: [&str; 6] =
    ["authorization", "proxy-authorization", "cookie", "set-cookie", "cookies", "x-wsse"];
/// Words before credentials, which go on until the end of the line.
const CREDENTIALS: [&str; 10] = [
    "apikey",
    "aws4-hmac-sha256",
    "basic",
    "bearer",
    "digest",
    "dpop",
    "hawk",
    "negotiate",
    "oauth",
    "token",
];

/// Where a value begins, and how.
pub(crate) struct Value<'a> {
    text: &'a str,
    start: usize,
    pub(crate) quote: Option<&'a str>,
    /// How often the quote is escaped.
    depth: usize,
    /// Whether it is encoded as in an address.
    is_encoded: bool,
}

impl<'a> Value<'a> {
    pub(crate) fn behind(text: &'a str, separator: &Range<usize>) -> Self {
        let bytes = text.as_bytes();
        let mut start = separator.end;
        if bytes[separator.start] == b'%' {
            start += if starts_with_any(&bytes[start..], &["%22", "%27", "%20"]) { 3 } else { 0 };
            return Self { text, start, quote: None, depth: 0, is_encoded: true };
        }
        start += usize::from(matches!(bytes.get(start), Some(b'>' | b'=')));
        start += count(bytes, start, 32, |c| matches!(c, b' ' | b'\t' | 0x0b | 0x0c));
        if let Some(quote) =
            QUOTES.iter().find(|quote| bytes[start..].starts_with(quote.as_bytes()))
        {
            let (quote, start) = (&text[start..start + quote.len()], start + quote.len());
            return Self { text, start, quote: Some(quote), depth: 0, is_encoded: false };
        }
        let depth = count(bytes, start, 8, |c| c == b'\\');
        let mut value = Self { text, start, quote: None, depth: 0, is_encoded: false };
        let behind = start + depth;
        let length = match bytes.get(behind) {
            // Blocks of GraphQL and Python have three.
            Some(quote @ (b'"' | b'\'')) => {
                let is_block =
                    bytes[behind..].starts_with(&[*quote; 3]) && bytes.len() > behind + 3;
                if is_block { 3 } else { 1 }
            }
            Some(b'`') => 1,
            _ => return value,
        };
        value.quote = Some(&text[behind..behind + length]);
        (value.start, value.depth) = (behind + length, depth);
        value
    }

    /// `[]byte("x")`, `b"x"`, `chr "x"`: what stands around a text in quotes is none of it.
    pub(crate) fn look_behind_around(&mut self) {
        if self.quote.is_some() || self.is_encoded {
            return;
        }
        // A value of another line is none of this name.
        let at = behind_around(self.text, self.start);
        let bytes = self.text.as_bytes();
        let is_around = bytes.get(self.start).is_some_and(|c| !c.is_ascii_whitespace());
        if is_around
            && at > self.start
            && let Some(b'"' | b'\'') = bytes.get(at)
        {
            (self.quote, self.start) = (Some(&self.text[at..=at]), at + 1);
        }
    }

    /// All of it: in quotes, or until something that ends a word or a line.
    pub(crate) fn whole(&self, text: &str, name: &Range<usize>, kind: Kind) -> Range<usize> {
        let bytes = self.text.as_bytes();
        if let Some(quote) = self.quote {
            let end = match quote.as_bytes() {
                [quote] => end_of_quotation(bytes, self.start, *quote, self.depth),
                _ => self.text[self.start..].find(quote).map_or(bytes.len(), |at| self.start + at),
            };
            return self.start..end;
        }
        if self.is_encoded {
            return self.start..end_of_encoded_word(bytes, self.start);
        }
        if let Some(end) = end_of_braces(bytes, name, self.start) {
            return self.start + 1..end;
        }
        let last = text[name.clone()].rsplit('.').next().unwrap_or_default();
        if is_one_of(last, &WHOLE_LINE) {
            // The parameters of a digest are in quotes.
            let has_parameters =
                starts_with_any(&bytes[self.start..], &["Digest ", "OAuth ", "Hawk ", "AWS4"]);
            let ends = if has_parameters { |c| matches!(c, b'\n' | b'\r') } else { is_end_of_line };
            return self.start..end(bytes, self.start, ends);
        }
        if ["phrase", "mnemonic", "words"]
            .iter()
            .any(|word| last.to_ascii_lowercase().ends_with(word))
        {
            return self.start..end(bytes, self.start, is_end_of_line);
        }
        let word = end(bytes, self.start, is_end_of_word);
        if is_one_of(&self.text[self.start..word], &CREDENTIALS) {
            return self.start..end(bytes, word, is_end_of_line);
        }
        if kind == Kind::Data && begins_line(bytes, name.start) {
            return self.start..self.end_of_lines(name.start);
        }
        self.start..word
    }

    /// The end of a line that is all value; of a block below it, as YAML has them, the end of that.
    fn end_of_lines(&self, name: usize) -> usize {
        let bytes = self.text.as_bytes();
        let line = end(bytes, self.start, |c| matches!(c, b'\n' | b'\r' | b'<'));
        let value = self.text[self.start..line].trim_end();
        let indent = |at: usize| count(bytes, at, usize::MAX, |c| c == b' ' || c == b'\t');
        let begin = bytes[..name].iter().rposition(|c| *c == b'\n').map_or(0, |at| at + 1);
        if !matches!(value, "|" | ">" | "|-" | ">-" | "|+" | "") {
            // What ends a word ends a value with another pair behind it, as in `a: x, b: y`.
            let word = end(bytes, self.start, |c| {
                matches!(c, b',' | b';' | b'}' | b')' | b'\n' | b'\r' | b'<')
            });
            let has_another = self.text[word..line].contains([':', '=']);
            return if has_another { word } else { self.start + value.len() };
        }
        let (mut at, most) = (line, indent(begin));
        loop {
            let next = at + count(bytes, at, 2, |c| matches!(c, b'\n' | b'\r'));
            let is_inside = next > at && indent(next) > most && !value.is_empty();
            if !is_inside {
                return at;
            }
            at = end(bytes, next, |c| matches!(c, b'\n' | b'\r'));
        }
    }

    /// As much of it as a name may have.
    pub(crate) fn beginning(&self) -> &'a str {
        let bytes = &self.text.as_bytes()[self.start..];
        let length = bytes.iter().take(MAX_NAME).take_while(|c| is_part_of_name(**c)).count();
        self.text.get(self.start..self.start + length).unwrap_or_default()
    }

    /// All of it, if it is one long random text.
    pub(crate) fn random(&self) -> Option<Range<usize>> {
        let bytes = self.text.as_bytes();
        let fits = |c: u8| c.is_ascii_alphanumeric() || b"-_+/.~".contains(&c);
        let length = count(bytes, self.start, 4096, fits);
        let padding = count(bytes, self.start + length, 2, |c| c == b'=');
        let range = self.start..self.start + length + padding;
        let value = self.text.get(range.clone()).unwrap_or_default();
        (value.len() >= 20 && Look::of(value) >= Look::Random).then_some(range)
    }
}

/// The brace that ends a value of a connection string; two of them are one within it: `;PWD={a}}b};`.
fn end_of_braces(bytes: &[u8], name: &Range<usize>, start: usize) -> Option<usize> {
    let is_pair = bytes[..name.start].ends_with(b";")
        && [&b"pwd"[..], b"password"]
            .iter()
            .any(|one| bytes[name.clone()].eq_ignore_ascii_case(one));
    if !is_pair || bytes.get(start) != Some(&b'{') {
        return None;
    }
    let mut at = start + 1;
    while let Some(c) = bytes.get(at) {
        match (c, bytes.get(at + 1)) {
            (b'}', Some(b'}')) => at += 2,
            (b'}', _) => return Some(at),
            (b'\n', _) => return None,
            _ => at += 1,
        }
    }
    None
}

/// Whether a line begins with this name, behind a list's mark and what shells and others put before.
fn begins_line(bytes: &[u8], name: usize) -> bool {
    // Further back than a name is long it does not matter where the line begins.
    let least = name.saturating_sub(MAX_NAME + 1);
    let end = bytes[least..name].iter().rposition(|c| matches!(c, b'\n' | b'\r'));
    let begin = end.map_or(least, |at| least + at + 1);
    let before = bytes[begin..name].trim_ascii();
    name - begin <= MAX_NAME
        && matches!(before, b"" | b"-" | b"\"" | b"'" | b"export" | b"set" | b"ENV")
}

/// The end of a word in which what ends one may be encoded.
fn end_of_encoded_word(bytes: &[u8], start: usize) -> usize {
    let encoded = ["%26", "%23", "%22", "%27", "%2C", "%2c", "%7D", "%7d"];
    let ends = |at: &usize| is_end_of_word(bytes[*at]) || starts_with_any(&bytes[*at..], &encoded);
    (start..bytes.len()).find(ends).unwrap_or(bytes.len())
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
