//! A request of a peer, with its signature headers: what is taken for signed is what was signed.

#![no_main]

use baton_sync::messages::{verify_request, BATON_NODE, NonceCache};
use http::header::{AUTHORIZATION, CONTENT_TYPE, HOST, HeaderName};
use http::{Method, Request, Uri, request::Parts};
use jiff::Timestamp;
use libfuzzer_sys::fuzz_target;
use std::sync::LazyLock;

/// The only request that the peer has ever signed, and when.
const SIGNED: &[u8] = include_bytes!("../signed.txt");
const SIGNED_AT: i64 = 1_795_338_000;
/// What its signature covers, beside its method, its address and its body.
const COVERED: [HeaderName; 3] = [AUTHORIZATION, CONTENT_TYPE, BATON_NODE];

static OURS: LazyLock<(Parts, Vec<u8>)> =
    LazyLock::new(|| parse(SIGNED).expect("expected a request in signed.txt"));

fuzz_target!(|input: &[u8]| {
    let (ours, our_body) = &*OURS;
    let Some((parts, body)) = parse(input) else { return };
    let at = Timestamp::from_second(SIGNED_AT).expect("a time");
    if verify_request(&parts, &body, at, &NonceCache::default()).is_err() {
        return assert_ne!(input, SIGNED, "what was signed is refused");
    }
    assert_eq!((&parts.method, &parts.uri, &body), (&ours.method, &ours.uri, our_body));
    assert_eq!(lines(&parts, &HOST), lines(ours, &HOST));
    for name in COVERED {
        assert_eq!(lines(&parts, &name), lines(ours, &name), "{name}");
    }
});

/// The lines of a header, as a verifier reads them: without case where the name of a host has none.
fn lines(parts: &Parts, name: &HeaderName) -> Vec<String> {
    let lines = parts.headers.get_all(name).iter();
    lines
        .map(|line| String::from_utf8_lossy(line.as_bytes()).trim().to_owned())
        .map(|line| if name == HOST { line.to_ascii_lowercase() } else { line })
        .collect()
}

/// Reads a request as HTTP/1.1 writes it; none when no server would.
fn parse(bytes: &[u8]) -> Option<(Parts, Vec<u8>)> {
    let end = bytes.windows(4).position(|window| window == b"\r\n\r\n")?;
    let head = std::str::from_utf8(&bytes[..end]).ok()?;
    let mut lines = head.split("\r\n");
    let (method, target) = lines.next()?.split_once(' ')?;
    let (mut parts, ()) = Request::new(()).into_parts();
    parts.method = Method::from_bytes(method.as_bytes()).ok()?;
    parts.uri = target.parse::<Uri>().ok()?;
    for line in lines {
        let (name, value) = line.split_once(':')?;
        parts.headers.append(name.parse::<HeaderName>().ok()?, value.trim().parse().ok()?);
    }
    Some((parts, bytes[end + 4..].to_vec()))
}
