//! Certificates: what a browser can be told to trust, what is refused, and how they travel.

use crate::arbitrary::certificate;
use baton_session::certificate::{BadCertificate, MAX_CERTIFICATES, MAX_PEM};
use baton_session::state::checksum;
use baton_session::{Certificate, Environment, Part, PartKind, State, diff, parts};
use serde_json::json;

const AUTHORITY: &str = include_str!("fixtures/certificates/authority.pem");
const SERVER: &str = include_str!("fixtures/certificates/server.pem");
const NAMELESS: &str = include_str!("fixtures/certificates/nameless.pem");

fn state(certificates: impl IntoIterator<Item = Certificate>) -> State {
    let certificates = certificates.into_iter().collect();
    let locale = Some("ja-JP".to_owned());
    State {
        environment: Environment { certificates, locale, ..Environment::default() },
        ..State::default()
    }
}

fn refused(text: &str) -> String {
    Certificate::read_all(text).unwrap_err().to_string()
}

#[test]
fn an_authority_and_a_server_with_names_say_what_they_are() {
    let both = Certificate::read_all(&format!("for people\n{AUTHORITY}\n{SERVER}")).unwrap();
    let [authority, server] = &both[..] else { panic!("{both:?}") };
    let (authority, server) = (authority.view(), server.view());
    assert_eq!(authority.subject, "O=Example, CN=Staging CA");
    assert!(authority.authority && authority.names.is_empty());
    assert!(!server.authority);
    assert_eq!(server.names, ["dev.test", "*.dev.test", "127.0.0.1", "::1"]);
    assert!(server.ends > Some("2100-01-01T00:00:00Z".parse().unwrap()));
}

#[test]
fn what_no_browser_could_trust_is_refused_and_so_is_a_key() {
    let key = format!("{AUTHORITY}-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n");
    let request = "-----BEGIN CERTIFICATE REQUEST-----\nAAAA\n-----END CERTIFICATE REQUEST-----\n";
    let no_x509 = "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n";
    insta::assert_snapshot!(refused(&key), @"
    expected certificates alone, found a private key
    certificates are carried and shown with the session: give a file without the key
    ");
    insta::assert_snapshot!(refused(request), @r#"expected certificates alone, found "CERTIFICATE REQUEST""#);
    insta::assert_snapshot!(refused(NAMELESS), @r#"
    expected an authority (basicConstraints CA:TRUE) or a server with names (subjectAltName), found "CN=old.test", which is neither
    browsers do not look at the common name: openssl req -x509 … -addext subjectAltName=DNS:HOST
    "#);
    insta::assert_snapshot!(refused("0\u{82}"), @"
    expected certificates in PEM (-----BEGIN CERTIFICATE-----), found none
    openssl x509 -inform der -in FILE makes PEM of a binary one
    ");
    insta::assert_snapshot!(refused(&AUTHORITY[..200]), @"expected whole PEM, found a block without an end");
    insta::assert_snapshot!(refused(&AUTHORITY.replace("MII", "M*I")), @"expected whole PEM, found a block that is no base64");
    assert!(matches!(Certificate::read_all(no_x509), Err(BadCertificate::X509(_))));
    let many = AUTHORITY.repeat(MAX_CERTIFICATES + 1);
    assert_eq!(Certificate::read_all(&many), Err(BadCertificate::TooMany));
    let long = " ".repeat(MAX_PEM + 1);
    assert!(matches!(Certificate::read_all(&long), Err(BadCertificate::TooLong { .. })));
    assert_eq!(
        format!("{AUTHORITY}{SERVER}").parse::<Certificate>(),
        Err(BadCertificate::Several(2))
    );
}

#[test]
fn bytes_after_the_end_of_a_certificate_are_refused() {
    let mut der = certificate(0).der().to_vec();
    der.push(0);
    let error = Certificate::of_der(der).unwrap_err().to_string();
    insta::assert_snapshot!(error, @"expected an X.509 certificate, found something else: 1 bytes after its end");
}

#[test]
fn a_certificate_is_written_as_it_was_read() {
    let pem = AUTHORITY.parse::<Certificate>().unwrap().to_string();
    assert_eq!(pem, AUTHORITY);
    let read: Environment = serde_json::from_value(json!({ "certificates": [AUTHORITY] })).unwrap();
    assert_eq!(serde_json::to_value(read).unwrap(), json!({ "certificates": [AUTHORITY] }));
}

/// A Baton that knows no certificates reads the part of the environment, and refuses the other kind.
#[test]
fn certificates_are_a_part_of_their_own_and_a_state_without_them_has_none() {
    let with = parts::split(&state([certificate(0), certificate(1)]));
    let without = parts::split(&state([]));
    let kinds = |all: &[Part]| all.iter().map(|part| part.kind).collect::<Vec<_>>();
    assert_eq!(kinds(&with), [PartKind::Environment, PartKind::Certificates]);
    assert_eq!(kinds(&without), [PartKind::Environment]);
    assert_eq!(with[0].bytes, without[0].bytes);
    let backwards = with.iter().rev();
    assert_eq!(parts::join(backwards).0, parts::join(&with).0);
    assert_eq!(parts::join(&with).0.environment.certificates.len(), 2);
}

#[test]
fn their_order_means_nothing_and_each_counts_once() {
    let one = state([certificate(0), certificate(1)]);
    let other = state([certificate(1), certificate(0), certificate(1)]);
    assert_eq!(checksum(&one), checksum(&other));
    assert_eq!(parts::split(&one), parts::split(&other));
    assert_ne!(checksum(&one), checksum(&state([certificate(0)])));
}

#[test]
fn a_difference_names_whom_the_browser_trusts_now() {
    let diff = diff::diff(&state([certificate(0)]), &state([certificate(1)]));
    let lines: Vec<_> =
        diff.items.iter().map(|item| format!("{} {:?}", &item.place[..12], item.change)).collect();
    assert_eq!(lines.len(), 2);
    assert_eq!((diff.added, diff.removed), (1, 1));
    assert!(diff.items.iter().any(|item| item.place.ends_with("O=Example, CN=Staging CA")));
}
