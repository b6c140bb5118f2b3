//! A session's files in somebody's way: each refusal says what to do, and costs the session nothing.

use crate::attach::Foreign;
use crate::notes::{Notes, state_of};
use crate::test_nodes::test_node;
use baton_api::ErrorCode;
use baton_playground::{TestNode, victims};
use baton_session::{Lifecycle, SessionId};
use std::os::unix::fs::symlink;

/// A test node with a closed session that holds a note.
async fn test_node_with_closed(notes: &Notes) -> (TestNode, SessionId) {
    let test_node = test_node().await;
    let id = notes.open(&test_node, "mine", "kept").await;
    test_node.client().unwrap().close_session("mine").await.unwrap();
    (test_node, id)
}

/// A resume that is refused with this code, and what it says.
async fn refused(test_node: &TestNode, code: ErrorCode) -> String {
    let error = test_node.client().unwrap().resume_session("mine").await.unwrap_err();
    assert_eq!(error.code(), Some(code), "{error}");
    assert_eq!(state_of(test_node, "mine").await, Lifecycle::Closed);
    let baton_api::ClientError::Problem(problem) = error else { panic!("{error}") };
    let hint = problem.hint.unwrap_or_default();
    format!("{}\n{hint}", problem.detail).replace(test_node.data().path().to_str().unwrap(), "DATA")
}

async fn resumes(test_node: &TestNode, notes: &Notes, id: SessionId) {
    test_node.client().unwrap().resume_session("mine").await.unwrap();
    assert_eq!(notes.read(test_node, id).await, "kept");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_profile_in_the_hands_of_a_person_is_left_to_that_person() {
    let notes = Notes::start().await;
    let (test_node, id) = test_node_with_closed(&notes).await;
    let profile = test_node.data().profile(id);
    let mut foreign = Foreign::start(&profile, &"about:blank".parse().unwrap()).await;
    let pid = foreign.process.id().unwrap();
    let said = refused(&test_node, ErrorCode::ProfileInUse).await;
    let said = said.replace(&id.to_string(), "ID").replace(&pid.to_string(), "PID");
    insta::assert_snapshot!(said, @r"
    the profile DATA/sessions/ID/profile is in use by process PID
    end that browser, then try again
    ");
    assert!(foreign.process.try_wait().unwrap().is_none(), "it is not ours to kill");
    victims::kill_all(&[("browser", pid)]).await.unwrap();
    resumes(&test_node, &notes, id).await;
    test_node.clear().await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_lock_of_chromium_that_names_another_host_is_in_nobodys_way() {
    let notes = Notes::start().await;
    let (test_node, id) = test_node_with_closed(&notes).await;
    let lock = test_node.data().profile(id).join("SingletonLock");
    symlink("elsewhere-42", &lock).unwrap();
    resumes(&test_node, &notes, id).await;
    let log = std::fs::read_to_string(test_node.data().keeper_log(id)).unwrap() + &test_node.log();
    assert!(log.contains("removing the lock of another host"), "{log}");
    test_node.clear().await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn something_else_in_the_place_of_socket_or_log_is_named() {
    let notes = Notes::start().await;
    let (test_node, id) = test_node_with_closed(&notes).await;
    let mut said = Vec::new();
    for path in [test_node.data().socket(id), test_node.data().keeper_log(id)] {
        let _ = std::fs::remove_file(&path);
        std::fs::create_dir(&path).unwrap();
        said.push(refused(&test_node, ErrorCode::BrowserUnavailable).await);
        std::fs::remove_dir(&path).unwrap();
    }
    let said = said.join("\n").replace(&id.to_string(), "ID");
    insta::assert_snapshot!(said, @"
    the keeper did not start: expected a socket or nothing at the keeper's path, found another file: DATA/run/ID.sock
    baton doctor says what is missing
    could not open DATA/sessions/ID/keeper.log: Is a directory (os error 21)
    baton doctor says what is missing
    ");
    resumes(&test_node, &notes, id).await;
    test_node.clear().await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_session_whose_files_were_removed_comes_back_from_its_snapshot() {
    let notes = Notes::start().await;
    let (test_node, id) = test_node_with_closed(&notes).await;
    test_node.take_files_away(id).unwrap();
    resumes(&test_node, &notes, id).await;
    test_node.clear().await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_browser_whose_socket_was_removed_is_replaced() {
    let notes = Notes::start().await;
    let mut test_node = test_node().await;
    let id = notes.open(&test_node, "mine", "kept").await;
    let holders = test_node.holders(id).await.unwrap();
    test_node.kill_node().await.unwrap();
    std::fs::remove_dir_all(test_node.data().run()).unwrap();
    test_node.start_node().await.unwrap();
    assert_eq!(state_of(&test_node, "mine").await, Lifecycle::Recoverable);
    resumes(&test_node, &notes, id).await;
    victims::are_gone(&holders).await.unwrap();
    test_node.clear().await.unwrap();
}
