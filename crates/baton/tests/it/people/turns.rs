//! Whose a session is, whatever comes between: who gets it back though its node was killed, and under which names people
//! take it over.

use super::{LIMIT, Scene};
use baton_api::live::ViewerMessage;
use baton_api::{Client, PassSession};
use tokio::time::timeout;

/// Gives the session to kimi.
async fn give_to_kimi(client: &Client) {
    let kimi = client.clone().as_agent(Some("kimi".parse().unwrap()));
    let to = PassSession { to: kimi.agent().cloned(), reason: None };
    kimi.pass_session("shop", &to).await.unwrap();
}

/// Waits until kimi drives the session.
async fn kimi_drives(client: &Client) {
    let mut changes = client.follow_changes().await.unwrap();
    let drives = async || {
        let driver = client.fetch_session("shop").await.unwrap().session.agent;
        driver.is_some_and(|driver| driver.agent.as_str() == "kimi")
    };
    while !drives().await {
        changes.next().await.unwrap();
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_session_goes_back_to_its_agent_though_the_node_was_killed_in_the_turn_of_a_person() {
    let mut scene = Scene::set().await;
    give_to_kimi(scene.client()).await;
    let mut ada = scene.watch(scene.client()).await;
    ada.tab().await;
    ada.take_over("ada").await;
    let taken = scene.client().fetch_session("shop").await.unwrap().session.agent.unwrap();
    assert_eq!((taken.agent.as_str(), taken.reason.as_str()), ("ada", "a person took over"));
    scene.test_node.kill_node().await.unwrap();
    drop(ada);
    scene.test_node.start_node().await.unwrap();
    timeout(LIMIT, kimi_drives(scene.client())).await.expect("kimi drives again");
    // A turn that goes on is nobody's to end.
    let mut ada = scene.watch(scene.client()).await;
    ada.tab().await;
    ada.take_over("ada").await;
    scene.strike().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_person_takes_over_under_a_name_that_no_agent_and_no_other_page_has() {
    let scene = Scene::set().await;
    give_to_kimi(scene.client()).await;
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
