//! Headers: credentials and cookies without their values.

use super::text::{self, Kind};
use super::{HIDDEN, address, look, names};

/// The value of a header without its secrets.
pub fn redact(name: &str, value: &str) -> String {
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
        "location" | "content-location" | "referer" => address::redact(value),
        _ if is_address(value) => address::redact(value),
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
    let is_secret = look::is_random(item) || look::is_random(last) || look::is_known(item);
    if is_secret { HIDDEN.to_owned() } else { item.to_owned() }
}

fn is_address(value: &str) -> bool {
    let has_way = value.contains("://") || value.starts_with('/');
    has_way && !value.contains([' ', ',', ';'])
}
