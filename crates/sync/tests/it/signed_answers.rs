//! Signed answers: one that was changed, that answers something else, or that another node gave, is
//! refused.

use baton_session::{NodeKey, NodeSignature};
use baton_sync::messages::{Untrusted, sign_request, sign_response, verify_response};
use baton_testkit::Peer;
use http::header::CONTENT_TYPE;
use http::response::Parts;
use http::{HeaderValue, Request, Response, StatusCode};
use jiff::{Timestamp, ToSpan};

const BODY: &[u8] = b"sealed";

fn now() -> Timestamp {
    "2026-11-22T09:00:00Z".parse().unwrap()
}

/// The signature of a request of the node with this seed.
fn request_of(seed: u8) -> NodeSignature {
    let peer = Peer::new(seed);
    let (mut parts, ()) = Request::get("http://a.test/sync/index").body(()).unwrap().into_parts();
    sign_request(&peer.identity, &peer.card, &mut parts, b"", now()).unwrap()
}

/// The answer of `peer` to a request.
fn answer(peer: &Peer, request: &NodeSignature) -> Parts {
    let response = Response::builder().header(CONTENT_TYPE, "application/octet-stream");
    let (mut parts, ()) = response.body(()).unwrap().into_parts();
    sign_response(&peer.identity, &mut parts, BODY, request, now()).unwrap();
    parts
}

#[test]
fn an_answer_is_bound_to_its_node_and_its_request() {
    let (peer, request) = (Peer::new(2), request_of(1));
    let parts = answer(&peer, &request);
    let verify = |parts: &Parts, request: &NodeSignature, key: &NodeKey| {
        verify_response(parts, BODY, request, key, now())
    };
    verify(&parts, &request, &peer.identity.key()).unwrap();
    let input = parts.headers["signature-input"].to_str().unwrap();
    let covered = input.split_once(";created").unwrap().0;
    insta::assert_snapshot!(covered, @r#"baton=("@status" "content-digest" "content-type" "signature";req;key="baton")"#);
    let elsewhere = verify(&parts, &request_of(1), &peer.identity.key()).unwrap_err();
    assert!(
        matches!(elsewhere, Untrusted::Signature(_)),
        "it answers another request: {elsewhere}"
    );
    let pinned = Peer::new(3).identity.key();
    let told = verify(&parts, &request, &pinned).unwrap_err().to_string();
    let told = told.replace(&pinned.node_id().to_string(), "PINNED");
    let told = told.replace(&peer.identity.node().to_string(), "FOUND");
    insta::assert_snapshot!(told, @r"
    expected an answer of node PINNED, found one of node FOUND
    if the node there was set up anew, remove the peer, register it again and compare its fingerprint
    ");
}

#[test]
fn an_answer_that_was_changed_is_refused() {
    let (peer, request) = (Peer::new(2), request_of(1));
    let refused = |body: &[u8], change: &dyn Fn(&mut Parts)| {
        let mut parts = answer(&peer, &request);
        change(&mut parts);
        verify_response(&parts, body, &request, &peer.identity.key(), now()).unwrap_err()
    };
    assert_eq!(refused(b"Sealed", &|_| {}), Untrusted::Digest);
    let status = refused(BODY, &|parts| parts.status = StatusCode::NOT_FOUND);
    assert!(matches!(status, Untrusted::Signature(_)), "{status}");
    let html = HeaderValue::from_static("text/html");
    let kind = refused(BODY, &|parts| drop(parts.headers.insert(CONTENT_TYPE, html.clone())));
    assert!(matches!(kind, Untrusted::Signature(_)), "{kind}");
    let bare = refused(BODY, &|parts| parts.headers.clear());
    insta::assert_snapshot!(bare, @r"
    expected a message that a node signed, found no signature in the header signature-input
    only nodes of Baton are peers, and a proxy between them must pass all headers on
    ");
}

#[test]
fn an_answer_that_was_kept_back_is_refused() {
    let (peer, request) = (Peer::new(2), request_of(1));
    let parts = answer(&peer, &request);
    let at = |seconds: i64| {
        let now = now() + seconds.seconds();
        verify_response(&parts, BODY, &request, &peer.identity.key(), now)
    };
    at(300).unwrap();
    assert!(matches!(at(301), Err(Untrusted::Expired { .. })));
    assert!(matches!(at(-301), Err(Untrusted::FromTheFuture { .. })));
}
