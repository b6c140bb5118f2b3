//! A browser or a keeper that neither runs nor dies: every command ends within a limit, and the
//! session goes on from its last snapshot.

use crate::notes::{LIMIT, Notes, Paused, state_of};
use crate::test_nodes::test_node;
use baton_api::{Client, ErrorCode};
use baton_playground::{TestNode, victims};
use baton_session::{Lifecycle, SessionId};
use tokio::time::timeout;

const KEEPER: usize = 0;
const BROWSER: usize = 1;

/// A test node with a session that holds a note, and who holds that.
async fn test_node_with(
    notes: &Notes,
    name: &str,
) -> (TestNode, SessionId, [(&'static str, u32); 2]) {
    let test_node = test_node().await;
    let id = notes.open(&test_node, name, "kept").await;
    let holders = test_node.holders(id).await.unwrap();
    (test_node, id, holders)
}

async fn assert_dead(holders: &[(&str, u32)]) {
    victims::are_gone(holders).await.unwrap();
}

/// A capture that cannot succeed ends, says so, and the session can still be looked at.
async fn capture_times_out(client: &Client, name: &str) {
    let refused = timeout(LIMIT, client.capture_session(name)).await.unwrap().unwrap_err();
    assert_eq!(refused.code(), Some(ErrorCode::TimedOut), "{refused}");
    let shown = timeout(LIMIT, client.fetch_session(name)).await.unwrap().unwrap();
    assert_eq!(shown.tabs.len(), 1, "the tabs of the snapshot");
}

/// Resumes a session whose holders hung: they are dead, and the note is there.
async fn resumes(test_node: TestNode, notes: &Notes, id: SessionId, holders: &[(&str, u32)]) {
    let client = test_node.client().unwrap().clone();
    client.resume_session("hung").await.unwrap();
    assert_dead(holders).await;
    assert_eq!(notes.read(&test_node, id).await, "kept");
    client.close_session("hung").await.unwrap();
    test_node.clear().await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_session_whose_browser_hangs_can_be_closed_and_resumed() {
    let notes = Notes::start().await;
    let (test_node, id, holders) = test_node_with(&notes, "hung").await;
    let client = test_node.client().unwrap().clone();
    let _paused = Paused::new(holders[BROWSER].1);
    capture_times_out(&client, "hung").await;
    timeout(LIMIT, client.close_session("hung")).await.unwrap().unwrap();
    assert_dead(&holders).await;
    resumes(test_node, &notes, id, &holders).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_session_whose_keeper_hangs_can_be_closed_and_resumed() {
    let notes = Notes::start().await;
    let (test_node, id, holders) = test_node_with(&notes, "hung").await;
    let _paused = Paused::new(holders[KEEPER].1);
    let client = test_node.client().unwrap().clone();
    timeout(LIMIT, client.close_session("hung")).await.unwrap().unwrap();
    assert_dead(&holders).await;
    resumes(test_node, &notes, id, &holders).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_session_whose_keeper_and_browser_hang_can_be_abandoned() {
    let notes = Notes::start().await;
    let (test_node, id, holders) = test_node_with(&notes, "hung").await;
    let client = test_node.client().unwrap().clone();
    let _paused = [Paused::new(holders[BROWSER].1), Paused::new(holders[KEEPER].1)];
    timeout(LIMIT, client.abandon_session("hung")).await.unwrap().unwrap();
    assert_dead(&holders).await;
    assert!(!test_node.data().session(id).exists());
    test_node.clear().await.unwrap();
}

/// A node that is killed while one of the two hangs; the next one finds it so.
async fn a_node_finds_one_silent(which: usize) {
    let notes = Notes::start().await;
    let (mut test_node, id, holders) = test_node_with(&notes, "hung").await;
    test_node.kill_node().await.unwrap();
    let _paused = Paused::new(holders[which].1);
    timeout(LIMIT, test_node.start_node()).await.unwrap().unwrap();
    assert_eq!(state_of(&test_node, "hung").await, Lifecycle::Recoverable);
    resumes(test_node, &notes, id, &holders).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_node_that_finds_a_silent_keeper_starts_and_can_resume() {
    a_node_finds_one_silent(KEEPER).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_node_that_finds_a_silent_browser_starts_and_can_resume() {
    a_node_finds_one_silent(BROWSER).await;
}
