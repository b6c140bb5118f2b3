//! Headers: credentials and cookies without their values.

use crate::HIDDEN;
use crate::address::{self, is_address};
use crate::kind::Kind;
use crate::look::Look;
use crate::names::Weight;
use crate::work::Work;

/// Names with a telling word whose values are none: who may cache what, and how a connection is made
/// (RFC 9110, RFC 6455, RFC 7838 and the registry of fields).
const ORDINARY: [&str; 22] = [
    "accept",
    "accept-encoding",
    "accept-language",
    "access-control-allow-headers",
    "access-control-expose-headers",
    "access-control-request-headers",
    "cache-control",
    "connection",
    "content-length",
    "content-security-policy",
    "content-security-policy-report-only",
    "content-type",
    "cross-origin-opener-policy",
    "date",
    "etag",
    "idempotency-key",
    "if-none-match",
    "permissions-policy",
    "sec-websocket-accept",
    "sec-websocket-key",
    "surrogate-key",
    "vary",
];

/// Who the other side is, as a server before this one saw it (RFC 9440).
const CERTIFICATES: [&str; 4] =
    ["client-cert", "client-cert-chain", "x-client-cert", "x-forwarded-client-cert"];

/// What keys in names of headers are of that are no secrets.
const OTHER_KEYS: [&str; 20] = [
    "cache",
    "correlation",
    "dedup",
    "foreign",
    "group",
    "hash",
    "idempotency",
    "item",
    "message",
    "object",
    "partition",
    "primary",
    "public",
    "rate",
    "request",
    "route",
    "routing",
    "shard",
    "surrogate",
    "tag",
];

/// The value of a header without its secrets.
pub(crate) fn redact(work: &mut Work<'_>, name: &str, value: &str) -> String {
    let name = name.to_ascii_lowercase();
    let lines = value.split('\n').map(|line| redact_line(work, &name, line));
    lines.collect::<Vec<_>>().join("\n")
}

fn redact_line(work: &mut Work<'_>, name: &str, value: &str) -> String {
    if value.is_empty() || value == HIDDEN {
        return value.to_owned();
    }
    match name {
        "cookie" | "cookie2" => {
            let all: Vec<String> =
                value.split("; ").map(|cookie| hide_value(work, cookie)).collect();
            work.without_seen(&all.join("; ")).into_owned()
        }
        "set-cookie" | "set-cookie2" => {
            let shown = match value.split_once(';') {
                Some((cookie, rest)) => {
                    format!("{};{}", hide_value(work, cookie), attributes(work, rest))
                }
                None => hide_value(work, value),
            };
            work.without_seen(&shown).into_owned()
        }
        "sec-websocket-protocol" => {
            let all: Vec<String> = value.split(", ").map(|item| protocol(work, item)).collect();
            work.without_seen(&all.join(", ")).into_owned()
        }
        "authentication-info" | "proxy-authentication-info" => HIDDEN.to_owned(),
        _ if CERTIFICATES.contains(&name) => HIDDEN.to_owned(),
        "www-authenticate" | "proxy-authenticate" => work.text(value, Kind::Data).into_owned(),
        "location" | "content-location" | "referer" => address::redact(work, value),
        "content-security-policy" | "content-security-policy-report-only" => policy(work, value),
        _ if ORDINARY.contains(&name) => work.text(value, Kind::Name).into_owned(),
        _ if name.ends_with("authorization") => hide_credentials(work, value),
        _ => other(work, name, value),
    }
}

fn other(work: &mut Work<'_>, name: &str, value: &str) -> String {
    let is_key = |name: &str| !name.split('-').any(|word| OTHER_KEYS.contains(&word));
    // `X-ClickHouse-Key`: what a service calls its key.
    let is_own_key =
        name.strip_prefix("x-").and_then(|name| name.strip_suffix("-key")).is_some_and(is_key);
    let weight = if is_own_key { Weight::Secret } else { work.weigh(name) };
    if work.hides(weight, value) {
        return HIDDEN.to_owned();
    }
    if is_address(value) && !value.contains([',', ';']) {
        return address::redact(work, value);
    }
    // A name that may be a secret's, with pairs: `key=…; v=2`.
    let last = value.rsplit(['=', ' ', ';', ',']).next().unwrap_or_default();
    if weight == Weight::Telling && last.len() >= 16 && Look::of(last) >= Look::Opaque {
        work.note(last);
        return HIDDEN.to_owned();
    }
    work.value(value).into_owned()
}

/// The attributes of a cookie, and further cookies that were joined to it by commas.
fn attributes(work: &mut Work<'_>, rest: &str) -> String {
    let mut parts = rest.split(", ");
    let mut out = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        out.push_str(", ");
        let name = part.split_once('=').map_or("", |(name, _)| name);
        let is_cookie = !name.is_empty() && !name.contains([' ', ';']);
        out.push_str(&if is_cookie {
            redact_line(work, "set-cookie", part)
        } else {
            part.to_owned()
        });
    }
    out
}

/// `name=value` without the value; a cookie without a name is all value.
fn hide_value(work: &mut Work<'_>, cookie: &str) -> String {
    match cookie.split_once('=') {
        Some((_, "")) => cookie.to_owned(),
        Some((name, value)) => {
            work.note(value.trim_matches('"'));
            format!("{name}={HIDDEN}")
        }
        None if cookie.is_empty() => String::new(),
        None => {
            work.note(cookie);
            HIDDEN.to_owned()
        }
    }
}

/// `Bearer …` keeps its first word.
fn hide_credentials(work: &mut Work<'_>, value: &str) -> String {
    match value.split_once(' ') {
        Some((scheme, rest)) if scheme.bytes().all(|c| c.is_ascii_alphabetic() || c == b'-') => {
            work.note(rest);
            format!("{scheme} {HIDDEN}")
        }
        _ => {
            work.note(value);
            HIDDEN.to_owned()
        }
    }
}

/// Pages without other means give their ticket as a subprotocol.
fn protocol(work: &mut Work<'_>, item: &str) -> String {
    let last = item.rsplit('.').next().unwrap_or_default();
    let is_secret = work.hides(Weight::Telling, item) || work.hides(Weight::Telling, last);
    if is_secret { HIDDEN.to_owned() } else { item.to_owned() }
}

/// The nonces of scripts (CSP, section 2.3.1).
fn policy(work: &mut Work<'_>, value: &str) -> String {
    let mut out = String::with_capacity(value.len());
    let mut rest = value;
    while let Some((before, behind)) = rest.split_once("'nonce-") {
        let (nonce, after) = behind.split_once('\'').unwrap_or((behind, ""));
        work.note(nonce);
        out.push_str(before);
        out.push_str("'nonce-");
        out.push_str(HIDDEN);
        out.push_str(if behind.len() > nonce.len() { "'" } else { "" });
        rest = after;
    }
    out.push_str(rest);
    if out.contains("://") && out.contains('?') {
        // Where violations are told is an address with all that it may have.
        let sources = out.split_inclusive([' ', ';']).map(|source| {
            let bare = source.trim_end_matches([' ', ';']);
            let end = &source[bare.len()..];
            if bare.contains('?') { address::redact(work, bare) + end } else { source.to_owned() }
        });
        out = sources.collect();
    }
    work.text(&out, Kind::Name).into_owned()
}
