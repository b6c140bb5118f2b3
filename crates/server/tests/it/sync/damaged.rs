//! A session of which parts are damaged where it lies: whoever is given it gets something whole, or is told
//! why not; and what is damaged here is mended by whoever has it.

use super::pair::{Pair, capture, edit, know, logged_in, login, save, seed, start, state};
use super::stranger::{Stranger, parcels, reply};
use super::watched::{noted, refused};
use crate::fixture::Node;
use axum::Router;
use axum::body::{Body, Bytes};
use axum::http::Response;
use axum::http::request::Parts;
use baton_api::ErrorCode;
use baton_api::sync::{MovementOutcome, exchange};
use baton_server::config::Choices;
use baton_session::{PeerLimits, State};
use baton_testkit::Peer;
use serde_json::json;
use std::process::Command;
use std::sync::Arc;

/// Changes a byte of what is sealed in some parts.
const FLIP: &str = "import sqlite3, sys
def flip(sealed):
    return sealed[:8] + bytes([sealed[8] ^ 1]) + sealed[9:]
database = sqlite3.connect(sys.argv[1], timeout=30)
database.create_function('flip', 1, flip)
print(database.execute('update parts set sealed = flip(sealed) where id in ('
    'select part from part_spans ' + sys.argv[2] + ')').rowcount)
database.commit()";

/// Which parts: those that the newest snapshot was the first to hold.
const NEWEST: &str = "where since = (select max(ordinal) from snapshots)";
const ALL: &str = "";

/// Damages parts in the database of a node, or mends what was damaged, past the program.
fn flip(node: &Node, which: &str) {
    let mut python = Command::new("python3");
    let done = python.args(["-c", FLIP]).arg(node.folder.data.database()).arg(which);
    let done = done.output().unwrap();
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    assert_ne!(String::from_utf8_lossy(&done.stdout).trim(), "0", "nothing was damaged");
}

fn shop(token: &str) -> State {
    logged_in(&[("shop.test", token)])
}

/// The session as it lies at a node, with what comes of a resume there: no browser starts, but by then the
/// session was settled and read.
async fn resumed(node: &Node) -> State {
    let failed = node.admin().resume_session("work").await.unwrap_err();
    assert_eq!(failed.code(), Some(ErrorCode::BrowserUnavailable), "{failed}");
    state(node, "work").await
}

#[tokio::test]
async fn what_is_damaged_goes_to_nobody_by_any_way() {
    let pair = Pair::new().await;
    know(&pair.cloud, &pair.laptop, "laptop").await;
    let id = seed(&pair.laptop, "work", &shop("one")).await.to_string();
    save(&pair.laptop, "work").await;
    flip(&pair.laptop, ALL);
    let (laptop, cloud) = (pair.laptop.admin(), pair.cloud.admin());
    let mut told = Vec::new();
    let push = async { laptop.push_session("cloud", &id).await.unwrap_err().to_string() };
    told.push(refused(&pair.cloud, push).await);
    let pull = async { cloud.pull_session("laptop", &id).await.unwrap_err().to_string() };
    told.push(refused(&pair.cloud, pull).await);
    let seal = async { laptop.seal_session(&id, "cloud").await.unwrap_err().to_string() };
    told.push(refused(&pair.laptop, seal).await);
    insta::assert_snapshot!(told.join("\n"), @r#"
    the preview part "" cannot be read: its seal is broken: it was changed, or it belongs elsewhere
    peer laptop refused: the preview part "" cannot be read: its seal is broken: it was changed, or it belongs elsewhere
    noted: local-admin: session.pull ID failed {"code":"peer_refused","peer":"ID"}
    expected session ID to have a snapshot that can be read, found all damaged: 4 of its 5 parts: environment, cookies shop.test, local-storage https://shop.test/ and 1 more
    noted: local-admin: session.save ID failed {"code":"storage_damaged"}
    noted: local-admin: session.export ID failed {"code":"storage_damaged","peer":"cloud"}
    "#);
    // Whole again, it goes there as if nothing had been.
    flip(&pair.laptop, ALL);
    assert_eq!(pair.push("work").await.outcome, MovementOutcome::Moved);
    assert_eq!(state(&pair.cloud, "work").await, shop("one"));
    pair.stop().await;
}

#[tokio::test]
async fn what_stands_in_for_damage_is_sealed_and_named() {
    let pair = Pair::new().await;
    know(&pair.cloud, &pair.laptop, "laptop").await;
    let id = seed(&pair.laptop, "work", &shop("one")).await;
    capture(&pair.laptop, id, &shop("two")).await;
    flip(&pair.laptop, NEWEST);
    let sealed = pair.laptop.admin().seal_session("work", "cloud").await.unwrap();
    let lost: Vec<_> = sealed.left_out.losses().collect();
    assert_eq!(lost.len(), 1, "{lost:#?}");
    assert!(lost[0].place.starts_with("snapshot "), "{lost:#?}");
    assert!(pair.cloud.admin().take_sync_file(&sealed.file).await.unwrap().changed);
    assert_eq!(state(&pair.cloud, "work").await, shop("one"));
    pair.stop().await;
}

#[tokio::test]
async fn whoever_is_given_a_part_hears_nothing_of_what_is_damaged_beside_it() {
    let pair = Pair::new().await;
    know(&pair.cloud, &pair.laptop, "laptop").await;
    limit(&pair.laptop, "cloud").await;
    let id = seed(&pair.laptop, "work", &shop("one")).await;
    let all = logged_in(&[("shop.test", "one"), ("bank.test", "secret")]);
    edit(&pair.laptop, id, &all).await;
    // What is the bank's.
    flip(&pair.laptop, NEWEST);
    let id = id.to_string();
    let pull =
        async { pair.cloud.admin().pull_session("laptop", &id).await.unwrap_err().to_string() };
    let told = refused(&pair.cloud, pull).await;
    assert!(!told.contains("bank"), "{told}");
    insta::assert_snapshot!(told, @r#"
    peer laptop refused: revision REV cannot be given: parts of it are damaged where it lies
    noted: local-admin: session.pull ID failed {"code":"peer_refused","peer":"ID"}
    "#);
    pair.stop().await;
}

/// What a peer says and gives of the only session that it has.
struct Damaged {
    peer: Peer,
    says: Vec<u8>,
    gives: Vec<u8>,
}

async fn answer(
    axum::extract::State(there): axum::extract::State<Arc<Damaged>>,
    asked: Parts,
    body: Bytes,
) -> Response<Body> {
    let (purpose, says) = match asked.uri.path().rsplit('/').next() {
        Some("fetch") => ("the parts", &there.gives),
        _ => ("the revisions", &there.says),
    };
    reply(&there.peer, &asked, &body, purpose, says)
}

#[tokio::test]
async fn a_peer_that_gives_damaged_parts_is_named_and_nothing_of_them_is_kept() {
    let node = start(Choices::default()).await;
    let stranger = Stranger::of(&node, 1).await;
    let exchange = stranger.publishes(&shop("one"));
    let session = exchange.offer.session.to_string();
    let mut damaged = exchange::read(&parcels(&shop("one"))).unwrap();
    *damaged[0].bytes.last_mut().unwrap() ^= 1;
    let (says, gives) = (serde_json::to_vec(&exchange).unwrap(), exchange::write(&damaged));
    let there = Arc::new(Damaged { peer: Peer::new(1), says, gives });
    stranger.answers(&node, Router::new().fallback(answer).with_state(there)).await;
    let pull =
        async { node.admin().pull_session("laptop", &session).await.unwrap_err().to_string() };
    let told = refused(&node, pull).await;
    insta::assert_snapshot!(told, @r#"
    peer laptop gave something else than it announced: the environment part "": expected the bytes with hash HASH, found others
    noted: local-admin: session.pull ID failed {"code":"revision_refused","peer":"ID"}
    "#);
    node.stop().await;
}

/// The other node is given the shop only.
async fn limit(node: &Node, peer: &str) {
    let limits = json!({"give": {"sites": ["shop.test"]}, "take": {"sites": ["shop.test"]}});
    let limits: PeerLimits = serde_json::from_value(limits).unwrap();
    node.admin().limit_peer(peer, &limits).await.unwrap();
}

/// A laptop that gives the cloud the shop only, which both have; and what is the cloud's own, unsaved or
/// saved, in a newest snapshot there that is damaged.
async fn with_own_damaged(is_saved: bool) -> Pair {
    let pair = Pair::new().await;
    limit(&pair.laptop, "cloud").await;
    let all = logged_in(&[("shop.test", "one"), ("bank.test", "secret")]);
    let id = seed(&pair.laptop, "work", &all).await;
    save(&pair.laptop, "work").await;
    pair.push("work").await;
    for mail in ["mine", "newer"] {
        let mut more = shop("one");
        login(&mut more, "mail.test", mail);
        capture(&pair.cloud, id, &more).await;
        if is_saved {
            save(&pair.cloud, "work").await;
        }
    }
    flip(&pair.cloud, NEWEST);
    pair
}

#[tokio::test]
async fn one_that_was_given_a_part_resumes_although_its_own_is_damaged() {
    for is_saved in [false, true] {
        let pair = with_own_damaged(is_saved).await;
        resumed(&pair.cloud).await;
        // What comes there is put over what stands in for its own.
        let id = pair.laptop.admin().fetch_session("work").await.unwrap().session.id;
        let new = logged_in(&[("shop.test", "two"), ("bank.test", "secret")]);
        edit(&pair.laptop, id, &new).await;
        pair.push("work").await;
        let mut expected = shop("two");
        login(&mut expected, "mail.test", "mine");
        expected.normalize();
        assert_eq!(resumed(&pair.cloud).await, expected);
        let log = noted(&pair.cloud).await;
        let is_named =
            |line: &String| line.contains(r#""insteadOf":"#) && line.contains(r#""lost":1"#);
        assert!(log.iter().any(is_named), "{log:#?}");
        pair.stop().await;
    }
}

#[tokio::test]
async fn what_is_damaged_here_and_whole_there_is_mended_by_what_comes() {
    let pair = Pair::new().await;
    know(&pair.cloud, &pair.laptop, "laptop").await;
    let long = "secret".repeat(600);
    let both = |shop: &str| logged_in(&[("shop.test", shop), ("bank.test", &long)]);
    let id = seed(&pair.laptop, "work", &both(&"one".repeat(1000))).await;
    save(&pair.laptop, "work").await;
    pair.push("work").await;
    flip(&pair.laptop, ALL);
    let new = both(&"two".repeat(1000));
    edit(&pair.cloud, id, &new).await;
    assert_eq!(pair.pull("work").await.outcome, MovementOutcome::Moved);
    assert_eq!(state(&pair.laptop, "work").await, new);
    // The same the other way round, where the one that gives asks.
    flip(&pair.cloud, ALL);
    let newer = both(&"three".repeat(1000));
    edit(&pair.laptop, id, &newer).await;
    assert_eq!(pair.push("work").await.outcome, MovementOutcome::Moved);
    assert_eq!(state(&pair.cloud, "work").await, newer);
    pair.stop().await;
}
