//! Whoever asks and should not, or asks for what is nobody's business: refused with the reason, noted, and
//! nothing of it is kept.

use super::pair::{Pair, registration, save, seed, start, store};
use super::stranger::{About, Stranger, admitted, parcels, shop};
use super::watched::refused;
use crate::fixture::{one_line, problem};
use baton_api::Scope;
use baton_api::sync::RegisterPeer;
use baton_server::config::Choices;
use baton_session::{PeerLease, State, Term};
use baton_store::Peer;
use jiff::Timestamp;
use reqwest::Method;
use secrecy::ExposeSecret;

#[tokio::test]
async fn a_message_with_a_wrong_signature_is_refused() {
    let (node, stranger) = admitted().await;
    let mut message = stranger.offer(&stranger.publishes(&shop()));
    let other = stranger.offer(&stranger.publishes(&State::default()));
    message.parts.headers.insert("signature", other.parts.headers["signature"].clone());
    let told = refused(&node, message.refusal()).await;
    insta::assert_snapshot!(told, @r#"
    403 untrusted: a message between nodes was refused: expected a signature of node ID, found another one
    noted: stranger 1: request a message between nodes failed {"code":"untrusted"}
    "#);
    node.stop().await;
}

#[tokio::test]
async fn a_request_that_comes_once_more_is_refused() {
    let (node, stranger) = admitted().await;
    let message = stranger.give(stranger.publishes(&shop()).offer.session, &parcels(&shop()));
    assert!(message.send().await.status().is_success());
    let told = refused(&node, message.refusal()).await;
    insta::assert_snapshot!(told, @r#"
    403 untrusted: a message between nodes was refused: expected each request once, found one of node ID that came before
    noted: stranger 1: request a message between nodes failed {"code":"untrusted"}
    "#);
    node.stop().await;
}

#[tokio::test]
async fn a_key_without_the_scope_exchanges_nothing() {
    let node = start(Choices::default()).await;
    let reader = node.as_owner("local", &[Scope::Read, Scope::Drive, Scope::Reveal]).await;
    let stranger = Stranger::with(&node, 1, reader.key().expose_secret().to_owned()).await;
    let message = stranger.offer(&stranger.publishes(&shop()));
    let told = refused(&node, message.refusal()).await;
    insta::assert_snapshot!(told, @r#"
    403 forbidden: expected a key with the scope sync, found one with read, drive, reveal
    noted: local [Read, Drive, Reveal]: request POST /sync/sessions/ID/revisions denied {"code":"forbidden"}
    "#);
    node.stop().await;
}

#[tokio::test]
async fn another_node_with_the_key_of_a_known_one_is_refused() {
    let (node, stranger) = admitted().await;
    let thief = Stranger::with(&node, 2, stranger.key.clone()).await;
    let message = thief.offer(&thief.publishes(&shop()));
    let told = refused(&node, message.refusal()).await;
    insta::assert_snapshot!(told, @r#"
    403 untrusted: expected node ID, which was registered, found ID
    noted: stranger 1: peer.admit ID failed {"code":"untrusted"}
    "#);
    node.stop().await;
}

#[tokio::test]
async fn another_node_at_the_address_of_a_known_one_is_refused() {
    let pair = Pair::new().await;
    seed(&pair.cloud, "shop", &shop()).await;
    let saved = save(&pair.cloud, "shop").await;
    // As if the one that was registered had had another key.
    let laptop = store(&pair.laptop).await;
    let known = laptop.find_peer(&"local".parse().unwrap(), "cloud").await.unwrap();
    let pinned = baton_testkit::Peer::new(1).identity;
    laptop.delete_peer(&known.owner, known.node).await.unwrap();
    let other = Peer { node: pinned.node(), key: pinned.key(), ..known };
    laptop.create_peer(&other).await.unwrap();
    laptop.close().await;
    for session in ["shop".to_owned(), saved.id.to_string()] {
        let pull = async {
            pair.laptop.admin().pull_session("cloud", &session).await.unwrap_err().to_string()
        };
        let told = refused(&pair.laptop, pull).await;
        insta::allow_duplicates! {
            insta::assert_snapshot!(told.replace("shop", "ID"), @r#"
            a message between nodes was refused: expected an answer of node ID, found one of node ID
            noted: local-admin: session.pull ID failed {"code":"untrusted","peer":"ID"}
            "#);
        }
    }
    pair.stop().await;
}

#[tokio::test]
async fn a_lease_of_another_node_or_one_for_ever_is_refused() {
    let (node, stranger) = admitted().await;
    let id = seed(&node, "shop", &shop()).await;
    save(&node, "shop").await;
    let other =
        PeerLease::after(None, baton_testkit::Peer::new(2).identity.node(), Timestamp::now());
    let own = PeerLease { node: stranger.node(), ..other };
    let mut told = Vec::new();
    for peer_lease in [other, PeerLease { term: Term::from_i64(i64::MAX), ..own }] {
        told.push(refused(&node, stranger.take(id, peer_lease).refusal()).await);
    }
    insta::assert_snapshot!(told.join("\n"), @r#"
    403 untrusted: a message between nodes was refused: expected a lease of node ID, found one of ID
    noted: stranger 1: request POST /sync/sessions/ID/lease failed {"code":"untrusted"}
    403 untrusted: a message between nodes was refused: expected the term after those before, found 9223372036854775807
    noted: stranger 1: request POST /sync/sessions/ID/lease failed {"code":"untrusted"}
    "#);
    node.stop().await;
}

#[tokio::test]
async fn an_id_that_leads_elsewhere_is_refused() {
    let (node, stranger) = admitted().await;
    let mut told = Vec::new();
    for (method, path) in [
        (Method::GET, "/sync/sessions/..%2F..%2Fetc%2Fpasswd"),
        (Method::DELETE, "/sync/sessions/..%2F..%2Fetc%2Fpasswd"),
        (Method::POST, "/sync/pull/cloud/..%2F..%2Fetc%2Fpasswd"),
        (Method::POST, "/sync/push/..%2F..%2Fetc/..%2F..%2Fpasswd"),
    ] {
        let sent = node.admin_request(method, path).send();
        told.push(refused(&node, async { one_line(&problem(sent.await.unwrap()).await) }).await);
    }
    for path in ["revisions", "parts"] {
        let about = About { purpose: "an offer", session: None, plain: Some(b"{}") };
        let path = format!("/sync/sessions/..%2F..%2Fetc%2Fpasswd/{path}");
        let message = stranger.ask(Timestamp::now(), &path, about);
        told.push(refused(&node, message.refusal()).await);
    }
    let exchange = stranger.publishes(&shop());
    let plain = serde_json::to_string(&exchange).unwrap();
    let plain = plain.replace(&exchange.offer.session.to_string(), "../../etc/passwd");
    let path = format!("/sync/sessions/{}/revisions", exchange.offer.session);
    let about = About {
        purpose: "an offer",
        session: Some(exchange.offer.session),
        plain: Some(plain.as_bytes()),
    };
    told.push(refused(&node, stranger.ask(Timestamp::now(), &path, about).refusal()).await);
    insta::assert_snapshot!(told.join("\n"), @r#"
    422 invalid_request: invalid URL: Cannot parse `id` with value `../../etc/passwd`: UUID parsing failed: invalid character: found `.` at 0
    noted: local-admin: request GET /sync/sessions/..%2F..%2Fetc%2Fpasswd failed {"code":"invalid_request"}
    422 invalid_request: invalid URL: Cannot parse `id` with value `../../etc/passwd`: UUID parsing failed: invalid character: found `.` at 0
    noted: local-admin: request DELETE /sync/sessions/..%2F..%2Fetc%2Fpasswd failed {"code":"invalid_request"}
    404 peer_not_found: no peer "cloud"
    noted: local-admin: session.pull ../../etc/passwd failed {"code":"peer_not_found","peer":"cloud"}
    404 peer_not_found: no peer "../../etc"
    noted: local-admin: session.push ../../passwd failed {"code":"peer_not_found","peer":"../../etc"}
    422 invalid_request: expected the address to be that of a session by its id, found ../../etc/passwd
    noted: stranger 1: request POST /sync/sessions/..%2F..%2Fetc%2Fpasswd/revisions failed {"code":"invalid_request"}
    422 invalid_request: expected the address to be that of a session by its id, found ../../etc/passwd
    noted: stranger 1: request POST /sync/sessions/..%2F..%2Fetc%2Fpasswd/parts failed {"code":"invalid_request"}
    403 untrusted: a message between nodes was refused: expected an offer, found UUID parsing failed: invalid character: found `.` at 0 at line 1 column 38
    noted: stranger 1: request POST /sync/sessions/ID/revisions failed {"code":"untrusted"}
    "#);
    node.stop().await;
}

#[tokio::test]
async fn an_address_in_a_private_range_is_refused() {
    let (cloud, laptop) = (start(Choices::default()).await, start(Choices::default()).await);
    let there = registration(&laptop, &cloud, "cloud").await;
    let mut told = Vec::new();
    for url in ["http://10.0.0.7:7420/", "http://169.254.169.254/", "https://ada:hunter2@10.0.0.7/"]
    {
        let request = RegisterPeer { url: url.parse().unwrap(), ..there.clone() };
        let register =
            async { laptop.admin().register_peer(&request).await.unwrap_err().to_string() };
        told.push(refused(&laptop, register).await);
    }
    insta::assert_snapshot!(told.join("\n"), @r#"
    expected an address that this node may ask, found 10.0.0.7, which leads to the private address 10.0.0.7
    noted: local-admin: peer.register cloud failed {"code":"address_not_allowed","method":"apikey","url":"http://10.0.0.7:7420/"}
    expected an address that this node may ask, found 169.254.169.254, which leads to the private address 169.254.169.254
    noted: local-admin: peer.register cloud failed {"code":"address_not_allowed","method":"apikey","url":"http://169.254.169.254/"}
    expected an address that this node may ask, found one with a user or a password in it
    noted: local-admin: peer.register cloud failed {"code":"address_not_allowed","method":"apikey","url":"https://10.0.0.7/"}
    "#);
    cloud.stop().await;
    laptop.stop().await;
}
