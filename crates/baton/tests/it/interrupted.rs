//! A node dies in the middle of an open or of a resume: nothing is lost, and nobody is left over.

use crate::houses::house;
use crate::notes::{Notes, eventually, state_of};
use baton_api::ListSessions;
use baton_browser::keeper::{self, Role};
use baton_playground::{House, victims};
use baton_session::{Lifecycle, SessionId};
use std::path::Path;

/// Whether a keeper answers there.
async fn answers(socket: &Path) -> bool {
    keeper::connect(socket, Role::Client).await.is_ok()
}

/// The only socket of a house, once there is one.
async fn socket_of_the_only_session(house: &House) -> SessionId {
    let mut found = None;
    eventually("a keeper answers", async || {
        for entry in std::fs::read_dir(house.data().run()).into_iter().flatten().flatten() {
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
    let mut house = house().await;
    let client = house.client().unwrap().clone();
    notes.stall();
    let request = notes.request("cut");
    let opening = tokio::spawn(async move { client.open_session(&request).await });
    let id = socket_of_the_only_session(&house).await;
    let holders = house.holders(id).await.unwrap();
    house.kill_node().await.unwrap();
    opening.await.unwrap().unwrap_err();
    notes.answer();
    house.start_node().await.unwrap();

    let list = house.client().unwrap().list_sessions(&ListSessions::default()).await.unwrap();
    let states: Vec<_> = list.items.iter().map(|session| session.state).collect();
    assert_eq!(states, [Lifecycle::Closed], "nobody was told that it had been opened");
    for (name, pid) in holders {
        eventually(&format!("the {name} is gone"), async || !victims::is_alive(pid)).await;
    }
    let again = notes.open(&house, "cut", "second").await;
    assert_eq!(notes.read(&house, again).await, "second");
    house.clear().await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_resume_that_was_cut_off_can_be_had_again() {
    let notes = Notes::start().await;
    let mut house = house().await;
    let id = notes.open(&house, "cut", "kept").await;
    house.client().unwrap().close_session("cut").await.unwrap();
    for round in ["first", "second"] {
        let client = house.client().unwrap().clone();
        notes.stall();
        let resuming = tokio::spawn(async move { client.resume_session("cut").await });
        let socket = house.keeper_socket(id);
        eventually("a keeper answers", async || answers(&socket).await).await;
        let holders = house.holders(id).await.unwrap();
        house.kill_node().await.unwrap();
        resuming.await.unwrap().unwrap_err();
        house.start_node().await.unwrap();
        assert_eq!(state_of(&house, "cut").await, Lifecycle::Closed, "{round}");
        for (name, pid) in holders {
            eventually(&format!("{round} {name} is gone"), async || !victims::is_alive(pid)).await;
        }
        notes.answer();
    }
    house.client().unwrap().resume_session("cut").await.unwrap();
    assert_eq!(notes.read(&house, id).await, "kept");
    let folder = house.data().session(id);
    let left: Vec<_> = std::fs::read_dir(folder).unwrap().map(|e| e.unwrap().file_name()).collect();
    assert!(left.iter().all(|name| !name.to_string_lossy().starts_with("profile.")), "{left:?}");
    house.client().unwrap().close_session("cut").await.unwrap();
    house.clear().await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_close_that_was_cut_off_can_be_had_again() {
    let notes = Notes::start().await;
    let mut house = house().await;
    let id = notes.open(&house, "cut", "kept").await;
    let holders = house.holders(id).await.unwrap();
    let client = house.client().unwrap().clone();
    let closing = tokio::spawn(async move { client.close_session("cut").await });
    let socket = house.keeper_socket(id);
    eventually("the keeper is ending", async || !socket.exists()).await;
    house.kill_node().await.unwrap();
    // It may have been told in time.
    let _ = closing.await.unwrap();
    house.start_node().await.unwrap();
    let state = state_of(&house, "cut").await;
    assert!(matches!(state, Lifecycle::Closed | Lifecycle::Recoverable), "{state}");
    for (name, pid) in holders {
        eventually(&format!("the {name} is gone"), async || !victims::is_alive(pid)).await;
    }
    house.client().unwrap().resume_session("cut").await.unwrap();
    assert_eq!(notes.read(&house, id).await, "kept");
    house.client().unwrap().close_session("cut").await.unwrap();
    assert_eq!(state_of(&house, "cut").await, Lifecycle::Closed);
    house.clear().await.unwrap();
}
