//! What the rules for commands and sentences share: the text, what is found in it, and its words.

use crate::names::Weight;
use crate::ranges::Ranges;
use crate::work::Work;
use std::ops::Range;

/// A text in which secrets are looked for by their place.
pub(crate) struct Search<'s, 'w> {
    pub(crate) work: &'s mut Work<'w>,
    pub(crate) text: &'s str,
    pub(crate) bytes: &'s [u8],
    pub(crate) found: &'s mut Ranges,
}

impl Search<'_, '_> {
    pub(crate) fn judge(&mut self, weight: Weight, range: Range<usize>) -> bool {
        let hides = weight > Weight::Plain && self.work.hides(weight, &self.text[range.clone()]);
        if hides {
            self.found.add(range);
        }
        hides
    }
}

/// Behind the tag that begins here; at the next character if none does.
pub(crate) fn end_of_tag(bytes: &[u8], at: usize) -> usize {
    let is_tag = bytes.get(at + 1).is_some_and(|c| c.is_ascii_alphabetic() || *c == b'/');
    let near = &bytes[at..bytes.len().min(at + 512)];
    let end = near.iter().skip(1).position(|c| matches!(c, b'<' | b'>')).map_or(0, |end| end + 1);
    if is_tag && near[end] == b'>' { at + end + 1 } else { at }
}

/// The words of a command, without the quotes around them.
pub(crate) struct Arguments<'a> {
    pub(crate) text: &'a str,
    pub(crate) at: usize,
}

impl Iterator for Arguments<'_> {
    type Item = Range<usize>;

    fn next(&mut self) -> Option<Range<usize>> {
        let bytes = self.text.as_bytes();
        // A line that ends with a backslash goes on.
        while let Some(c) = bytes.get(self.at) {
            match c {
                b' ' | b'\t' => self.at += 1,
                b'\\' if bytes[self.at + 1..].starts_with(b"\n") => self.at += 2,
                b'\\' if bytes[self.at + 1..].starts_with(b"\r\n") => self.at += 3,
                _ => break,
            }
        }
        let first = *bytes.get(self.at)?;
        if is_quote(first) {
            let quoted = quoted_at(self.text, self.at)?;
            self.at = (quoted.end + 1).min(bytes.len());
            return Some(quoted.range);
        }
        let start = self.at;
        let length = count(bytes, start, |c| !c.is_ascii_whitespace() && !b";|&)`".contains(&c));
        self.at = start + length;
        let word = self.text[start..self.at].trim_end_matches(['"', '\'', ',', ']']);
        (length > 0 && !word.is_empty()).then_some(start..start + word.len())
    }
}

/// Words between blanks and ends of lines.
pub(crate) struct Words<'a> {
    pub(crate) text: &'a str,
    pub(crate) at: usize,
}

impl Iterator for Words<'_> {
    type Item = Range<usize>;

    fn next(&mut self) -> Option<Range<usize>> {
        let bytes = self.text.as_bytes();
        let start = self.at + count(bytes, self.at, |c| c.is_ascii_whitespace());
        let end = start + count(bytes, start, |c| !c.is_ascii_whitespace());
        self.at = end;
        (start < end).then_some(start..end)
    }
}

/// A text in quotes.
pub(crate) struct Quoted {
    pub(crate) range: Range<usize>,
    /// Where the quote stands that ends it, or the end of the text.
    pub(crate) end: usize,
    pub(crate) is_arrow: bool,
    /// Whether another one follows.
    pub(crate) is_listed: bool,
}

pub(crate) fn is_quote(c: u8) -> bool {
    matches!(c, b'"' | b'\'' | b'`')
}

/// The text in quotes that begins here, perhaps with the quotes escaped.
pub(crate) fn quoted_at(text: &str, at: usize) -> Option<Quoted> {
    let bytes = text.as_bytes();
    let at = at + count(bytes, at, |c| c == b' ');
    let escapes = count(bytes, at, |c| c == b'\\');
    let quote = *bytes.get(at + escapes).filter(|c| is_quote(**c))?;
    let start = at + escapes + 1;
    let mut end = start;
    while end < bytes.len() && bytes[end] != quote {
        end += if bytes[end] == b'\\' && escapes == 0 { 2 } else { 1 };
    }
    let end = end.min(bytes.len());
    let inner = text.get(start..end)?;
    let inner = if escapes > 0 { inner.trim_end_matches('\\') } else { inner };
    Some(Quoted { range: start..start + inner.len(), end, is_arrow: false, is_listed: false })
}

/// The text in quotes behind the quote here and a comma or an arrow.
pub(crate) fn behind_comma(text: &str, quote: usize) -> Option<Quoted> {
    let bytes = text.as_bytes();
    let blanks = |at: usize| at + count(bytes, at, |c| c.is_ascii_whitespace());
    let at = blanks(quote + 1);
    let (length, is_arrow) = match bytes.get(at)? {
        b',' => (1, false),
        b'=' if bytes.get(at + 1) == Some(&b'>') => (2, true),
        // PHP writes `s:8:"password";s:16:"x"`.
        b';' if bytes[at..].starts_with(b";s:") => {
            (4 + count(bytes, at + 3, |c| c.is_ascii_digit()), true)
        }
        _ => return None,
    };
    let value = quoted_at(text, blanks(at + length))?;
    let behind = blanks(value.end + 1);
    let is_listed = !is_arrow
        && bytes.get(behind) == Some(&b',')
        && bytes.get(blanks(behind + 1)).is_some_and(|c| is_quote(*c));
    Some(Quoted { is_arrow, is_listed, ..value })
}

/// The name in quotes that ends with the quote here.
pub(crate) fn quoted_before(text: &str, quote: usize) -> Option<Range<usize>> {
    let bytes = text.as_bytes();
    let start = quote.saturating_sub(64);
    let open = bytes[start..quote].iter().rposition(|c| *c == bytes[quote])? + start + 1;
    let name = text.get(open..quote)?.trim_end_matches('\\');
    let is_name = |c: char| c.is_alphanumeric() || " _-.:$~#[]=".contains(c);
    (name.len() >= 2 && name.chars().all(is_name)).then_some(open..open + name.len())
}

/// How far the last argument of a call is looked for, in bytes.
const MAX_CALL: usize = 1024;

/// The last argument of the call whose arguments begin here, if it is a text in quotes and not the only one;
/// and how many texts in quotes there are.
pub(crate) fn last_argument(text: &str, start: usize) -> Option<(usize, Range<usize>)> {
    let bytes = &text.as_bytes()[..text.len().min(start + MAX_CALL)];
    let (mut at, mut depth, mut count) = (start, 0, 0);
    let (mut last, mut is_behind_comma) = (None, false);
    while let Some(c) = bytes.get(at) {
        match c {
            b'(' | b'{' | b'[' => depth += 1,
            b')' | b'}' | b']' if depth == 0 => return last.map(|last| (count, last)),
            b')' | b'}' | b']' => depth -= 1,
            b',' if depth == 0 => (last, is_behind_comma) = (None, true),
            c if is_quote(*c) => {
                let quoted = quoted_at(text, at)?;
                at = quoted.end;
                if depth == 0 {
                    count += 1;
                    last = is_behind_comma.then_some(quoted.range);
                }
            }
            _ => {}
        }
        at += 1;
    }
    None
}

/// What may stand around a text in quotes that is the value: `[]byte("x")`, `Some("x")`, `string(1) "x"`.
const AROUND: [&str; 19] = [
    "[]byte",
    "Buffer.from",
    "SecretStr",
    "SecretString",
    "Secret",
    "new String",
    "String",
    "bytes",
    "bytearray",
    "utf8",
    "encode",
    "Some",
    "Just",
    "string",
    "str",
    "chr",
    "Str",
    "NewSecret",
    "Bytes.of",
];
/// Letters before a quote that say how it is written: `b"x"`, `@"x"`, `N'x'`.
const BEFORE_QUOTES: &[u8] = b"bBrRuUfFLN@$";

/// Where the quote stands that begins a value, behind what may stand before it.
pub(crate) fn behind_around(text: &str, at: usize) -> usize {
    let bytes = text.as_bytes();
    let start = at + count(bytes, at, |c| c.is_ascii_whitespace());
    let Some(rest) = text.get(start..) else { return at };
    let letters = count(bytes, start, |c| BEFORE_QUOTES.contains(&c));
    if letters <= 2 && bytes.get(start + letters).is_some_and(|c| matches!(c, b'"' | b'\'')) {
        return start + letters;
    }
    for around in AROUND {
        let Some(inner) = rest.strip_prefix(around) else { continue };
        let from = text.len() - inner.len();
        // PHP says how long a text is.
        let length = inner
            .strip_prefix('(')
            .map_or(0, |inner| inner.bytes().take_while(u8::is_ascii_digit).count());
        let from = if length > 0 && inner[1 + length..].starts_with(')') {
            from + length + 2
        } else {
            from
        };
        let from = from + count(bytes, from, |c| c == b' ');
        let from = from + count(bytes, from, |c| c == b'(').min(1);
        if bytes.get(from).is_some_and(|c| matches!(c, b'"' | b'\'')) {
            return from;
        }
    }
    start
}

/// The argument of this number of the call whose arguments begin here, and whether it is in quotes; without quotes it
/// is one word.
pub(crate) fn argument(text: &str, start: usize, number: usize) -> Option<(Range<usize>, bool)> {
    let bytes = &text.as_bytes()[..text.len().min(start + MAX_CALL)];
    let (mut at, mut depth, mut current, mut from) = (start, 0, 1, start);
    while current < number {
        match bytes.get(at)? {
            b'(' | b'{' | b'[' => depth += 1,
            b')' | b'}' | b']' if depth == 0 => return None,
            b')' | b'}' | b']' => depth -= 1,
            b',' if depth == 0 => (current, from) = (current + 1, at + 1),
            c if is_quote(*c) => at = quoted_at(text, at)?.end,
            _ => {}
        }
        at += 1;
    }
    let begin = behind_around(text, from);
    if let Some(quoted) = quoted_at(text, begin) {
        return (!quoted.range.is_empty()).then_some((quoted.range, true));
    }
    let length = count(bytes, begin, |c| c.is_ascii_graphic() && !b",)(;{}\"'`".contains(&c));
    let is_whole = matches!(bytes.get(begin + length), Some(b',' | b')'));
    (length > 0 && is_whole).then_some((begin..begin + length, false))
}

/// Whether another text in quotes and a comma stand before this name.
pub(crate) fn is_behind_string(bytes: &[u8], name: usize) -> bool {
    let before = bytes[name.saturating_sub(16)..name].trim_ascii_end();
    let before = before.split_last().map_or(before, |(_, before)| before);
    let before = before.strip_suffix(b"\\").unwrap_or(before).trim_ascii_end();
    let comma = before.strip_suffix(b",").map(<[u8]>::trim_ascii_end);
    comma.and_then(<[u8]>::last).is_some_and(|c| is_quote(*c))
}

/// The name of the function whose parentheses stand before this place.
pub(crate) fn call_before(text: &str, at: usize) -> &str {
    let bytes = &text.as_bytes()[..at];
    let is_call = |c: &u8| is_in_name(*c);
    let Some(open) = bytes.iter().rev().take(8).position(|c| *c == b'(') else { return "" };
    let end = at - open - 1;
    let length = bytes[..end].iter().rev().take(64).take_while(|c| is_call(c)).count();
    text.get(end - length..end).unwrap_or_default()
}

pub(crate) fn is_in_name(c: u8) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, b'_' | b'-' | b'$')
}

pub(crate) fn count(bytes: &[u8], from: usize, fits: impl Fn(u8) -> bool) -> usize {
    bytes.get(from..).unwrap_or_default().iter().take_while(|c| fits(**c)).count()
}

/// The places of a mark. Most texts have none of most marks, which is seen much faster than where one is.
pub(crate) fn each<'t>(text: &'t str, mark: &'t str) -> Each<'t> {
    Each { text, mark, at: if has(text, mark) { 0 } else { text.len() } }
}

// One copy of each search is enough: the extension loads all of them.
#[inline(never)]
pub(crate) fn has(text: &str, mark: &str) -> bool {
    text.contains(mark)
}

/// The places of a mark from one on.
pub(crate) struct Each<'t> {
    text: &'t str,
    mark: &'t str,
    at: usize,
}

impl<'t> Iterator for Each<'t> {
    type Item = (usize, &'t str);

    #[inline(never)]
    fn next(&mut self) -> Option<(usize, &'t str)> {
        let found =
            self.at + self.text.get(self.at..).filter(|rest| !rest.is_empty())?.find(self.mark)?;
        self.at = found + self.mark.len();
        Some((found, self.mark))
    }
}

pub(crate) fn position(bytes: &[u8], from: usize, fits: impl Fn(u8) -> bool) -> Option<usize> {
    bytes.get(from..)?.iter().position(|c| fits(*c)).map(|at| from + at)
}
