//! The parts of a message, each without its secrets: its address, headers, the pairs of a form, and bodies by what
//! they are.

use super::names::{is_secret, is_secret_in_address};
use super::text::Kind;
use super::{HIDDEN, json, names, patterns, text};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use baton_session::redact::ShownAddress;
use percent_encoding::{NON_ALPHANUMERIC, percent_decode_str, utf8_percent_encode};
use std::borrow::Cow;

/// The URL without its userinfo, and without the values of query and fragment that are secrets. Of a URL
/// that is all content, such as `data:`, the scheme stays.
pub fn redact_address(url: &str) -> String {
    let (before, fragment) = cut(url, '#');
    let (way, query) = cut(before, '?');
    let mut redacted = redact_way(ShownAddress::of(way).as_str());
    if let Some(query) = query {
        redacted.push('?');
        redacted.push_str(&redact_form(query));
    }
    if let Some(fragment) = fragment {
        redacted.push('#');
        redacted.push_str(&redact_fragment(fragment));
    }
    redacted
}

fn cut(text: &str, at: char) -> (&str, Option<&str>) {
    text.split_once(at).map_or((text, None), |(before, after)| (before, Some(after)))
}

fn redact_way(way: &str) -> String {
    text::redact(way, Kind::Data).into_owned()
}

/// A fragment is a way within the page, pairs, or both.
fn redact_fragment(fragment: &str) -> String {
    match fragment.split_once('?') {
        Some((way, query)) => format!("{}?{}", redact_way(way), redact_form(query)),
        None if fragment.starts_with(['/', '!']) => redact_way(fragment),
        None => redact_form(fragment),
    }
}

/// The value of a header without its secrets.
pub fn redact_header(name: &str, value: &str) -> String {
    let name = name.to_ascii_lowercase();
    let lines = value.split('\n').map(|line| redact_line(&name, line));
    lines.collect::<Vec<_>>().join("\n")
}

fn redact_line(name: &str, value: &str) -> String {
    match name {
        "cookie" => value.split("; ").map(hide_value).collect::<Vec<_>>().join("; "),
        "set-cookie" | "set-cookie2" => match value.split_once(';') {
            Some((cookie, attributes)) => format!("{};{attributes}", hide_value(cookie)),
            None => hide_value(value),
        },
        "sec-websocket-protocol" => value.split(", ").map(protocol).collect::<Vec<_>>().join(", "),
        "authentication-info" | "proxy-authentication-info" => HIDDEN.to_owned(),
        "www-authenticate" | "proxy-authenticate" => text::redact(value, Kind::Data).into_owned(),
        _ if value.is_empty() || value == HIDDEN => value.to_owned(),
        "authorization" | "proxy-authorization" => hide_credentials(value),
        _ if names::is_secret(name) => HIDDEN.to_owned(),
        "location" | "content-location" | "referer" => redact_address(value),
        _ if is_address(value) => redact_address(value),
        _ => text::redact(value, Kind::Data).into_owned(),
    }
}

/// `name=value` without the value; a cookie without a name is all value.
fn hide_value(cookie: &str) -> String {
    match cookie.split_once('=') {
        Some((_, "")) => cookie.to_owned(),
        Some((name, _)) => format!("{name}={HIDDEN}"),
        None if cookie.is_empty() => String::new(),
        None => HIDDEN.to_owned(),
    }
}

/// `Bearer …` keeps its first word.
fn hide_credentials(value: &str) -> String {
    match value.split_once(' ') {
        Some((scheme, _)) if scheme.bytes().all(|c| c.is_ascii_alphabetic() || c == b'-') => {
            format!("{scheme} {HIDDEN}")
        }
        _ => HIDDEN.to_owned(),
    }
}

/// Pages without other means give their ticket as a subprotocol.
fn protocol(item: &str) -> String {
    let last = item.rsplit('.').next().unwrap_or_default();
    let is_secret =
        patterns::is_random(item) || patterns::is_random(last) || patterns::is_known(item);
    if is_secret { HIDDEN.to_owned() } else { item.to_owned() }
}

fn is_address(value: &str) -> bool {
    let has_way = value.contains("://") || value.starts_with('/');
    has_way && !value.contains([' ', ',', ';'])
}

/// The pairs without their secrets.
pub fn redact_form(pairs: &str) -> String {
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
    patterns::is_known(value) || patterns::is_random(value)
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

/// A body without its secrets. `mime` is what it says to be; where that is missing or wrong, the body's
/// own look decides.
pub fn redact_body(body: &str, mime: Option<&str>) -> String {
    let mime = mime.unwrap_or_default().to_ascii_lowercase();
    let start = body.trim_start();
    if mime.contains("json") || start.starts_with(['{', '[']) {
        return json::redact(body, Kind::Data);
    }
    if mime.contains("x-www-form-urlencoded") || (mime.is_empty() && is_form(start)) {
        return redact_form(body);
    }
    if mime.contains("multipart") || start.starts_with("--") {
        return redact_multipart(body);
    }
    let is_code =
        ["javascript", "ecmascript", "css", "wasm"].iter().any(|word| mime.contains(word));
    text::redact(body, if is_code { Kind::Code } else { Kind::Data }).into_owned()
}

/// A body that came as base64, which may be cut, without its secrets: text as text, pictures and the like
/// as base64. Nobody can say what is in any other, so it is hidden. True when it is base64.
pub fn redact_base64(body: &str, mime: Option<&str>) -> (String, bool) {
    let whole = &body.as_bytes()[..body.len() - body.len() % 4];
    let Ok(bytes) = STANDARD.decode(whole) else { return (HIDDEN.to_owned(), false) };
    match text_of(&bytes) {
        Some(text) => (redact_body(text, mime), false),
        None if is_media(mime.unwrap_or_default()) => (body.to_owned(), true),
        None => (HIDDEN.to_owned(), false),
    }
}

/// The text, if it is one; its last character may be cut.
fn text_of(bytes: &[u8]) -> Option<&str> {
    match str::from_utf8(bytes) {
        Ok(text) => Some(text),
        Err(error) if error.error_len().is_none() => {
            str::from_utf8(&bytes[..error.valid_up_to()]).ok()
        }
        Err(_) => None,
    }
}

fn is_media(mime: &str) -> bool {
    let mime = mime.to_ascii_lowercase();
    ["image/", "font/", "audio/", "video/"].iter().any(|kind| mime.starts_with(kind))
}

fn is_form(body: &str) -> bool {
    let fits = |c: u8| c.is_ascii_alphanumeric() || b"-_.~%+&=[]*!'()".contains(&c);
    body.contains('=') && body.bytes().all(fits)
}
