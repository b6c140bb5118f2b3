//! Characters at the ends of names and of values, and how many of them there are.

use crate::classes::is_alnum;

/// Quotes as they are written elsewhere.
pub(crate) const QUOTES: [&str; 8] =
    ["&quot;", "&#34;", "&#x22;", "&#39;", "&apos;", "%22", "%27", "\\u0022"];

/// The longest name, in bytes.
pub(crate) const MAX_NAME: usize = 64;

/// Also letters of other scripts, byte by byte.
pub(crate) fn is_part_of_name(c: u8) -> bool {
    is_alnum(c) || matches!(c, b'_' | b'-') || matches!(c, b'.' | b'$' | b'@') || c >= 0x80
}

pub(crate) fn is_end_of_word(c: u8) -> bool {
    c.is_ascii_whitespace() || b"\"'`,;&<>(){}[]|\\".contains(&c)
}

pub(crate) fn is_end_of_line(c: u8) -> bool {
    matches!(c, b'\n' | b'\r' | b'"' | b'<')
}

/// How many bytes fit from here on, at most so many.
pub(crate) fn count(bytes: &[u8], from: usize, most: usize, fits: impl Fn(u8) -> bool) -> usize {
    bytes.get(from..).unwrap_or_default().iter().take(most).take_while(|c| fits(**c)).count()
}

pub(crate) fn is_one_of(name: &str, names: &[&str]) -> bool {
    names.iter().any(|one| name.eq_ignore_ascii_case(one))
}

pub(crate) fn starts_with_any(bytes: &[u8], texts: &[&str]) -> bool {
    texts.iter().any(|text| bytes.starts_with(text.as_bytes()))
}
