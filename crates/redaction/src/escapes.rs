//! Escapes: what a string of JSON stands for, and how a text stands in one (RFC 8259, section 7).

use std::borrow::Cow;

/// The text that a string of JSON stands for (RFC 8259, section 7). What is no escape stays.
pub(crate) fn unescaped(content: &str) -> Cow<'_, str> {
    if !content.contains('\\') {
        return content.into();
    }
    let mut out = String::with_capacity(content.len());
    let mut rest = content;
    while let Some((before, behind)) = rest.split_once('\\') {
        out.push_str(before);
        let mut letters = behind.chars();
        let letter = letters.next();
        rest = letters.as_str();
        match letter {
            Some('n') => out.push('\n'),
            Some('r') => out.push('\r'),
            Some('t') => out.push('\t'),
            Some('b') => out.push('\u{8}'),
            Some('f') => out.push('\u{c}'),
            Some('u') => rest = unescape_unit(rest, &mut out),
            Some(other) => out.push(other),
            None => out.push('\\'),
        }
    }
    out.push_str(rest);
    out.into()
}

/// `\u00e9`, and two of them for what is beyond the basic plane.
fn unescape_unit<'a>(rest: &'a str, out: &mut String) -> &'a str {
    let unit = |text: &str| text.get(..4).and_then(|hex| u16::from_str_radix(hex, 16).ok());
    let Some(first) = unit(rest) else {
        out.push_str("\\u");
        return rest;
    };
    let behind = &rest[4..];
    let second = behind.strip_prefix("\\u").and_then(unit);
    let both = [Some(first), second];
    let mut letters = char::decode_utf16(both.into_iter().flatten());
    if let Some(Ok(letter)) = letters.next() {
        out.push(letter);
        if letter.len_utf16() == 2 { &behind[6..] } else { behind }
    } else {
        out.push(char::REPLACEMENT_CHARACTER);
        behind
    }
}

/// The text as it stands within a string of JSON.
pub(crate) fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 16);
    for letter in text.chars() {
        match letter {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            '\u{8}' => out.push_str("\\b"),
            '\u{c}' => out.push_str("\\f"),
            c if u32::from(c) < 0x20 => {
                out.push_str("\\u00");
                let hex = |digit: u32| char::from_digit(digit, 16).unwrap_or('0');
                out.extend([hex(u32::from(c) >> 4), hex(u32::from(c) & 15)]);
            }
            c => out.push(c),
        }
    }
    out
}
