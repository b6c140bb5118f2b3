//! What is deleted stays deleted, unless somebody went on with it who had not heard.

use super::pair::{Pair, again_at, edit, know, logged_in, save, seed, start, state, store, token};
use crate::fixture::{Node, until};
use baton_api::ErrorCode;
use baton_api::sync::MovementOutcome;
use baton_server::config::Choices;
use baton_session::{Lifecycle, SessionId};
use baton_sync::ConflictResolution;
use jiff::Timestamp;
use std::fs;
use std::path::PathBuf;

#[tokio::test]
async fn a_deletion_reaches_the_other_node_and_nothing_brings_the_session_back() {
    let pair = Pair::new().await;
    let id = seed(&pair.cloud, "shop", &logged_in(&[("shop.test", "one")])).await;
    save(&pair.cloud, "shop").await;
    pair.pull("shop").await;
    pair.laptop.admin().delete_synced_session(&id.to_string()).await.unwrap();
    // The cloud still has it, and what it has is older.
    assert_eq!(pair.pull(&id.to_string()).await.outcome, MovementOutcome::Unchanged);
    let gone = pair.laptop.admin().fetch_session("shop").await.unwrap_err();
    assert_eq!(gone.code(), Some(ErrorCode::SessionNotFound));
    assert_eq!(pair.push(&id.to_string()).await.outcome, MovementOutcome::Deleted);
    let gone = pair.cloud.admin().fetch_session("shop").await.unwrap_err();
    assert_eq!(gone.code(), Some(ErrorCode::SessionNotFound));
    assert_eq!(pair.pull(&id.to_string()).await.outcome, MovementOutcome::Unchanged);
    pair.stop().await;
}

#[tokio::test]
async fn who_went_on_without_hearing_of_a_deletion_keeps_the_session() {
    let pair = Pair::new().await;
    let id = seed(&pair.cloud, "shop", &logged_in(&[("shop.test", "one")])).await;
    save(&pair.cloud, "shop").await;
    pair.pull("shop").await;
    pair.laptop.admin().delete_synced_session(&id.to_string()).await.unwrap();
    edit(&pair.cloud, id, &logged_in(&[("shop.test", "two")])).await;
    assert_eq!(pair.pull(&id.to_string()).await.outcome, MovementOutcome::Conflict);
    assert_eq!(token(&state(&pair.laptop, "shop").await, "shop.test").unwrap(), "two");
    pair.stop().await;
}

/// The laptop stands on what was deleted, and a person chooses there: what lives counts all the same.
#[tokio::test]
async fn where_a_person_chooses_a_deletion_takes_nothing_with_it_that_had_not_heard() {
    let by_hand = Some(ConflictResolution::Manual);
    let pair = Pair::with(|| Choices { conflict_resolution: by_hand, ..Choices::default() }).await;
    let desk = start(Choices::default()).await;
    know(&desk, &pair.cloud, "cloud").await;
    let id = seed(&pair.cloud, "shop", &logged_in(&[("shop.test", "one")])).await;
    save(&pair.cloud, "shop").await;
    desk.admin().pull_session("cloud", "shop").await.unwrap();
    edit(&pair.cloud, id, &logged_in(&[("shop.test", "two")])).await;
    pair.pull("shop").await;
    pair.cloud.admin().delete_synced_session(&id.to_string()).await.unwrap();
    edit(&desk, id, &logged_in(&[("shop.test", "desk")])).await;
    let pushed = desk.admin().push_session("cloud", "shop").await.unwrap();
    assert_eq!(pushed.outcome, MovementOutcome::Conflict);
    assert_eq!(pair.pull("shop").await.outcome, MovementOutcome::Conflict);
    for node in [&pair.cloud, &pair.laptop, &desk] {
        assert_eq!(token(&state(node, "shop").await, "shop.test").unwrap(), "desk");
    }
    // Whoever asks gets all that is promised.
    let again = pair.push("shop").await;
    assert_eq!((again.outcome, again.parts), (MovementOutcome::Conflict, 0));
    pair.stop().await;
    desk.stop().await;
}

#[tokio::test]
async fn a_saved_session_that_is_deleted_here_is_deleted_at_its_peers_too() {
    let pair = Pair::new().await;
    let id = seed(&pair.laptop, "shop", &logged_in(&[("shop.test", "one")])).await;
    save(&pair.laptop, "shop").await;
    pair.push("shop").await;
    pair.laptop.admin().delete_session("shop").await.unwrap();
    assert_eq!(pair.push(&id.to_string()).await.outcome, MovementOutcome::Deleted);
    assert!(pair.cloud.admin().fetch_session("shop").await.is_err());
    pair.stop().await;
}

/// Puts a profile with cookies there, as a browser leaves it.
fn leave_profile(node: &Node, session: SessionId) -> PathBuf {
    let profile = node.folder.data.profile(session);
    fs::create_dir_all(profile.join("Default")).unwrap();
    fs::write(profile.join("Default/Cookies"), "cookies").unwrap();
    profile
}

#[tokio::test]
async fn a_peers_deletion_takes_the_session_only_after_its_profile() {
    let pair = Pair::new().await;
    let id = seed(&pair.cloud, "shop", &logged_in(&[("shop.test", "one")])).await;
    save(&pair.cloud, "shop").await;
    pair.pull("shop").await;
    let profile = leave_profile(&pair.laptop, id);
    // A lock that cannot be read may be that of a browser.
    let lock = profile.join("SingletonLock");
    fs::write(&lock, "no link").unwrap();
    pair.cloud.admin().delete_synced_session(&id.to_string()).await.unwrap();
    pair.laptop.admin().pull_session("cloud", &id.to_string()).await.unwrap_err();
    assert!(profile.join("Default/Cookies").exists());
    pair.laptop.admin().fetch_session("shop").await.expect("who has a profile has a row");
    fs::remove_file(&lock).unwrap();
    pair.pull(&id.to_string()).await;
    let gone = pair.laptop.admin().fetch_session("shop").await.unwrap_err();
    assert_eq!(gone.code(), Some(ErrorCode::SessionNotFound));
    assert!(!profile.exists());
    pair.stop().await;
}

#[tokio::test]
async fn what_a_deleted_session_left_is_removed_at_the_next_start() {
    let node = start(Choices::default()).await;
    let id = seed(&node, "shop", &logged_in(&[("shop.test", "one")])).await;
    let unsaved = seed(&node, "bank", &logged_in(&[("bank.test", "one")])).await;
    save(&node, "shop").await;
    node.admin().delete_session("shop").await.unwrap();
    // A node that died before it had removed them, and a session of another database.
    let left = leave_profile(&node, id);
    let kept = leave_profile(&node, unsaved);
    let foreign = leave_profile(&node, "01890000-0000-7000-8000-00000000000a".parse().unwrap());
    let (address, folder) = (node.file.url.clone(), node.stop().await);
    let node = again_at(folder, &address, Choices::default()).await;
    let gone = async || (!left.parent().unwrap().exists()).then_some(());
    until("what was left is gone", gone).await;
    assert!(kept.join("Default/Cookies").exists(), "its session lives");
    assert!(foreign.join("Default/Cookies").exists(), "nobody here knows whose it is");
    node.stop().await;
}

/// What the row of a session says of it, as it would if its browser ran or ended.
pub(super) async fn becomes(node: &Node, session: SessionId, from: Lifecycle, to: Lifecycle) {
    let store = store(node).await;
    let home = node.admin().list_peers().await.unwrap().this.node_id;
    store.update_lifecycle(session, home, from, to, Timestamp::now()).await.unwrap();
    store.close().await;
}

#[tokio::test]
async fn what_is_saved_after_a_deletion_came_for_it_counts_beside_the_deletion() {
    let pair = Pair::new().await;
    let id = seed(&pair.cloud, "shop", &logged_in(&[("shop.test", "one")])).await;
    let first = save(&pair.cloud, "shop").await;
    pair.pull("shop").await;
    // It runs here while the deletion comes: nobody touches it.
    becomes(&pair.laptop, id, Lifecycle::Recoverable, Lifecycle::Active).await;
    pair.cloud.admin().delete_synced_session(&id.to_string()).await.unwrap();
    pair.pull(&id.to_string()).await;
    let told = pair.laptop.admin().fetch_session("shop").await.unwrap().shared.unwrap();
    assert!(told.deleted, "{told:?}");
    becomes(&pair.laptop, id, Lifecycle::Active, Lifecycle::Closed).await;
    let saved = save(&pair.laptop, "shop").await;
    assert!(!saved.unchanged && saved.rev != first.rev, "{saved:?}");
    assert_eq!(saved.conflicts.len(), 1, "somebody deleted it");
    let told = pair.laptop.admin().fetch_session("shop").await.unwrap().shared.unwrap();
    assert!(!told.deleted, "{told:?}");
    // Neither what comes from the peer nor a resume takes away what was acknowledged.
    pair.pull(&id.to_string()).await;
    let failed = pair.laptop.admin().resume_session("shop").await.unwrap_err();
    assert_eq!(failed.code(), Some(ErrorCode::BrowserUnavailable));
    assert_eq!(token(&state(&pair.laptop, "shop").await, "shop.test").unwrap(), "one");
    // Whoever saves the same once more says nothing new.
    assert!(save(&pair.laptop, "shop").await.unchanged);
    assert_eq!(pair.push(&id.to_string()).await.outcome, MovementOutcome::Conflict);
    assert_eq!(token(&state(&pair.cloud, "shop").await, "shop.test").unwrap(), "one");
    pair.stop().await;
}

#[tokio::test]
async fn what_ran_and_was_not_saved_goes_with_the_deletion_that_had_seen_it() {
    let pair = Pair::new().await;
    let id = seed(&pair.cloud, "shop", &logged_in(&[("shop.test", "one")])).await;
    save(&pair.cloud, "shop").await;
    pair.pull("shop").await;
    becomes(&pair.laptop, id, Lifecycle::Recoverable, Lifecycle::Active).await;
    pair.cloud.admin().delete_synced_session(&id.to_string()).await.unwrap();
    pair.pull(&id.to_string()).await;
    becomes(&pair.laptop, id, Lifecycle::Active, Lifecycle::Closed).await;
    let gone = pair.laptop.admin().resume_session("shop").await.unwrap_err();
    assert_eq!(gone.code(), Some(ErrorCode::SessionNotFound));
    pair.stop().await;
}
