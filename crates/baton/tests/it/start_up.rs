//! What a node does at its start with the sessions that it finds.

use crate::notes::{Notes, eventually, state_of, wait_for_state};
use crate::test_nodes::{build, start, test_node};
use baton_api::ListAudit;
use baton_playground::victims;
use baton_session::Lifecycle;
use std::os::unix::fs::symlink;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn sessions_come_back_by_themselves_when_that_is_asked_for() {
    let notes = Notes::start().await;
    let mut test_node = start(build().with("BATON_AUTO_REHYDRATE", "true")).await;
    let ids =
        [notes.open(&test_node, "a", "of a").await, notes.open(&test_node, "b", "of b").await];
    let locked = notes.open(&test_node, "locked", "of locked").await;
    test_node.kill_everybody(&[ids[0], ids[1], locked]).await.unwrap();
    let lock = test_node.data().profile(locked).join("SingletonLock");
    if let Err(error) = std::fs::remove_file(&lock) {
        // The browser that heard first that its keeper is gone ended by itself.
        assert_eq!(error.kind(), std::io::ErrorKind::NotFound, "{error}");
    }
    symlink("elsewhere-42", &lock).unwrap();
    // As a browser of ours holds it that runs in another container.
    let claim = test_node.data().profile(locked).join("baton.lock");
    let claim = std::fs::File::options().write(true).open(claim).unwrap();
    claim.lock().unwrap();

    test_node.start_node().await.unwrap();
    for name in ["a", "b"] {
        wait_for_state(&test_node, name, Lifecycle::Active).await;
    }
    let client = test_node.client().unwrap().clone();
    eventually("all three were tried", async || {
        let log = client.list_audit(&ListAudit::default()).await.unwrap().items;
        log.iter().filter(|entry| entry.action == "session.resume").count() == 4
    })
    .await;
    // What is seen ahead is no failure of the session: nothing of it was touched.
    assert_eq!(state_of(&test_node, "locked").await, Lifecycle::Recoverable);
    assert_eq!(notes.read(&test_node, ids[0]).await, "of a");
    assert_eq!(notes.read(&test_node, ids[1]).await, "of b");

    let log = test_node.client().unwrap().list_audit(&ListAudit::default()).await.unwrap().items;
    let who = |actor: &str| actor.split(' ').next().unwrap_or_default().to_owned();
    let lines: Vec<String> = log
        .iter()
        .rev()
        .filter(|entry| entry.action.starts_with("session."))
        .map(|e| format!("{}: {} {} {}", who(&e.actor), e.action, e.outcome, e.detail))
        .collect();
    insta::assert_snapshot!(lines.join("\n"), @r#"
    local-admin: session.open done {"name":"a"}
    local-admin: session.capture done {"name":"a"}
    local-admin: session.open done {"name":"b"}
    local-admin: session.capture done {"name":"b"}
    local-admin: session.open done {"name":"locked"}
    local-admin: session.capture done {"name":"locked"}
    node: session.resume done {"name":"a"}
    node: session.resume done {"name":"b"}
    node: session.resume failed {"code":"profile_in_use","name":"locked"}
    node: session.resume failed {"code":"profile_in_use","name":"locked"}
    "#);

    // A person brings it back as soon as nothing is in the way.
    drop(claim);
    test_node.client().unwrap().resume_session("locked").await.unwrap();
    assert_eq!(notes.read(&test_node, locked).await, "of locked");
    test_node.clear().await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_old_session_is_stale_and_a_person_can_resume_it() {
    let notes = Notes::start().await;
    let mut test_node =
        start(build().with("BATON_MAX_SESSION_AGE", "1").with("BATON_AUTO_REHYDRATE", "true"))
            .await;
    let id = notes.open(&test_node, "old", "kept").await;
    let taken = test_node.client().unwrap().fetch_session("old").await.unwrap().snapshot.unwrap();
    test_node.kill_everybody(&[id]).await.unwrap();
    let age = || jiff::Timestamp::now().duration_since(taken.taken_at);
    eventually("the snapshot is old", async || age().as_secs() >= 2).await;
    test_node.start_node().await.unwrap();
    assert_eq!(state_of(&test_node, "old").await, Lifecycle::Stale);
    test_node.client().unwrap().resume_session("old").await.unwrap();
    assert_eq!(notes.read(&test_node, id).await, "kept");
    test_node.clear().await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_a_page_wrote_while_no_node_ran_is_captured() {
    let notes = Notes::start().await;
    let mut test_node = start(build().with("BATON_SESSION_SNAPSHOT_INTERVAL", "2")).await;
    let id = notes.open(&test_node, "gap", "before").await;
    test_node.kill_node().await.unwrap();
    notes.write(&test_node, id, "meanwhile").await;
    test_node.start_node().await.unwrap();
    let client = test_node.client().unwrap().clone();
    eventually("the note is in a snapshot", async || {
        let state = client.fetch_state("gap", true).await.unwrap().state;
        state.to_string().contains("meanwhile")
    })
    .await;
    test_node.clear().await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_node_with_another_database_ends_nobodys_browser() {
    let notes = Notes::start().await;
    let mut test_node = test_node().await;
    let id = notes.open(&test_node, "mine", "kept").await;
    let holders = test_node.holders(id).await.unwrap();
    test_node.kill_node().await.unwrap();
    let elsewhere = test_node.data().path().join("other.db");
    let mut test_node = test_node.with("BATON_DATABASE_URL", elsewhere);
    test_node.start_node().await.unwrap();
    assert!(holders.iter().all(|(_, pid)| victims::is_alive(*pid)));
    test_node.kill_node().await.unwrap();
    let usual = test_node.data().database();
    let mut test_node = test_node.with("BATON_DATABASE_URL", usual);
    test_node.start_node().await.unwrap();
    assert_eq!(state_of(&test_node, "mine").await, Lifecycle::Active);
    assert_eq!(test_node.holders(id).await.unwrap(), holders);
    test_node.clear().await.unwrap();
}
