//! A node dies in the middle of an open or of a resume: nothing is lost, and nobody is left over.

use crate::notes::{Notes, eventually, state_of};
use crate::test_nodes::test_node;
use baton_api::ListSessions;
use baton_browser::keeper::{self, Role};
use baton_playground::{TestNode, victims};
use baton_session::{Lifecycle, SessionId};
use std::path::Path;

/// Whether a keeper answers there.
async fn answers(socket: &Path) -> bool {
    keeper::connect(socket, Role::Client).await.is_ok()
}

/// The only socket of a test node, once there is one.
async fn socket_of_the_only_session(test_node: &TestNode) -> SessionId {
    let mut found = None;
    eventually("a keeper answers", async || {
        for entry in std::fs::read_dir(test_node.data().run()).into_iter().flatten().flatten() {
            let path = entry.path();
            if answers(&path).await {
                found = path.file_stem().and_then(|name| name.to_str()?.parse().ok());
            }
        }
        found.is_some()
    })
    .await;
    found.unwrap()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_open_that_was_cut_off_leaves_neither_name_nor_browser() {
    let notes = Notes::start().await;
    let mut test_node = test_node().await;
    let client = test_node.client().unwrap().clone();
    notes.stall();
    let request = notes.request("cut");
    let opening = tokio::spawn(async move { client.open_session(&request).await });
    let id = socket_of_the_only_session(&test_node).await;
    let holders = test_node.holders(id).await.unwrap();
    test_node.kill_node().await.unwrap();
    opening.await.unwrap().unwrap_err();
    notes.answer();
    test_node.start_node().await.unwrap();

    let list = test_node.client().unwrap().list_sessions(&ListSessions::default()).await.unwrap();
    let states: Vec<_> = list.items.iter().map(|session| session.state).collect();
    assert_eq!(states, [Lifecycle::Closed], "nobody was told that it had been opened");
    for (name, pid) in holders {
        eventually(&format!("the {name} is gone"), async || !victims::is_alive(pid)).await;
    }
    let again = notes.open(&test_node, "cut", "second").await;
    assert_eq!(notes.read(&test_node, again).await, "second");
    test_node.clear().await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_resume_that_was_cut_off_can_be_had_again() {
    let notes = Notes::start().await;
    let mut test_node = test_node().await;
    let id = notes.open(&test_node, "cut", "kept").await;
    test_node.client().unwrap().close_session("cut").await.unwrap();
    for round in ["first", "second"] {
        let client = test_node.client().unwrap().clone();
        notes.stall();
        let resuming = tokio::spawn(async move { client.resume_session("cut").await });
        let socket = test_node.keeper_socket(id);
        eventually("a keeper answers", async || answers(&socket).await).await;
        let holders = test_node.holders(id).await.unwrap();
        test_node.kill_node().await.unwrap();
        resuming.await.unwrap().unwrap_err();
        test_node.start_node().await.unwrap();
        assert_eq!(state_of(&test_node, "cut").await, Lifecycle::Closed, "{round}");
        for (name, pid) in holders {
            eventually(&format!("{round} {name} is gone"), async || !victims::is_alive(pid)).await;
        }
        notes.answer();
    }
    test_node.client().unwrap().resume_session("cut").await.unwrap();
    assert_eq!(notes.read(&test_node, id).await, "kept");
    let folder = test_node.data().session(id);
    let left: Vec<_> = std::fs::read_dir(folder).unwrap().map(|e| e.unwrap().file_name()).collect();
    assert!(left.iter().all(|name| !name.to_string_lossy().starts_with("profile.")), "{left:?}");
    test_node.client().unwrap().close_session("cut").await.unwrap();
    test_node.clear().await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_close_that_was_cut_off_can_be_had_again() {
    let notes = Notes::start().await;
    let mut test_node = test_node().await;
    let id = notes.open(&test_node, "cut", "kept").await;
    let holders = test_node.holders(id).await.unwrap();
    let client = test_node.client().unwrap().clone();
    let closing = tokio::spawn(async move { client.close_session("cut").await });
    let socket = test_node.keeper_socket(id);
    eventually("the keeper is ending", async || !socket.exists()).await;
    test_node.kill_node().await.unwrap();
    // It may have been told in time.
    let _ = closing.await.unwrap();
    test_node.start_node().await.unwrap();
    let state = state_of(&test_node, "cut").await;
    assert!(matches!(state, Lifecycle::Closed | Lifecycle::Recoverable), "{state}");
    for (name, pid) in holders {
        eventually(&format!("the {name} is gone"), async || !victims::is_alive(pid)).await;
    }
    test_node.client().unwrap().resume_session("cut").await.unwrap();
    assert_eq!(notes.read(&test_node, id).await, "kept");
    test_node.client().unwrap().close_session("cut").await.unwrap();
    assert_eq!(state_of(&test_node, "cut").await, Lifecycle::Closed);
    test_node.clear().await.unwrap();
}
