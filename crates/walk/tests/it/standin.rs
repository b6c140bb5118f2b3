//! A stand-in is taken for a keeper by a real node.

use baton_api::{ErrorCode, OpenSession};
use baton_session::Lifecycle;
use baton_walk::standin::{LEASE, Pair, Shared, StandInNode, Street};
use std::collections::BTreeSet;
use tokio::runtime::Handle;
use tokio::task::spawn_blocking;

fn names(names: &[&str]) -> BTreeSet<String> {
    names.iter().map(|name| (*name).to_owned()).collect()
}

async fn story(is_shared: bool) {
    let pair = Pair::start(is_shared, &Handle::current()).await.unwrap();
    let client = pair.nodes[0].client().unwrap();
    let open = OpenSession::new("shop".parse().unwrap(), []);
    let id = client.open_session(&open).await.unwrap().session.id;
    assert!(pair.set_cookie(0, id, "one", "shop.test"));
    client.capture_session("shop").await.unwrap();
    assert!(pair.set_cookie(0, id, "two", "shop.test"), "it runs on");
    let before = pair.street.browser(0, id).unwrap().number;
    pair.street.kill(0, id).await;
    assert_eq!(pair.cookies(0, id), None);
    while client.fetch_session("shop").await.unwrap().session.state == Lifecycle::Active {
        tokio::time::sleep(std::time::Duration::from_millis(5)).await;
    }
    client.resume_session("shop").await.unwrap();
    assert_eq!(
        pair.cookies(0, id).unwrap(),
        names(&["one"]),
        "what was captured is back, and nothing else"
    );
    assert_ne!(pair.street.browser(0, id).unwrap().number, before);
    client.close_session("shop").await.unwrap();
    assert!(pair.street.places(id).is_empty());
    assert_eq!(pair.street.findings(), Vec::<String>::new());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_was_captured_comes_back_in_a_stand_in() {
    story(false).await;
    story(true).await;
}

/// Keeps everybody from the table that says which node is there.
const LOCK: &str = "lock table nodes in share row exclusive mode";

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_node_whose_word_does_not_come_through_starts_no_browser_that_ends_at_once() {
    let url = baton_postgres::create_database().unwrap();
    let shared = Shared { database: url.parse().unwrap(), lease: LEASE, member: None };
    let street = Street::new(1, true);
    let mut node = StandInNode::new(&street, 0, &Handle::current(), Some(shared)).unwrap();
    node.start(false).await.unwrap();
    let client = node.client().unwrap();
    client.open_session(&OpenSession::new("shop".parse().unwrap(), [])).await.unwrap();
    client.close_session("shop").await.unwrap();

    let locked = spawn_blocking(move || baton_postgres::begin(&url, LOCK).unwrap()).await.unwrap();
    let refused = loop {
        match client.resume_session("shop").await {
            Ok(_) => client.close_session("shop").await.map(drop).unwrap(),
            Err(error) => break error,
        }
    };
    assert_eq!(refused.code(), Some(ErrorCode::StorageUnavailable), "{refused}");
    drop(locked);
    client.resume_session("shop").await.unwrap();
    assert_eq!(street.findings(), Vec::<String>::new());
}
