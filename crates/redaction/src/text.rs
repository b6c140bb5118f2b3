//! Any text: secrets by their shape, and values behind names of secrets.
//!
//! Found are `name=value`, `name: value` and `"name": "value"` (also with the quotes escaped, as in JSON
//! within JSON, or as entities of HTML), a value that ends with the text, credentials behind their scheme,
//! segments of a path behind a telling one, and the value of a pair that is named beside it:
//! `name="password" value="…"`. A value is in quotes, or ends with its word, or with its line.

use crate::characters::{
    MAX_NAME, QUOTES, count, is_end_of_line, is_end_of_word, is_part_of_name, starts_with_any,
};
use crate::classes::{
    AT, COLON, CONTROL, ENCODED, FOREIGN, OPEN, QUOTE, SEPARATOR, SLASH, SPACE, TAG,
};
use crate::kind::Kind;
use crate::look::Look;
use crate::names::{Weight, is_named_beside, names_another};
use crate::ranges::Ranges;
use crate::search::each;
use crate::signs::{DATA, KEY, SCHEME, Signs, WIFI};
use crate::valued::Value;
use crate::work::Work;
use crate::{address, commands, controls, markup, seldom, shapes};
use std::borrow::Cow;
use std::ops::Range;

/// How far the value is from its name at most, in bytes.
const BESIDE: usize = 256;

/// The text without its secrets.
pub(crate) fn redact<'t>(work: &mut Work<'_>, text: &'t str, kind: Kind) -> Cow<'t, str> {
    if text.len() < 4 {
        return text.into();
    }
    let mut found = Ranges::default();
    let signs = Signs::of(text);
    if signs.has(KEY) {
        shapes::find(text, &mut found);
    }
    work.find_seen(text, &mut found);
    if kind == Kind::Name {
        return found.put_out(text);
    }
    if signs.has(CONTROL)
        && let Some(shown) = controls::redact(work, text, kind)
    {
        return shown.into();
    }
    if signs.has(SCHEME) && signs.has(SPACE | ENCODED) {
        find_credentials(work, text, &mut found);
    }
    if signs.has(COLON | OPEN | AT) {
        find_in_addresses(text, signs, &mut found);
    }
    if signs.has(SEPARATOR | ENCODED | FOREIGN) {
        find_named(work, text, kind, &mut found);
    }
    if signs.has(SLASH) {
        address::find_segments(work, text, &mut found);
    }
    if signs.has(SPACE | QUOTE | COLON | FOREIGN) {
        commands::find(work, text, kind, signs, &mut found);
    }
    if signs.has(TAG) && kind != Kind::Code {
        markup::find(work, text, &mut found);
    }
    seldom::find(work, text, kind, signs, &mut found);
    found.put_out(text)
}

/// Words before credentials (RFC 9110, section 11.1, and its registry).
const SCHEMES: [&str; 4] = ["bearer", "basic", "dpop", "negotiate"];

/// Credentials behind the word for their kind, also over a line's end.
fn find_credentials(work: &mut Work<'_>, text: &str, found: &mut Ranges) {
    let bytes = text.as_bytes();
    for (at, c) in bytes.iter().enumerate() {
        let begins = matches!(c, b'b' | b'B' | b'd' | b'D' | b'n' | b'N')
            && (at == 0 || !bytes[at - 1].is_ascii_alphanumeric());
        if !begins {
            continue;
        }
        let rest = &bytes[at..];
        let scheme = SCHEMES.iter().find(|scheme| {
            rest.get(..scheme.len()).is_some_and(|it| it.eq_ignore_ascii_case(scheme.as_bytes()))
        });
        let Some(scheme) = scheme else { continue };
        if let Some(value) = credentials(bytes, at + scheme.len())
            && !is_word(&text[value.clone()])
        {
            work.note(&text[value.clone()]);
            found.add(value);
        }
    }
}

/// Where the credentials are, when some stand behind the end of a scheme.
fn credentials(bytes: &[u8], end: usize) -> Option<Range<usize>> {
    let space = count(bytes, end, 4, |c| matches!(c, b' ' | b'+' | b'\n' | b'\r' | b'\t'));
    let encoded = if bytes[end..].starts_with(b"%20") { 3 } else { 0 };
    let start = end + space.max(encoded);
    let fits = |c: u8| c.is_ascii_alphanumeric() || b"._~+/=-".contains(&c);
    let length = count(bytes, start, 8192, fits);
    (start > end && length >= 6).then_some(start..start + length)
}

/// `Bearer authentication` is no credential.
fn is_word(text: &str) -> bool {
    let word = text.trim_end_matches(['=', '.', '-', ',']);
    let is_plain = word.bytes().all(|c| c.is_ascii_alphabetic() || c == b'-');
    is_plain && (word.len() < 16 || word.contains('-')) && Look::of(word) == Look::Plain
}

/// The user and the password of an address, and addresses that are all content.
fn find_in_addresses(text: &str, signs: Signs, found: &mut Ranges) {
    let bytes = text.as_bytes();
    let signed = |sign: u32, mark: &'static str| {
        signs.has(sign).then(|| each(text, mark)).into_iter().flatten()
    };
    for (at, _) in signed(SLASH, "://") {
        let start = at + 3;
        let ends = |c: u8| c.is_ascii_whitespace() || b"/?#\"'<>\\`".contains(&c);
        let end = start + count(bytes, start, 512, |c| !ends(c));
        if let Some(last) = bytes[start..end].iter().rposition(|c| *c == b'@') {
            found.add(start..start + last);
        }
    }
    // Sessions in the paths of ASP.NET: `/(S(…))/`.
    for (at, _) in signed(OPEN, "(S(") {
        let end = count(bytes, at + 3, 128, |c| c.is_ascii_alphanumeric());
        found.add(at + 3..at + 3 + end);
    }
    // A network and its password, as codes to be scanned have them: `WIFI:S:home;T:WPA;P:…;;`.
    for (at, _) in signed(WIFI, "WIFI:") {
        let code = at..at + count(bytes, at, 256, |c| !is_end_of_line(c));
        if let Some(password) = text.get(code.clone()).and_then(|code| code.find(";P:")) {
            let start = at + password + 3;
            found.add(start..start + count(bytes, start, 128, |c| c != b';' && !is_end_of_line(c)));
        }
    }
    // As drivers for Go write an address: `user:password@tcp(host:port)/`.
    for mark in ["@tcp(", "@unix("] {
        for (at, _) in signed(AT, mark) {
            let word =
                bytes[..at].iter().rev().take(256).take_while(|c| !is_end_of_word(**c)).count();
            if let Some(colon) = text.get(at - word..at).and_then(|word| word.find(':')) {
                found.add(at - word + colon + 1..at);
            }
        }
    }
    for (at, _) in signed(DATA, "data:") {
        if at > 0 && (bytes[at - 1].is_ascii_alphanumeric() || bytes[at - 1] == b'-') {
            continue;
        }
        let start = at + 5;
        let head =
            count(bytes, start, 128, |c| c.is_ascii_alphanumeric() || b"/.+;=_-".contains(&c));
        let is_data = head > 2 && text[start..start + head].contains('/');
        if is_data && bytes.get(start + head) == Some(&b',') {
            let start = start + head + 1;
            let ends = |c: u8| c.is_ascii_whitespace() || b"\"'<>)\\".contains(&c);
            found.add(start..start + count(bytes, start, usize::MAX, |c| !ends(c)));
        }
    }
}

/// Values behind a name and a separator.
fn find_named(work: &mut Work<'_>, text: &str, kind: Kind, found: &mut Ranges) {
    let (mut from, mut named) = (0, None);
    while let Some(separator) = next_separator(text, from) {
        from = separator.end;
        let Some(name) = name_before(text, separator.start) else { continue };
        let mut value = Value::behind(text, &separator);
        let beside = named.filter(|(end, _)| separator.start - end <= BESIDE);
        let weight = weigh(work, text, &name, beside.map(|(_, weight)| weight));
        if weight > Weight::Plain {
            let is_or = matches!(text.as_bytes()[separator.start], b'|' | b'?');
            let is_pair = is_behind(text, name.start, &["?", "&"]).is_some();
            value.look_behind_around();
            if value.quote.is_none() && (is_or || (kind == Kind::Code && !is_pair)) {
                continue;
            }
            let range = value.whole(text, &name, kind);
            // A block of YAML begins with a mark.
            let judged = judged(&text[range.clone()]);
            if work.hides(weight, &judged) {
                (from, named) = (range.end.max(from), None);
                found.add(range);
                continue;
            }
        }
        if names_another(&text[name]) {
            let weight = work.weigh(value.beginning());
            if weight > Weight::Plain {
                named = Some((separator.end, weight));
                continue;
            }
        }
        if kind == Kind::Prose
            && let Some(range) = value.random()
        {
            from = range.end;
            found.add(range);
        }
    }
}

/// What is judged of a value: of a block of YAML its lines without the mark and what indents them.
fn judged(value: &str) -> Cow<'_, str> {
    let inner = value.trim_start_matches(['|', '>', '-']).trim();
    if inner.len() < value.trim().len() && inner.contains('\n') {
        return inner.split_whitespace().collect::<String>().into();
    }
    inner.into()
}

/// What this name says of its value; `beside` what a name beside it says.
fn weigh(work: &mut Work<'_>, text: &str, name: &Range<usize>, beside: Option<Weight>) -> Weight {
    // Behind these it is a pair of an address.
    let begins_pair = is_behind(text, name.start, &["?", "&", "%3F", "%3f", "%26"]).is_some()
        && is_behind(text, name.start, &["&amp;"]).is_none();
    let start = name.start;
    let name = &text[name.clone()];
    let own = if begins_pair { work.weigh_in_address(name) } else { work.weigh(name) };
    // `seed phrase`, `access code`: two words can say more than the last one.
    let own = if own == Weight::Telling { own.max(weigh_two(work, text, start)) } else { own };
    match beside.filter(|_| is_named_beside(name)) {
        Some(beside) => own.max(beside),
        None => own,
    }
}

/// What two words say together, of which the second begins here: `seed phrase`.
fn weigh_two(work: &mut Work<'_>, text: &str, second: usize) -> Weight {
    let bytes = text.as_bytes();
    if second < 2 || bytes[second - 1] != b' ' {
        return Weight::Plain;
    }
    let length =
        bytes[..second - 1].iter().rev().take(24).take_while(|c| is_part_of_name(**c)).count();
    let end = second + count(bytes, second, MAX_NAME, is_part_of_name);
    text.get(second - 1 - length..end).map_or(Weight::Plain, |two| work.weigh(two))
}

/// The next colon or equals sign, perhaps encoded as in an address within another one; `：` is a colon too.
fn next_separator(text: &str, from: usize) -> Option<Range<usize>> {
    let bytes = text.as_bytes();
    (from..bytes.len()).find_map(|at| match bytes[at] {
        b':' | b'=' => Some(at..at + 1),
        b'%' => starts_with_any(&bytes[at..], &["%3D", "%3d", "%3A", "%3a"]).then_some(at..at + 3),
        // `process.env.SECRET || "…"`: what stands in when there is none.
        b'|' | b'?' if bytes.get(at + 1) == Some(&bytes[at]) => Some(at..at + 2),
        0xef => bytes[at..].starts_with("：".as_bytes()).then_some(at..at + 3),
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
    let end = back(separator, 4, |c| c == b' ' || c == b'\t');
    let end = end - is_behind(text, end, &QUOTES).unwrap_or(0);
    let end = back(end, 8, |c| matches!(c, b'"' | b'\'' | b'`' | b'\\' | b']'));
    let start = text.ceil_char_boundary(back(end, MAX_NAME, is_part_of_name));
    // `%3Fname` begins behind the encoded character.
    let is_encoded = start > 0 && bytes[start - 1] == b'%' && end - start.min(end) >= 2;
    let start = if is_encoded { start + 2 } else { start };
    let has_letter = start < end
        && text.is_char_boundary(start)
        && text.is_char_boundary(end)
        && text[start..end].contains(char::is_alphabetic);
    has_letter.then_some(start..end)
}
