//! A browser or a keeper that neither runs nor dies: every command ends within a limit, and the
//! session goes on from its last snapshot.

use crate::houses::house;
use crate::notes::{LIMIT, Notes, Paused, state_of};
use baton_api::{Client, ErrorCode};
use baton_playground::{House, victims};
use baton_session::{Lifecycle, SessionId};
use tokio::time::timeout;

const KEEPER: usize = 0;
const BROWSER: usize = 1;

/// A house with a session that holds a note, and who holds that.
async fn house_with(notes: &Notes, name: &str) -> (House, SessionId, [(&'static str, u32); 2]) {
    let house = house().await;
    let id = notes.open(&house, name, "kept").await;
    let holders = house.holders(id).await.unwrap();
    (house, id, holders)
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
async fn resumes(house: House, notes: &Notes, id: SessionId, holders: &[(&str, u32)]) {
    let client = house.client().unwrap().clone();
    client.resume_session("hung").await.unwrap();
    assert_dead(holders).await;
    assert_eq!(notes.read(&house, id).await, "kept");
    client.close_session("hung").await.unwrap();
    house.clear().await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_session_whose_browser_hangs_can_be_closed_and_resumed() {
    let notes = Notes::start().await;
    let (house, id, holders) = house_with(&notes, "hung").await;
    let client = house.client().unwrap().clone();
    let _paused = Paused::new(holders[BROWSER].1);
    capture_times_out(&client, "hung").await;
    timeout(2 * LIMIT, client.close_session("hung")).await.unwrap().unwrap();
    assert_dead(&holders).await;
    resumes(house, &notes, id, &holders).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_session_whose_keeper_hangs_can_be_closed_and_resumed() {
    let notes = Notes::start().await;
    let (house, id, holders) = house_with(&notes, "hung").await;
    let _paused = Paused::new(holders[KEEPER].1);
    let client = house.client().unwrap().clone();
    timeout(2 * LIMIT, client.close_session("hung")).await.unwrap().unwrap();
    assert_dead(&holders).await;
    resumes(house, &notes, id, &holders).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_session_whose_keeper_and_browser_hang_can_be_abandoned() {
    let notes = Notes::start().await;
    let (house, id, holders) = house_with(&notes, "hung").await;
    let client = house.client().unwrap().clone();
    let _paused = [Paused::new(holders[BROWSER].1), Paused::new(holders[KEEPER].1)];
    timeout(2 * LIMIT, client.abandon_session("hung")).await.unwrap().unwrap();
    assert_dead(&holders).await;
    assert!(!house.data().session(id).exists());
    house.clear().await.unwrap();
}

/// A node that is killed while one of the two hangs; the next one finds it so.
async fn a_node_finds_one_silent(which: usize) {
    let notes = Notes::start().await;
    let (mut house, id, holders) = house_with(&notes, "hung").await;
    house.kill_node().await.unwrap();
    let _paused = Paused::new(holders[which].1);
    timeout(LIMIT, house.start_node()).await.unwrap().unwrap();
    assert_eq!(state_of(&house, "hung").await, Lifecycle::Recoverable);
    resumes(house, &notes, id, &holders).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_node_that_finds_a_silent_keeper_starts_and_can_resume() {
    a_node_finds_one_silent(KEEPER).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_node_that_finds_a_silent_browser_starts_and_can_resume() {
    a_node_finds_one_silent(BROWSER).await;
}
