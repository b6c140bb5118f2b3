//! A verb that fails has changed nothing, here or elsewhere: what can be seen ahead is seen before anybody
//! is asked to close a browser.

use crate::login::{SHOWN, log_in};
use crate::notes::{eventually, state_of, wait_for_state};
use crate::two_nodes::{Story, baton, introduce, introduce_back, said};
use baton_playground::TestNode;
use baton_session::{Lifecycle, SessionId};

/// The session runs at the cloud, is saved there, and known at the hosted node.
async fn begin() -> (Story, SessionId) {
    let story = Story::begin().await;
    story.cloud.open("shop", [story.url()]).await.unwrap();
    assert!(story.at::<bool>(&story.cloud, &log_in("first")).await);
    baton(&story.cloud, &["save", "shop"]).success();
    baton(&story.hosted, &["sync", "run"]).success();
    let id = story.cloud.client().unwrap().fetch_session("shop").await.unwrap().session.id;
    (story, id)
}

/// What somebody sees who is refused.
pub(crate) fn refused(test_node: &TestNode, args: &[&str]) -> String {
    let run = baton(test_node, args).failure();
    let said = [&run.get_output().stdout, &run.get_output().stderr];
    said.map(|said| String::from_utf8_lossy(said).into_owned()).concat()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_fails_here_closes_nobodys_browser_elsewhere() {
    let (mut story, id) = begin().await;
    let runs_on = story.cloud.holders(id).await.unwrap();
    let reference = id.to_string();

    // A snapshot that there is not.
    let told = refused(&story.hosted, &["sessions", "rollback", "shop", "--to", "0199"]);
    assert!(told.contains("snapshot"), "{told}");
    // A login that there is not, at a node that could start a browser.
    let args = ["sandbox", "create", "--session", &reference, "--domain", "bank.test"];
    let told = refused(&story.hosted, &args);
    assert!(told.contains("expected a login for bank.test, found neither"), "{told}");
    // A name that somebody has.
    baton(&story.hosted, &["sessions", "close", "shop"]).success();
    story.hosted.open("shop", []).await.unwrap();
    let told = refused(&story.hosted, &["sessions", "resume", &reference]);
    assert!(told.contains("name"), "{told}");
    let other = story.hosted.client().unwrap().fetch_session("shop").await.unwrap().session.id;
    baton(&story.hosted, &["sessions", "abandon", &other.to_string()]).success();
    // A browser that there is not.
    story.hosted.kill_node().await.unwrap();
    let mut hosted = story.hosted.with("BATON_BROWSER", "/nowhere/chromium");
    hosted.start_node().await.unwrap();
    let told = refused(&hosted, &["sessions", "resume", &reference]);
    assert!(told.contains("browser"), "{told}");
    story.hosted = hosted;

    assert_eq!(state_of(&story.cloud, "shop").await, Lifecycle::Active);
    assert_eq!(story.cloud.holders(id).await.unwrap(), runs_on, "its browser was never touched");
    let audit = said(&baton(&story.cloud, &["audit"]).success()).to_string();
    assert!(!audit.contains("session.hand_over"), "{audit}");
    story.end().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_node_that_comes_back_leaves_a_session_where_a_peer_has_taken_it() {
    let mut story = Story::of_strangers().await;
    story.cloud.kill_node().await.unwrap();
    story.cloud = story.cloud.with("BATON_AUTO_REHYDRATE", "true");
    story.cloud.start_node().await.unwrap();
    introduce(&story.cloud, "cloud", &story.hosted);
    introduce_back(&story.hosted, "hosted", &story.cloud);
    story.cloud.open("shop", [story.url()]).await.unwrap();
    story.cloud.open("own", [story.url()]).await.unwrap();
    assert!(story.at::<bool>(&story.cloud, &log_in("first")).await);
    baton(&story.cloud, &["save", "shop"]).success();
    baton(&story.hosted, &["sync", "run"]).success();
    let client = story.cloud.client().unwrap();
    let id = client.fetch_session("shop").await.unwrap().session.id;
    let own = client.fetch_session("own").await.unwrap().session.id;

    // The machine of the cloud goes down, and the hosted node takes over.
    story.cloud.kill_everybody(&[id, own]).await.unwrap();
    let resumed = said(&baton(&story.hosted, &["sessions", "resume", "shop"]).success());
    assert_eq!(resumed["handed"]["how"], "taken_over", "{resumed}");
    let there = "localStorage.setItem('token', 'hosted'); true";
    assert!(story.at::<bool>(&story.hosted, there).await);
    let runs_on = story.hosted.holders(id).await.unwrap();

    // What is its own comes back by itself; what is elsewhere stays there, and nobody is disturbed.
    story.cloud.start_node().await.unwrap();
    wait_for_state(&story.cloud, "own", Lifecycle::Active).await;
    let client = story.cloud.client().unwrap().clone();
    eventually("the session was left alone, and that is noted", async || {
        let log = client.list_audit(&baton_api::ListAudit::default()).await.unwrap().items;
        let left = |entry: &baton_api::AuditView| {
            entry.action == "session.resume" && entry.subject == id.to_string()
        };
        log.iter().any(left)
    })
    .await;
    assert_eq!(state_of(&story.cloud, "shop").await, Lifecycle::Recoverable);
    assert!(story.cloud.holders(id).await.is_err(), "no browser was started for it");
    assert_eq!(story.hosted.holders(id).await.unwrap(), runs_on);
    let shown = story.at::<String>(&story.hosted, SHOWN).await;
    assert!(shown.contains("hosted"), "{shown}");
    // Whoever asks for it gets it.
    let resumed = said(&baton(&story.cloud, &["sessions", "resume", "shop"]).success());
    assert_eq!(resumed["handed"]["how"], "handed_over", "{resumed}");
    let shown = story.at::<String>(&story.cloud, SHOWN).await;
    assert!(shown.contains("hosted"), "{shown}");
    story.end().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_capture_that_somebody_asked_for_is_in_the_log() {
    let test_node = crate::test_nodes::test_node().await;
    test_node.open("shop", []).await.unwrap();
    baton(&test_node, &["sessions", "capture", "shop"]).success();
    let log =
        test_node.client().unwrap().list_audit(&baton_api::ListAudit::default()).await.unwrap();
    let actions = log.items.iter().map(|entry| entry.action.as_str());
    let actions: Vec<_> = actions.filter(|action| action.starts_with("session.")).collect();
    assert_eq!(actions, ["session.capture", "session.open"]);
    test_node.clear().await.unwrap();
}
