//! Whose a session is, whatever comes between: who gets it back though its node was killed, and under which names people
//! take it over.

use super::{LIMIT, Scene};
use crate::damage::Database;
use axum::Router;
use axum::routing::get;
use baton_api::live::ViewerMessage;
use baton_api::{Client, ListAudit, PassSession};
use baton_playground::Site;
use std::io::Write;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use tokio::time::timeout;

/// Gives the session to kimi.
async fn give_to_kimi(client: &Client, session: &str) {
    let kimi = client.clone().as_agent(Some("kimi".parse().unwrap()));
    let to = PassSession { to: kimi.agent().cloned(), reason: None };
    kimi.pass_session(session, &to).await.unwrap();
}

/// Who drives a session.
async fn driver(client: &Client, session: &str) -> Option<String> {
    let driver = client.fetch_session(session).await.unwrap().session.agent;
    driver.map(|driver| driver.agent.to_string())
}

/// Waits until kimi drives the session.
async fn kimi_drives(client: &Client, session: &str) {
    let mut changes = client.follow_changes().await.unwrap();
    while driver(client, session).await.as_deref() != Some("kimi") {
        changes.next().await.unwrap();
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_session_goes_back_to_its_agent_though_the_node_was_killed_in_the_turn_of_a_person() {
    let mut scene = Scene::set().await;
    give_to_kimi(scene.client(), "shop").await;
    let mut ada = scene.watch(scene.client()).await;
    ada.tab().await;
    ada.take_over("ada").await;
    let taken = scene.client().fetch_session("shop").await.unwrap().session.agent.unwrap();
    assert_eq!((taken.agent.as_str(), taken.reason.as_str()), ("ada", "a person took over"));
    scene.test_node.kill_node().await.unwrap();
    drop(ada);
    scene.test_node.start_node().await.unwrap();
    timeout(LIMIT, kimi_drives(scene.client(), "shop")).await.expect("kimi drives again");
    scene.strike().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_turn_that_goes_on_is_not_ended_with_one_that_was_left_behind() {
    let scene = Scene::set().await;
    let page = scene.site.url("/").unwrap();
    let left = scene.test_node.open("left", [page]).await.unwrap();
    for session in ["shop", "left"] {
        give_to_kimi(scene.client(), session).await;
    }
    let mut ada = scene.watch(scene.client()).await;
    ada.tab().await;
    ada.take_over("ada").await;
    let database = Database::Sqlite(scene.test_node.data().database());
    let looked = async {
        // When the second one is given back, all were looked at with the first one.
        for _ in 0..2 {
            database.leave_turn(left, "bea");
            kimi_drives(scene.client(), "left").await;
        }
    };
    let goes_on = async {
        while ada.closed.is_none() && ada.driver.as_ref().is_some_and(|driver| driver.own) {
            ada.hear().await;
        }
    };
    tokio::select! {
        looked = timeout(LIMIT, looked) => looked.expect("kimi drives again"),
        () = goes_on => panic!("expected the turn to go on, found its end"),
    }
    assert_eq!(driver(scene.client(), "shop").await.as_deref(), Some("ada"));
    scene.strike().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_person_takes_over_under_a_name_that_no_agent_and_no_other_page_has() {
    let scene = Scene::set().await;
    give_to_kimi(scene.client(), "shop").await;
    let mut ada = scene.watch(scene.client()).await;
    ada.tab().await;
    let take = |name: &str| ViewerMessage::TakeOver { name: name.parse().unwrap(), reason: None };
    ada.say(&take("kimi")).await;
    ada.until("a refusal", |viewer| !viewer.refused.is_empty()).await;
    insta::assert_snapshot!(ada.refused[0], @"take_over: expected name to be one that no agent of this session has, found kimi");
    ada.take_over("ada").await;
    let mut again = scene.watch(scene.client()).await;
    again.tab().await;
    again.say(&take("ada")).await;
    again.until("a refusal", |viewer| !viewer.refused.is_empty()).await;
    insta::assert_snapshot!(again.refused[0], @r"
    take_over: expected name to be one that has not taken the session over yet, found ada, who drives it from another page
    give it back there first
    ");
    scene.strike().await;
}

/// A message and a farewell in one piece (RFC 6455, section 5.2), masked with nothing: the node hears the second before
/// anything was done about the first.
fn last_words(message: &ViewerMessage) -> Vec<u8> {
    let text = serde_json::to_string(message).unwrap();
    let length = u8::try_from(text.len()).unwrap();
    assert!(length < 126, "a length of one byte");
    let mask = [0; 4];
    [&[0x81, 0x80 | length][..], &mask, text.as_bytes(), &[0x88, 0x80], &mask].concat()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_said_with_a_farewell_is_not_done_in_the_turn_of_another() {
    let scene = Scene::set().await;
    give_to_kimi(scene.client(), "shop").await;
    let visits = Arc::new(AtomicU32::new(0));
    let counted = Arc::clone(&visits);
    let elsewhere = async move || {
        counted.fetch_add(1, Ordering::SeqCst);
        "elsewhere"
    };
    let elsewhere = Site::start(Router::new().route("/", get(elsewhere))).await.unwrap();
    let mut ada = scene.watch(scene.client()).await;
    let tab = ada.tab().await;
    ada.take_over("ada").await;
    let go = ViewerMessage::Go { tab, url: elsewhere.url("/").unwrap().to_string() };
    ada.below.write_all(&last_words(&go)).unwrap();
    let client = scene.client();
    // The end of a visit is noted once all is over that was under way in it.
    let left = async {
        loop {
            let log = client.list_audit(&ListAudit::default()).await.unwrap().items;
            if log.iter().any(|entry| entry.action == "session.watch_end") {
                break;
            }
        }
    };
    timeout(LIMIT, left).await.expect("the end of the visit");
    assert_eq!(driver(client, "shop").await.as_deref(), Some("kimi"));
    assert_eq!(visits.load(Ordering::SeqCst), 0, "kimi's tab stays where it was");
    scene.strike().await;
}
