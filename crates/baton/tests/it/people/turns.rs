//! Whose a session is, whatever comes between: who gets it back though its node was killed, and under which names people
//! take it over.

use super::{LIMIT, Scene};
use crate::damage::Database;
use baton_api::live::ViewerMessage;
use baton_api::{Client, PassSession};
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
