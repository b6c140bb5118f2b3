//! Pairs `name=value&…`, as in addresses and forms, and the parts of multipart forms.

use super::names::{is_secret, is_secret_in_address};
use super::text::{self, Kind};
use super::{HIDDEN, look};
use percent_encoding::{NON_ALPHANUMERIC, percent_decode_str, utf8_percent_encode};
use std::borrow::Cow;

/// The pairs without their secrets.
pub fn redact(pairs: &str) -> String {
    pairs.split('&').map(pair).collect::<Vec<_>>().join("&")
}

fn pair(pair: &str) -> Cow<'_, str> {
    let Some((name, value)) = pair.split_once('=') else {
        return if is_secret_by_look(&decoded(pair)) { HIDDEN.into() } else { shown(pair) };
    };
    if value.is_empty() || value == HIDDEN {
        return pair.into();
    }
    if is_secret_in_address(&decoded(name)) || is_secret_by_look(&decoded(value)) {
        return format!("{name}={HIDDEN}").into();
    }
    match shown(value) {
        Cow::Borrowed(_) => pair.into(),
        Cow::Owned(value) => format!("{name}={value}").into(),
    }
}

fn is_secret_by_look(value: &str) -> bool {
    look::is_known(value) || look::is_random(value)
}

/// A value in which others may stand: an address, JSON.
fn shown(value: &str) -> Cow<'_, str> {
    let plain = decoded(value);
    let redacted = text::redact(&plain, Kind::Prose);
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

fn decoded(text: &str) -> String {
    percent_decode_str(&text.replace('+', " ")).decode_utf8_lossy().into_owned()
}

/// A multipart form without its secrets: the parts of a secret's name.
pub fn redact_multipart(form: &str) -> String {
    let mut out = String::with_capacity(form.len());
    let mut rest = form;
    while let Some(at) = rest.find("\r\n\r\n") {
        let (head, content) = rest.split_at(at + 4);
        let end = content.find("\r\n--").unwrap_or(content.len());
        let name = head.rsplit_once("name=\"").and_then(|(_, name)| name.split_once('"'));
        let is_hidden = name.is_some_and(|(name, _)| is_secret(name)) && end > 0;
        out.push_str(head);
        if is_hidden {
            out.push_str(HIDDEN);
        } else {
            out.push_str(&text::redact(&content[..end], Kind::Data));
        }
        rest = &content[end..];
    }
    out.push_str(&text::redact(rest, Kind::Data));
    out
}
