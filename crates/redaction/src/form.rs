//! Pairs `name=value&…`, as in addresses and forms.

use crate::HIDDEN;
use crate::kind::Kind;
use crate::look::Look;
use crate::names::Weight;
use crate::work::Work;
use percent_encoding::{NON_ALPHANUMERIC, percent_decode_str, utf8_percent_encode};
use std::borrow::Cow;

/// Names of pairs that say what is done.
const DOING: [&str; 7] = ["act", "action", "do", "op", "cmd", "task", "step"];

/// The pairs without their secrets.
pub(crate) fn redact(work: &mut Work<'_>, pairs: &str) -> String {
    let mut out = String::with_capacity(pairs.len());
    let least = said_of_all(work, pairs);
    for (at, one) in pairs.split('&').enumerate() {
        if at > 0 {
            out.push('&');
        }
        out.push_str(&pair(work, one, least));
    }
    out
}

/// What all values weigh at least: where a pair says that a password is changed, the names of others may be
/// short (`p1`).
fn said_of_all(work: &mut Work<'_>, pairs: &str) -> Weight {
    let mut said = pairs.split('&').filter_map(|pair| pair.split_once('='));
    let is_said = said.any(|(name, value)| {
        DOING.contains(&name) && value.len() <= 32 && work.weigh(value) == Weight::Secret
    });
    if is_said { Weight::Telling } else { Weight::Plain }
}

fn pair<'t>(work: &mut Work<'_>, pair: &'t str, least: Weight) -> Cow<'t, str> {
    let Some((name, value)) = pair.split_once('=') else {
        return alone(work, pair);
    };
    if value.is_empty() || value == HIDDEN {
        return work.text(pair, Kind::Name);
    }
    let plain = decoded(value);
    let weight = work.weigh_in_address(&decoded(&without_long_letters(name))).max(least);
    let weight = if name == "p" && is_hexadecimal(&plain) { Weight::Secret } else { weight };
    let hides = work.hides(weight, &plain) || (weight == Weight::Plain && is_random(&plain));
    // A name may be a secret that was seen before.
    let shown_name = work.text(name, Kind::Name);
    if hides {
        return format!("{shown_name}={HIDDEN}").into();
    }
    // `credentials[name]=password&credentials[value]=x` is what the name beside it says.
    match shown(work, value, &plain) {
        Cow::Borrowed(_) if matches!(shown_name, Cow::Borrowed(_)) => pair.into(),
        value => format!("{shown_name}={value}").into(),
    }
}

/// `enc:70617373`: a password, as players of music give it.
fn is_hexadecimal(value: &str) -> bool {
    value
        .strip_prefix("enc:")
        .is_some_and(|hex| hex.len() >= 4 && hex.bytes().all(|c| c.is_ascii_hexdigit()))
}

/// What has no name may be a token by itself.
fn alone<'t>(work: &mut Work<'_>, part: &'t str) -> Cow<'t, str> {
    let plain = decoded(part);
    if is_random(&plain) {
        return HIDDEN.into();
    }
    shown(work, part, &plain)
}

fn is_random(value: &str) -> bool {
    Look::of(value) >= Look::Random
}

/// A value in which others may stand: an address, JSON.
fn shown<'t>(work: &mut Work<'_>, value: &'t str, plain: &str) -> Cow<'t, str> {
    let redacted = work.value_among(plain, Kind::Prose);
    if *redacted == *plain {
        return value.into();
    }
    if plain == value {
        return redacted.into_owned().into();
    }
    let encode = |text: &str| utf8_percent_encode(text, NON_ALPHANUMERIC).to_string();
    let parts: Vec<String> = redacted.split(HIDDEN).map(encode).collect();
    parts.join(HIDDEN).into()
}

/// ASCII in two bytes where one would do (`%C1%B7` for `w`), which some servers read all the same.
fn without_long_letters(name: &str) -> Cow<'_, str> {
    let is_long =
        |part: &str| part.get(..2).is_some_and(|byte| matches!(byte, "C0" | "C1" | "c0" | "c1"));
    if !name.split('%').skip(1).any(is_long) {
        return name.into();
    }
    let mut bytes: Vec<u8> = Vec::with_capacity(name.len());
    for byte in percent_decode_str(name) {
        match bytes.last() {
            Some(first @ (0xc0 | 0xc1)) if (0x80..0xc0).contains(&byte) => {
                let letter = (first & 1) << 6 | (byte & 0x3f);
                bytes.pop();
                bytes.push(letter);
            }
            _ => bytes.push(byte),
        }
    }
    String::from_utf8_lossy(&bytes).into_owned().into()
}

/// Pluses are spaces, bytes that are no UTF-8 become replacement characters.
pub(crate) fn decoded(text: &str) -> Cow<'_, str> {
    if !text.contains(['%', '+']) {
        return text.into();
    }
    let spaced = text.replace('+', " ");
    percent_decode_str(&spaced).decode_utf8_lossy().into_owned().into()
}

/// Whether a text is made of such pairs only.
pub(crate) fn is_form(body: &str) -> bool {
    let fits = |c: u8| c.is_ascii_alphanumeric() || b"-_.~%+&=[]*!'()$@:/,".contains(&c);
    let body = body.trim_end();
    // The padding of base64.
    if body.ends_with('=') && !body.contains('&') {
        return false;
    }
    let has_names = || {
        body.split('&').all(|pair| {
            pair.split_once('=')
                .is_some_and(|(name, _)| !name.is_empty() && !name.contains([':', ',']))
        })
    };
    body.contains('=') && body.bytes().all(fits) && has_names()
}
