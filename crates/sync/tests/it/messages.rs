//! Signed messages: what was changed, repeated, delayed or written by somebody else is refused.

use baton_sync::messages::{
    BATON_NODE, NonceCache, Untrusted, Verified, sign_request, verify_request,
};
use baton_testkit::Peer;
use http::header::{AUTHORIZATION, CONTENT_TYPE, HOST, IF_MATCH};
use http::request::Parts;
use http::{HeaderMap, HeaderName, HeaderValue, Method, Request, Uri};
use jiff::{Timestamp, ToSpan};
use std::path::Path;

const BODY: &[u8] = br#"{"wanted":[]}"#;

fn now() -> Timestamp {
    "2026-11-22T09:00:00Z".parse().unwrap()
}

/// A request as it comes to a node: with its path as address, and a `Host`.
struct Received {
    parts: Parts,
    body: Vec<u8>,
}

impl Received {
    /// A request of `peer`, signed now.
    fn of(peer: &Peer) -> Self {
        let request = Request::post("https://baton.example.org/sync/parts?session=7")
            .header(AUTHORIZATION, "Bearer hunter2")
            .header(CONTENT_TYPE, "application/octet-stream");
        let (mut parts, ()) = request.body(()).unwrap().into_parts();
        sign_request(&peer.identity, &peer.card, &mut parts, BODY, now()).unwrap();
        parts.uri = "/sync/parts?session=7".parse().unwrap();
        parts.headers.insert(HOST, HeaderValue::from_static("baton.example.org"));
        Self { parts, body: BODY.to_vec() }
    }

    fn verify(&self) -> Result<Verified, Untrusted> {
        self.verify_at(now())
    }

    fn verify_at(&self, at: Timestamp) -> Result<Verified, Untrusted> {
        verify_request(&self.parts, &self.body, at, &NonceCache::default())
    }

    /// Why it is refused once `change` was made.
    fn refused_after(mut self, change: impl FnOnce(&mut Self)) -> Untrusted {
        change(&mut self);
        self.verify().unwrap_err()
    }

    fn header(&self, name: &str) -> &str {
        self.parts.headers[name].to_str().unwrap()
    }

    fn replace(&mut self, name: &str, from: &str, to: &str) {
        let text = self.header(name);
        assert!(text.contains(from), "{name} holds no {from}: {text}");
        let changed = text.replace(from, to).parse().unwrap();
        self.parts.headers.insert(name.parse::<HeaderName>().unwrap(), changed);
    }

    /// Its bytes, near enough to those of HTTP/1.1.
    fn bytes(&self) -> Vec<u8> {
        let mut bytes = format!("{} {}\r\n", self.parts.method, self.parts.uri).into_bytes();
        for (name, value) in &self.parts.headers {
            bytes.extend([name.as_str().as_bytes(), b": ", value.as_bytes(), b"\r\n"].concat());
        }
        [&bytes, &b"\r\n"[..], &self.body].concat()
    }

    /// Reads such bytes; none when no HTTP server would.
    fn parse(bytes: &[u8]) -> Option<Self> {
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
        Some(Self { parts, body: bytes[end + 4..].to_vec() })
    }
}

#[test]
fn a_signed_request_says_who_wrote_it() {
    let peer = Peer::new(1);
    let request = Received::of(&peer);
    let verified = request.verify().unwrap();
    assert_eq!(verified.card, peer.card);
    assert_eq!(verified.card.node_id, peer.identity.node());
    let input = request.header("signature-input");
    let nonce = input.split_once("nonce=\"").unwrap().1.split_once('"').unwrap().0;
    let input = input.replace(nonce, "NONCE").replace(&peer.identity.key().to_string(), "KEY");
    insta::assert_snapshot!(input, @r#"baton=("@method" "@authority" "@path" "@query" "content-digest" "baton-node" "authorization" "content-type");created=1795338000;expires=1795338300;nonce="NONCE";keyid="KEY";alg="ed25519";tag="baton-sync""#);
}

#[test]
fn a_request_without_query_and_body_is_signed_too() {
    let peer = Peer::new(1);
    let (mut parts, ()) = Request::get("http://10.0.0.7:7420").body(()).unwrap().into_parts();
    sign_request(&peer.identity, &peer.card, &mut parts, b"", now()).unwrap();
    let verified = verify_request(&parts, b"", now(), &NonceCache::default()).unwrap();
    assert_eq!(verified.card, peer.card);
}

/// A fuzz target changes it. `BATON_UPDATE_DOCS=1` signs it anew.
#[test]
fn the_request_that_a_fuzz_target_changes_is_signed() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/signed.txt");
    if std::env::var_os("BATON_UPDATE_DOCS").is_some() {
        std::fs::write(&path, Received::of(&Peer::new(1)).bytes()).unwrap();
    }
    let request = Received::parse(&std::fs::read(&path).unwrap()).unwrap();
    assert_eq!(request.verify().unwrap().card.node_id, Peer::new(1).identity.node());
}

#[test]
fn any_single_changed_byte_of_a_request_has_it_refused() {
    let request = Received::of(&Peer::new(1));
    let bytes = request.bytes();
    assert!(Received::parse(&bytes).unwrap().verify().is_ok(), "unchanged it is good");
    for at in 0..bytes.len() {
        for mask in [0x01, 0x12] {
            let mut changed = bytes.clone();
            changed[at] ^= mask;
            let outcome = Received::parse(&changed).map(|request| request.verify());
            let shown = String::from_utf8_lossy(&changed[at.saturating_sub(20)..=at]).into_owned();
            assert!(!matches!(outcome, Some(Ok(_))), "byte {at} was changed: …{shown:?}");
        }
    }
}

#[test]
fn a_request_that_was_changed_is_refused_with_what_to_do() {
    let request = || Received::of(&Peer::new(1));
    let digest = "content-digest";
    let told = [
        request().refused_after(|it| it.body.push(b' ')),
        request().refused_after(|it| it.parts.method = Method::PUT),
        request().refused_after(|it| it.parts.uri = "/sync/index?session=7".parse().unwrap()),
        request().refused_after(|it| it.parts.uri = "/sync/parts".parse().unwrap()),
        request().refused_after(|it| it.replace("host", "example", "example2")),
        request().refused_after(|it| it.replace("authorization", "hunter2", "hunter3")),
        request().refused_after(|it| drop(it.parts.headers.remove(HOST))),
        request().refused_after(|it| drop(it.parts.headers.remove(digest))),
        request().refused_after(|it| drop(it.parts.headers.remove(BATON_NODE))),
        request().refused_after(|it| drop(it.parts.headers.remove("signature"))),
        request().refused_after(|it| drop(it.parts.headers.remove("signature-input"))),
        request().refused_after(|it| it.replace("signature-input", "baton=", "other=")),
    ];
    let told = told.map(|error| error.to_string()).join("\n");
    let told = told.replace(&Peer::new(1).identity.node().to_string(), "NODE");
    insta::assert_snapshot!(told, @r"
    expected a body with the digest that its header says, found another body
    send it again
    expected a signature of node NODE, found another one
    the message was changed on its way: a proxy between the nodes must pass on host, path, query and body as they are
    expected a signature of node NODE, found another one
    the message was changed on its way: a proxy between the nodes must pass on host, path, query and body as they are
    expected a signature of node NODE, found another one
    the message was changed on its way: a proxy between the nodes must pass on host, path, query and body as they are
    expected a signature of node NODE, found another one
    the message was changed on its way: a proxy between the nodes must pass on host, path, query and body as they are
    expected a signature of node NODE, found another one
    the message was changed on its way: a proxy between the nodes must pass on host, path, query and body as they are
    expected one header host in the message, found none
    a proxy between the nodes must pass all headers on as they are
    expected one header content-digest in the message, found none
    a proxy between the nodes must pass all headers on as they are
    expected one header baton-node in the message, found none
    a proxy between the nodes must pass all headers on as they are
    expected a message that a node signed, found no signature in the header signature
    only nodes of Baton are peers, and a proxy between them must pass all headers on
    expected a message that a node signed, found no signature in the header signature-input
    only nodes of Baton are peers, and a proxy between them must pass all headers on
    expected a message that a node signed, found no signature in the header signature-input
    only nodes of Baton are peers, and a proxy between them must pass all headers on
    ");
}

#[test]
fn a_header_that_came_or_went_has_a_request_refused() {
    let request = || Received::of(&Peer::new(1));
    let went = request().refused_after(|it| drop(it.parts.headers.remove(AUTHORIZATION)));
    let came = request().refused_after(|it| {
        it.parts.headers.insert(IF_MATCH, HeaderValue::from_static("\"3\""));
    });
    for refused in [went, came] {
        assert!(matches!(refused, Untrusted::OtherForm { .. }), "{refused}");
    }
    let twice = request().refused_after(|it| {
        it.parts.headers.append(AUTHORIZATION, HeaderValue::from_static("Bearer other"));
    });
    insta::assert_snapshot!(twice, @r"
    expected one header authorization in the message, found several
    a proxy between the nodes must pass all headers on as they are
    ");
}

#[test]
fn a_signature_that_covers_less_or_says_more_is_refused_though_it_is_good() {
    let request = || Received::of(&Peer::new(1));
    let input = "signature-input";
    let forms = [
        request().refused_after(|it| it.replace(input, " \"@query\"", "")),
        request()
            .refused_after(|it| it.replace(input, "\"@path\" \"@query\"", "\"@query\" \"@path\"")),
        request().refused_after(|it| it.replace(input, "\"@path\"", "\"@path\";req")),
        request().refused_after(|it| it.replace(input, "ed25519", "hmac-sha256")),
        request().refused_after(|it| it.replace(input, ";alg=\"ed25519\"", "")),
        request().refused_after(|it| it.replace(input, "baton-sync", "other")),
        request().refused_after(|it| it.replace(input, "1795338300", "1999999999")),
        request().refused_after(|it| it.replace(input, ";tag=", ";more=1;tag=")),
    ];
    for refused in forms {
        assert!(matches!(refused, Untrusted::OtherForm { .. }), "{refused}");
    }
    let unreadable = [
        request().refused_after(|it| it.replace(input, "keyid=\"", "keyid=\"x")),
        request().refused_after(|it| it.replace(input, "created=1795338000;", "")),
        request().refused_after(|it| it.replace(input, "created=1", "created=-1")),
        request().refused_after(|it| it.replace(input, ";created", "; created")),
        request().refused_after(|it| it.replace(input, "(", &"(".repeat(5000))),
        // The last digit of 64 bytes in base64 has four bits that say nothing.
        request().refused_after(|it| {
            let text = it.header("signature").to_owned();
            let digit = text.as_bytes()[text.len() - 4] as char;
            let (from, to) = (format!("{digit}==:"), format!("{}==:", twin(digit)));
            it.replace("signature", &from, &to);
        }),
    ];
    for refused in unreadable {
        assert!(matches!(refused, Untrusted::Field(_)), "{refused}");
    }
}

/// Another digit of base64 of which the first two bits are the same.
fn twin(digit: char) -> char {
    match digit {
        'A' => 'B',
        'Q' => 'R',
        'g' => 'h',
        _ => 'x',
    }
}

#[test]
fn a_proxy_may_sign_beside_us() {
    let mut request = Received::of(&Peer::new(1));
    request.parts.headers.append("signature", HeaderValue::from_static("proxy=:AAAA:"));
    let input = HeaderValue::from_static("proxy=(\"@path\");created=1");
    request.parts.headers.append("signature-input", input);
    request.verify().unwrap();
}

#[test]
fn clocks_may_be_five_minutes_apart_and_no_more() {
    let request = Received::of(&Peer::new(1));
    let at = |seconds: i64| request.verify_at(now() + seconds.seconds());
    for near in [-300, 0, 300] {
        at(near).unwrap();
    }
    let told = [at(301), at(-301)].map(|refused| refused.unwrap_err().to_string()).join("\n");
    insta::assert_snapshot!(told, @r"
    expected a message of the last 300 s, found one signed at 2026-11-22T09:00:00Z, and it is 2026-11-22T09:05:01Z here
    set the clocks of both machines: they are 301 s apart
    expected a message from at most 300 s ahead of this clock, found one signed at 2026-11-22T09:00:00Z, and it is 2026-11-22T08:54:59Z here
    set the clocks of both machines: they are 301 s apart
    ");
}

#[test]
fn a_request_that_comes_twice_is_taken_once() {
    let (peer, nonces) = (Peer::new(1), NonceCache::default());
    let request = Received::of(&peer);
    let verify =
        |request: &Received, body: &[u8]| verify_request(&request.parts, body, now(), &nonces);
    assert_eq!(verify(&request, b"forged").unwrap_err(), Untrusted::Digest, "and is not noted");
    verify(&request, BODY).unwrap();
    let twice = verify(&request, BODY).unwrap_err();
    assert_eq!(twice, Untrusted::Replayed(peer.identity.node()));
    verify(&Received::of(&peer), BODY).expect("the same request, signed anew");
}

#[test]
fn a_request_that_cannot_be_remembered_is_not_taken() {
    let (peer, nonces) = (Peer::new(1), NonceCache::new(2));
    let requests: Vec<Received> = (0..3).map(|_| Received::of(&peer)).collect();
    let verify = |at: usize| verify_request(&requests[at].parts, BODY, now(), &nonces);
    verify(0).unwrap();
    verify(1).unwrap();
    assert_eq!(verify(2).unwrap_err(), Untrusted::Crowded { limit: 2 });
    assert!(matches!(verify(0), Err(Untrusted::Replayed(_))), "nothing was forgotten for it");
}

#[test]
fn a_card_of_somebody_else_is_refused() {
    let (ada, eve) = (Peer::new(1), Peer::new(2));
    let signed_with = |change: &dyn Fn(&mut Peer)| {
        let mut peer = Peer::new(2);
        change(&mut peer);
        Received::of(&peer).verify().unwrap_err()
    };
    let told = [
        signed_with(&|eve| eve.card = ada.card.clone()),
        signed_with(&|eve| eve.card.node_id = ada.card.node_id),
        signed_with(&|eve| eve.card.seal_key.clone_from(&ada.card.seal_key)),
        signed_with(&|eve| eve.card.seal_key = "age1".to_owned()),
        signed_with(&|eve| eve.card.name = "\u{1b}[2J".to_owned()),
        signed_with(&|eve| eve.card.public_url = "file:///etc/passwd".parse().ok()),
    ];
    let told = told.map(|error| error.to_string()).join("\n");
    let told = told.replace(&ada.card.node_id.to_string(), "ADA");
    let told = told.replace(&eve.card.node_id.to_string(), "EVE");
    insta::assert_snapshot!(told, @r"
    expected a signature of node ADA, whose card came with it, found one of node EVE
    find out who runs that node before you trust it
    expected a card of node ADA with that node's key, found the key of node EVE
    find out who runs that node before you trust it
    expected a card whose node signed its seal key, found that it did not: expected a signature of node EVE, found another one
    find out who runs that node before you trust it
    expected a card with a seal key, age1…, found something else in its place
    find out who runs that node before you trust it
    expected a card with a name of 1 to 64 characters that can be shown, found another name
    find out who runs that node before you trust it
    expected a card whose addresses begin with http or https and have no path, found another
    find out who runs that node before you trust it
    ");
}

#[test]
fn what_cannot_be_signed_is_named() {
    let peer = Peer::new(1);
    let sign = |uri: &str, headers: HeaderMap| {
        let (mut parts, ()) = Request::new(()).into_parts();
        (parts.uri, parts.headers) = (uri.parse().unwrap(), headers);
        sign_request(&peer.identity, &peer.card, &mut parts, BODY, now()).unwrap_err().to_string()
    };
    let odd = [(AUTHORIZATION, HeaderValue::from_bytes(b"Bearer \xff").unwrap())];
    let told = [sign("/sync", HeaderMap::new()), sign("http://a.test/", odd.into_iter().collect())];
    insta::assert_snapshot!(told.join("\n"), @r"
    the message cannot be signed: expected one header host in the message, found none
    the message cannot be signed: expected one header authorization as a node of Baton writes it, found another form
    ");
}
