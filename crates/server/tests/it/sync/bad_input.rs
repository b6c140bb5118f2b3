//! Sessions that no node in its right mind sends: refused with the reason, noted, and nothing of them is
//! kept.

use super::pair::{know, logged_in, save, seed, start};
use super::stranger::{Stranger, admitted, changed, parcels, published, shop};
use super::watched::refused;
use crate::fixture::{one_line, problem};
use baton_api::sync::{Exchange, Parcel, exchange};
use baton_server::config::Choices;
use baton_session::revision::{Author, Content, PartList};
use baton_session::wire::{Head, SessionFile};
use baton_session::{Part, PartHash, PartKind, Replica, parts, wire};
use jiff::{Timestamp, ToSpan};
use reqwest::Method;
use std::io::Write;

#[tokio::test]
async fn a_part_that_has_another_checksum_is_refused() {
    let (node, stranger) = admitted().await;
    let session = stranger.publishes(&shop()).offer.session;
    let part = Part { kind: PartKind::Tab, name: "0".into(), bytes: b"{}".to_vec() };
    let named = Part { bytes: b"[]".to_vec(), ..part.clone() }.reference();
    let parcel = Parcel { part: named, base: None, bytes: [&[0], &*part.bytes].concat() };
    let message = stranger.give(session, &exchange::write(&[parcel]));
    let told = refused(&node, message.refusal()).await;
    insta::assert_snapshot!(told, @r#"
    422 invalid_request: the tab part "0" was refused: expected the bytes with hash HASH, found others
    noted: stranger 1: request POST /sync/sessions/ID/parts failed {"code":"invalid_request"}
    "#);
    node.stop().await;
}

#[tokio::test]
async fn a_revision_that_has_another_checksum_than_its_parts_is_refused() {
    let (node, stranger) = admitted().await;
    let (content, list) = stranger.says(&shop());
    let checksum = wire::checksum_of(&logged_in(&[("shop.test", "two")]));
    let lie = Content { checksum, ..content };
    let exchange = published(lie, list, &stranger.author());
    let parts = stranger.give(exchange.offer.session, &parcels(&shop())).send().await;
    assert!(parts.status().is_success(), "each of its parts is in order");
    let told = refused(&node, stranger.offer(&exchange).refusal()).await;
    insta::assert_snapshot!(told, @r#"
    422 revision_refused: revision REV: expected a state with the checksum HASH, found HASH
    noted: stranger 1: session.receive ID failed {"code":"revision_refused","peer":"ID"}
    "#);
    node.stop().await;
}

#[tokio::test]
async fn a_revision_that_was_signed_before_the_order_of_cookies_counted_is_taken() {
    let (node, stranger) = admitted().await;
    let mut state = logged_in(&[("shop.test", "host")]);
    let mut domain = state.cookies[0].clone();
    domain.domain = ".shop.test".to_owned();
    state.cookies.push(domain);
    let (content, list) = stranger.says(&state);
    let checksum = wire::checksum_by_key(&state);
    assert_ne!(checksum, content.checksum);
    let exchange = published(Content { checksum, ..content }, list, &stranger.author());
    let parts = stranger.give(exchange.offer.session, &parcels(&state)).send().await;
    assert!(parts.status().is_success());
    let taken = stranger.offer(&exchange).send().await;
    assert!(taken.status().is_success(), "{}", one_line(&problem(taken).await));
    node.stop().await;
}

#[tokio::test]
async fn a_revision_with_a_part_of_one_node_only_is_refused() {
    let (node, stranger) = admitted().await;
    let (content, list) = stranger.says(&shop());
    let of_one_node =
        [(PartKind::Icon, "shop.test"), (PartKind::Unread, ""), (PartKind::SignIns, "")];
    for (kind, name) in of_one_node {
        let own = Part { kind, name: name.into(), bytes: b"own".to_vec() };
        let lines: Vec<_> = list.parts().chain([own.reference()]).collect();
        let list = PartList::new(&lines);
        let content = Content { parts: list.hash(), size: list.size(), ..content.clone() };
        let exchange = published(content, list, &stranger.author());
        let told = refused(&node, stranger.offer(&exchange).refusal()).await;
        let expected = format!(
            "422 revision_refused: revision REV: expected parts that nodes share, found the {kind} part \
             {name:?}, which is of one node only\n\
             noted: stranger 1: session.receive ID failed \
             {{\"code\":\"revision_refused\",\"peer\":\"ID\"}}"
        );
        assert_eq!(told, expected);
    }
    node.stop().await;
}

#[tokio::test]
async fn a_session_file_that_has_another_checksum_is_refused() {
    let node = start(Choices::default()).await;
    let id = "0190aaaa-0000-7000-8000-000000000001".to_owned();
    let head = Head { id, name: "shop".to_owned(), ..Head::default() };
    let file = wire::write(&SessionFile { head, state: shop() }).replace("one", "two");
    let sent = node.admin_request(Method::POST, "/sync/sessions").body(file);
    let sent = sent.header("content-type", "application/json").send();
    let told = refused(&node, async { one_line(&problem(sent.await.unwrap()).await) }).await;
    insta::assert_snapshot!(told, @r#"
    422 invalid_request: expected the session file to have the checksum HASH, found HASH: it was changed or damaged
    noted: local-admin: session.receive a session file failed {"code":"invalid_request"}
    "#);
    node.stop().await;
}

#[tokio::test]
async fn a_revision_with_a_wrong_signature_is_refused() {
    let (node, stranger) = admitted().await;
    let mut exchange = stranger.publishes(&shop());
    let head = &mut exchange.offer.heads[0];
    *head = changed(head, |form| form["revision"]["name"] = "bank".into());
    let told = refused(&node, stranger.offer(&exchange).refusal()).await;
    insta::assert_snapshot!(told, @r#"
    422 revision_refused: revision REV: expected a signature of node ID, found another one
    noted: stranger 1: session.receive ID failed {"code":"revision_refused","peer":"ID"}
    "#);
    node.stop().await;
}

#[tokio::test]
async fn a_counter_of_a_node_that_did_not_count_is_refused() {
    let (node, stranger) = admitted().await;
    let (content, list) = stranger.says(&shop());
    let other = Stranger::with(&node, 2, String::new()).await.author();
    // In the name of the other one, and signed by itself.
    let forger = Author { actor: other.actor, ..stranger.author() };
    let exchange = published(content.clone(), list.clone(), &forger);
    let own = refused(&node, stranger.offer(&exchange).refusal()).await;
    insta::assert_snapshot!(own, @r#"
    422 revision_refused: revision REV: expected its signer to be its author, found ID
    noted: stranger 1: session.receive ID failed {"code":"revision_refused","peer":"ID"}
    "#);
    // As if it had seen what the other one never wrote.
    let session = exchange.offer.session;
    let mut unseen = Replica::new(session);
    let base = unseen.edit(None, content.clone(), &other);
    let name = "bank".parse().unwrap();
    unseen.edit(Some(&base), Content { name, ..content }, &stranger.author());
    let mut offer = unseen.offer();
    offer.history.clear();
    let exchange = Exchange { offer, lists: vec![list], peer_lease: None };
    let seen = refused(&node, stranger.offer(&exchange).refusal()).await;
    insta::assert_snapshot!(seen, @r#"
    422 revision_refused: revision REV: expected a revision by ID that vouches for its counter 1, found none
    noted: stranger 1: session.receive ID failed {"code":"revision_refused","peer":"ID"}
    "#);
    node.stop().await;
}

#[tokio::test]
async fn a_session_larger_than_the_limit_is_refused_whoever_asks() {
    let small = Choices { session_bytes: Some(1024), ..Choices::default() };
    let (cloud, laptop) = (start(Choices::default()).await, start(small).await);
    let large = logged_in(&[("shop.test", &"x".repeat(2000))]);
    let stranger = Stranger::of(&laptop, 1).await;
    let pushed = refused(&laptop, stranger.offer(&stranger.publishes(&large)).refusal()).await;
    insta::assert_snapshot!(pushed, @r#"
    507 storage_full: revision REV: expected at most 1024 bytes, found 4205
    noted: stranger 1: session.receive ID failed {"code":"storage_full","peer":"ID"}
    "#);
    know(&laptop, &cloud, "cloud").await;
    let id = seed(&cloud, "shop", &large).await.to_string();
    save(&cloud, "shop").await;
    let pull = async { laptop.admin().pull_session("cloud", &id).await.unwrap_err().to_string() };
    let pulled = refused(&laptop, pull).await;
    insta::assert_snapshot!(pulled, @r#"
    revision REV: expected at most 1024 bytes, found 4209
    noted: local-admin: session.pull ID failed {"code":"storage_full","peer":"ID"}
    "#);
    cloud.stop().await;
    laptop.stop().await;
}

#[tokio::test]
async fn what_is_larger_unpacked_than_it_may_be_is_refused() {
    let (node, stranger) = admitted().await;
    let session = stranger.publishes(&shop()).offer.session;
    // A list of parts, of which a million bytes are taken.
    let list = refused(&node, stranger.fetch(session, &vec![b' '; 16 << 20]).refusal()).await;
    insta::assert_snapshot!(list, @r#"
    403 untrusted: a message between nodes was refused: expected a payload of at most 1048576 bytes, found more
    noted: stranger 1: request a message between nodes failed {"code":"untrusted"}
    "#);
    // A part that says that it has a thousand bytes.
    let part = Part { kind: PartKind::Tab, name: "0".into(), bytes: vec![b' '; 1000] }.reference();
    let frame = zstd::bulk::compress(&vec![b' '; 16 << 20], 3).unwrap();
    assert!(frame.len() < 1000 * 10);
    let parcel = Parcel { part, base: None, bytes: [&[1], &*frame].concat() };
    let message = stranger.give(session, &exchange::write(&[parcel]));
    let part = refused(&node, message.refusal()).await;
    insta::assert_snapshot!(part, @r#"
    422 invalid_request: the tab part "0" was refused: expected at most 1000 bytes in it, found more
    noted: stranger 1: request POST /sync/sessions/ID/parts failed {"code":"invalid_request"}
    "#);
    node.stop().await;
}

#[tokio::test]
async fn a_clock_far_ahead_is_refused() {
    let (node, stranger) = admitted().await;
    let message = stranger.index_at(Timestamp::now() + 1.hour());
    let signed = refused(&node, message.refusal()).await;
    insta::assert_snapshot!(signed, @r#"
    403 untrusted: a message between nodes was refused: expected a message from at most 300 s ahead of this clock, found one signed at TIME, and it is TIME here
    noted: stranger 1: request a message between nodes failed {"code":"untrusted"}
    "#);
    let (content, list) = stranger.says(&shop());
    let author = Author { now: Timestamp::now() + 25.hours(), ..stranger.author() };
    let exchange = published(content, list, &author);
    let written = refused(&node, stranger.offer(&exchange).refusal()).await;
    insta::assert_snapshot!(written, @r#"
    422 revision_refused: revision REV: expected it to be written by now, found TIME
    noted: stranger 1: session.receive ID failed {"code":"revision_refused","peer":"ID"}
    "#);
    node.stop().await;
}

#[tokio::test]
async fn parcels_that_are_none_are_refused() {
    let (node, stranger) = admitted().await;
    let session = stranger.publishes(&shop()).offer.session;
    let told = refused(&node, stranger.give(session, b"GIF89a").refusal()).await;
    insta::assert_snapshot!(told, @r#"
    422 revision_refused: expected parcels of parts, found a head that is too long
    noted: stranger 1: request POST /sync/sessions/ID/parts failed {"code":"revision_refused"}
    "#);
    // A difference from a part of which this node knows nothing.
    let part = Part { kind: PartKind::Tab, name: "0".into(), bytes: b"{}".to_vec() }.reference();
    let parcel = Parcel { part, base: Some(PartHash::of(b"[]")), bytes: b"{}".to_vec() };
    let message = stranger.give(session, &exchange::write(&[parcel]));
    let told = refused(&node, message.refusal()).await;
    insta::assert_snapshot!(told, @r#"
    422 revision_refused: expected a part of session ID, found HASH
    noted: stranger 1: request POST /sync/sessions/ID/parts failed {"code":"revision_refused"}
    "#);
    node.stop().await;
}

#[tokio::test]
async fn a_difference_that_makes_another_part_is_refused() {
    let (node, stranger) = admitted().await;
    let held = logged_in(&[("shop.test", &"one".repeat(1000))]);
    let session = seed(&node, "shop", &held).await;
    save(&node, "shop").await;
    let storage = |part: &&Part| part.kind == PartKind::LocalStorage;
    let base = parts::split(&held).iter().find(storage).unwrap().clone();
    let made = base.bytes.to_ascii_uppercase();
    let named = Part { bytes: made.iter().rev().copied().collect(), ..base.clone() }.reference();
    let mut encoder =
        zstd::stream::Encoder::with_ref_prefix(Vec::new(), 3, base.bytes.as_slice()).unwrap();
    encoder.write_all(&made).unwrap();
    let bytes = encoder.finish().unwrap();
    let parcel = Parcel { part: named, base: Some(PartHash::of(&base.bytes)), bytes };
    let message = stranger.give(session, &exchange::write(&[parcel]));
    let told = refused(&node, message.refusal()).await;
    insta::assert_snapshot!(told, @r#"
    422 invalid_request: the local-storage part "https://shop.test/" was refused: expected the bytes with hash HASH, found others
    noted: stranger 1: request POST /sync/sessions/ID/parts failed {"code":"invalid_request"}
    "#);
    node.stop().await;
}
