//! What one node of a cluster passes on to another: what is said of a body cannot be left out, added or changed.

use baton_sync::messages::{
    BATON_CALLER, NonceCache, Untrusted, body_digest, sign_forwarded, sign_forwarded_answer,
    verify_forwarded, verify_forwarded_answer,
};
use baton_testkit::Peer;
use http::header::{CONTENT_ENCODING, CONTENT_TYPE, HOST};
use http::request::Parts;
use http::{HeaderMap, HeaderName, HeaderValue, Request, StatusCode};
use jiff::Timestamp;

const BODY: &[u8] = br#"{"to":"kimi"}"#;
const CONTENT_DIGEST: HeaderName = HeaderName::from_static("content-digest");

fn now() -> Timestamp {
    "2026-11-22T09:00:00Z".parse().unwrap()
}

fn value(text: &str) -> HeaderValue {
    HeaderValue::from_str(text).unwrap()
}

/// A request with this digest of its body, or with a stream.
fn request(digest: Option<String>) -> Parts {
    let request = Request::post("http://10.0.0.7:7420/sessions/shop/pass")
        .header(HOST, "10.0.0.7:7420")
        .header(BATON_CALLER, "e30")
        .header(CONTENT_TYPE, "application/json");
    let (mut parts, ()) = request.body(()).unwrap().into_parts();
    sign_forwarded(&Peer::new(1).identity, &mut parts, digest, now()).unwrap();
    parts
}

/// Whether `BODY` is the body of such a request; none where that is a stream.
fn verify(parts: &Parts) -> Result<Option<bool>, Untrusted> {
    let forwarded = verify_forwarded(parts, now(), &NonceCache::default(), true)?;
    Ok(forwarded.body.map(|mut body| {
        body.read(BODY);
        body.is_met()
    }))
}

#[test]
fn a_request_says_what_its_body_is_and_nobody_else_does() {
    let signed = request(Some(body_digest(BODY)));
    let input = signed.headers["signature-input"].to_str().unwrap();
    let covered = input.split_once(";created").unwrap().0;
    insta::assert_snapshot!(covered, @r#"baton=("@method" "@authority" "@path" "@query" "baton-caller" "content-type" "content-digest")"#);
    assert_eq!(verify(&signed).unwrap(), Some(true));
    assert_eq!(verify(&request(Some(body_digest(b"another")))).unwrap(), Some(false));
    assert_eq!(verify(&request(None)).unwrap(), None);

    let mut changed = signed.clone();
    changed.headers.insert(CONTENT_DIGEST, value(&body_digest(b"another")));
    assert!(matches!(verify(&changed), Err(Untrusted::Signature(_))));
    let mut without = signed.clone();
    without.headers.remove(CONTENT_DIGEST);
    assert!(matches!(verify(&without), Err(Untrusted::OtherForm { .. })));
    let mut packed = signed;
    packed.headers.insert(CONTENT_ENCODING, value("gzip"));
    assert!(matches!(verify(&packed), Err(Untrusted::OtherForm { .. })));
    let mut with = request(None);
    with.headers.insert(CONTENT_DIGEST, value(&body_digest(BODY)));
    assert!(matches!(verify(&with), Err(Untrusted::OtherForm { .. })));
}

#[test]
fn so_does_an_answer() {
    let (node, signed) = (Peer::new(2), request(Some(body_digest(BODY))));
    // What it answers is the signature of the request.
    let asked = verify_forwarded(&signed, now(), &NonceCache::default(), true).ok().unwrap();
    let answer = |digest| {
        let mut headers = HeaderMap::from_iter([(CONTENT_TYPE, value("application/json"))]);
        let (identity, status) = (&node.identity, StatusCode::OK);
        let signature = &asked.signature;
        sign_forwarded_answer(identity, status, &mut headers, digest, signature, now()).unwrap();
        headers
    };
    let verify = |headers: &HeaderMap| {
        let (status, key) = (StatusCode::OK, node.identity.key());
        let found = verify_forwarded_answer(status, headers, &asked.signature, &key, now())?;
        Ok::<_, Untrusted>(found.map(|mut body| {
            body.read(BODY);
            body.is_met()
        }))
    };
    assert_eq!(verify(&answer(Some(body_digest(BODY)))).unwrap(), Some(true));
    assert_eq!(verify(&answer(Some(body_digest(b"another")))).unwrap(), Some(false));
    assert_eq!(verify(&answer(None)).unwrap(), None);
    let mut without = answer(Some(body_digest(BODY)));
    without.remove(CONTENT_DIGEST);
    assert!(matches!(verify(&without), Err(Untrusted::OtherForm { .. })));
    let mut page = answer(Some(body_digest(BODY)));
    page.insert(CONTENT_TYPE, value("text/html"));
    assert!(matches!(verify(&page), Err(Untrusted::Signature(_))));
}
