//! A browser or a keeper that neither runs nor dies: every command ends within a limit, and the
//! session goes on from its last snapshot.

use crate::notes::{LIMIT, Notes, Paused, state_of};
use baton_api::{Client, ErrorCode};
use baton_playground::{House, victims};
use baton_session::{Lifecycle, SessionId};
use tokio::time::timeout;

async fn house_with(notes: &Notes, name: &str) -> (House, SessionId, [(&'static str, u32); 2]) {
    let mut house = House::build(env!("CARGO_BIN_EXE_baton")).unwrap();
    house.start_node().await.unwrap();
    let id = notes.open(&house, name, "kept").await;
    let holders = house.holders(id).await.unwrap();
    (house, id, holders)
}

fn assert_dead(holders: &[(&str, u32)]) {
    for (name, pid) in holders {
        assert!(!victims::is_alive(*pid), "the {name} lives on");
    }
}

/// A capture that cannot succeed ends, says so, and the session can still be looked at.
async fn capture_times_out(client: &Client, name: &str) {
    let refused = timeout(LIMIT, client.capture_session(name)).await.unwrap().unwrap_err();
    assert_eq!(refused.code(), Some(ErrorCode::TimedOut), "{refused}");
    let shown = timeout(LIMIT, client.fetch_session(name)).await.unwrap().unwrap();
    assert_eq!(shown.tabs.len(), 1, "the tabs of the snapshot");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_session_whose_browser_hangs_can_be_closed_and_resumed() {
    let notes = Notes::start().await;
    let (house, id, holders) = house_with(&notes, "hung").await;
    let client = house.client().unwrap().clone();
    let _paused = Paused::new(holders[1].1);
    capture_times_out(&client, "hung").await;
    timeout(2 * LIMIT, client.close_session("hung")).await.unwrap().unwrap();
    assert_dead(&holders);
    client.resume_session("hung").await.unwrap();
    assert_eq!(notes.read(&house, id).await, "kept");
    client.close_session("hung").await.unwrap();
    house.clear().await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_session_whose_keeper_hangs_can_be_closed_and_resumed() {
    let notes = Notes::start().await;
    let (house, id, holders) = house_with(&notes, "hung").await;
    let client = house.client().unwrap().clone();
    let _paused = Paused::new(holders[0].1);
    timeout(2 * LIMIT, client.close_session("hung")).await.unwrap().unwrap();
    assert_dead(&holders);
    client.resume_session("hung").await.unwrap();
    assert_eq!(notes.read(&house, id).await, "kept");
    client.close_session("hung").await.unwrap();
    house.clear().await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_session_whose_keeper_and_browser_hang_can_be_abandoned() {
    let notes = Notes::start().await;
    let (house, id, holders) = house_with(&notes, "hung").await;
    let client = house.client().unwrap().clone();
    let _paused = [Paused::new(holders[1].1), Paused::new(holders[0].1)];
    timeout(2 * LIMIT, client.abandon_session("hung")).await.unwrap().unwrap();
    assert_dead(&holders);
    assert!(!house.data().session(id).exists());
    house.clear().await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_node_that_finds_a_silent_keeper_starts_and_can_resume() {
    let notes = Notes::start().await;
    let (mut house, id, holders) = house_with(&notes, "hung").await;
    house.kill_node().await.unwrap();
    let _paused = Paused::new(holders[0].1);
    timeout(LIMIT, house.start_node()).await.unwrap().unwrap();
    assert_eq!(state_of(&house, "hung").await, Lifecycle::Recoverable);
    house.client().unwrap().resume_session("hung").await.unwrap();
    assert_dead(&holders);
    assert_eq!(notes.read(&house, id).await, "kept");
    house.client().unwrap().close_session("hung").await.unwrap();
    house.clear().await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_node_that_finds_a_silent_browser_starts_and_can_resume() {
    let notes = Notes::start().await;
    let (mut house, id, holders) = house_with(&notes, "hung").await;
    house.kill_node().await.unwrap();
    let _paused = Paused::new(holders[1].1);
    timeout(LIMIT, house.start_node()).await.unwrap().unwrap();
    assert_eq!(state_of(&house, "hung").await, Lifecycle::Recoverable);
    house.client().unwrap().resume_session("hung").await.unwrap();
    assert_dead(&holders);
    assert_eq!(notes.read(&house, id).await, "kept");
    house.client().unwrap().close_session("hung").await.unwrap();
    house.clear().await.unwrap();
}
