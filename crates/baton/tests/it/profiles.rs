//! A session's files in somebody's way: each refusal says what to do, and costs the session nothing.

use crate::attach::Foreign;
use crate::houses::house;
use crate::notes::{Notes, state_of};
use baton_api::ErrorCode;
use baton_playground::{House, victims};
use baton_session::{Lifecycle, SessionId};
use std::os::unix::fs::symlink;

/// A house with a closed session that holds a note.
async fn house_with_closed(notes: &Notes) -> (House, SessionId) {
    let house = house().await;
    let id = notes.open(&house, "mine", "kept").await;
    house.client().unwrap().close_session("mine").await.unwrap();
    (house, id)
}

/// A resume that is refused with this code, and what it says.
async fn refused(house: &House, code: ErrorCode) -> String {
    let error = house.client().unwrap().resume_session("mine").await.unwrap_err();
    assert_eq!(error.code(), Some(code), "{error}");
    assert_eq!(state_of(house, "mine").await, Lifecycle::Closed);
    let baton_api::ClientError::Problem(problem) = error else { panic!("{error}") };
    let hint = problem.hint.unwrap_or_default();
    format!("{}\n{hint}", problem.detail).replace(house.data().path().to_str().unwrap(), "DATA")
}

async fn resumes(house: &House, notes: &Notes, id: SessionId) {
    house.client().unwrap().resume_session("mine").await.unwrap();
    assert_eq!(notes.read(house, id).await, "kept");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_profile_in_the_hands_of_a_person_is_left_to_that_person() {
    let notes = Notes::start().await;
    let (house, id) = house_with_closed(&notes).await;
    let profile = house.data().profile(id);
    let mut foreign = Foreign::start(&profile, &"about:blank".parse().unwrap()).await;
    let pid = foreign.process.id().unwrap();
    let said = refused(&house, ErrorCode::ProfileInUse).await;
    let said = said.replace(&id.to_string(), "ID").replace(&pid.to_string(), "PID");
    insta::assert_snapshot!(said, @r"
    the profile DATA/sessions/ID/profile is in use by process PID
    end that browser, then try again
    ");
    assert!(foreign.process.try_wait().unwrap().is_none(), "it is not ours to kill");
    victims::kill_all(&[("browser", pid)]).await.unwrap();
    resumes(&house, &notes, id).await;
    house.clear().await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_lock_of_chromium_that_names_another_host_is_in_nobodys_way() {
    let notes = Notes::start().await;
    let (house, id) = house_with_closed(&notes).await;
    let lock = house.data().profile(id).join("SingletonLock");
    symlink("elsewhere-42", &lock).unwrap();
    resumes(&house, &notes, id).await;
    let log = std::fs::read_to_string(house.data().keeper_log(id)).unwrap() + &house.log();
    assert!(log.contains("removing the lock of another host"), "{log}");
    house.clear().await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn something_else_in_the_place_of_socket_or_log_is_named() {
    let notes = Notes::start().await;
    let (house, id) = house_with_closed(&notes).await;
    let mut said = Vec::new();
    for path in [house.data().socket(id), house.data().keeper_log(id)] {
        let _ = std::fs::remove_file(&path);
        std::fs::create_dir(&path).unwrap();
        said.push(refused(&house, ErrorCode::BrowserUnavailable).await);
        std::fs::remove_dir(&path).unwrap();
    }
    let said = said.join("\n").replace(&id.to_string(), "ID");
    insta::assert_snapshot!(said, @"
    the keeper did not start: expected a socket or nothing at the keeper's path, found another file: DATA/run/ID.sock
    baton doctor says what is missing
    could not open DATA/sessions/ID/keeper.log: Is a directory (os error 21)
    baton doctor says what is missing
    ");
    resumes(&house, &notes, id).await;
    house.clear().await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_session_whose_files_were_removed_comes_back_from_its_snapshot() {
    let notes = Notes::start().await;
    let (house, id) = house_with_closed(&notes).await;
    std::fs::remove_dir_all(house.data().session(id)).unwrap();
    resumes(&house, &notes, id).await;
    house.clear().await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_browser_whose_socket_was_removed_is_replaced() {
    let notes = Notes::start().await;
    let mut house = house().await;
    let id = notes.open(&house, "mine", "kept").await;
    let holders = house.holders(id).await.unwrap();
    house.kill_node().await.unwrap();
    std::fs::remove_dir_all(house.data().run()).unwrap();
    house.start_node().await.unwrap();
    assert_eq!(state_of(&house, "mine").await, Lifecycle::Recoverable);
    resumes(&house, &notes, id).await;
    victims::are_gone(&holders).await.unwrap();
    house.clear().await.unwrap();
}
