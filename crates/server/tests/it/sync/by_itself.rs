//! What moves without anyone asking, and how fast.

use super::pair::{Pair, again_at, edit, logged_in, login, save, seed, state, token};
use crate::fixture::{one_line, problem, until};
use baton_api::ErrorCode;
use baton_api::sync::{Movement, MovementOutcome, ResolveConflict};
use baton_server::config::Choices;
use baton_session::State;
use reqwest::Method;
use std::time::{Duration, Instant};

#[tokio::test]
async fn what_is_saved_reaches_the_peer_without_anyone_asking() {
    let pair = Pair::with(|| Choices { auto_sync: Some(true), ..Choices::default() }).await;
    let held = logged_in(&[("shop.test", "one")]);
    seed(&pair.laptop, "shop", &held).await;
    let saved = save(&pair.laptop, "shop").await;
    assert_eq!((saved.pushed.len(), saved.failed.len()), (1, 0));
    assert_eq!(saved.pushed[0].outcome, MovementOutcome::Moved);
    assert_eq!(state(&pair.cloud, "shop").await, held);
    pair.stop().await;
}

#[tokio::test]
async fn a_deletion_reaches_the_peer_without_anyone_asking() {
    let pair = Pair::with(|| Choices { auto_sync: Some(true), ..Choices::default() }).await;
    seed(&pair.laptop, "shop", &logged_in(&[("shop.test", "one")])).await;
    save(&pair.laptop, "shop").await;
    pair.cloud.admin().fetch_session("shop").await.unwrap();
    pair.laptop.admin().delete_session("shop").await.unwrap();
    until("the session is gone at the cloud", || async {
        let gone = pair.cloud.admin().fetch_session("shop").await.err()?;
        (gone.code() == Some(ErrorCode::SessionNotFound)).then_some(())
    })
    .await;
    pair.stop().await;
}

#[tokio::test]
async fn a_resolution_reaches_the_peer_without_anyone_asking() {
    let pair = Pair::with(|| Choices { auto_sync: Some(true), ..Choices::default() }).await;
    let id = seed(&pair.laptop, "shop", &logged_in(&[("shop.test", "base")])).await;
    save(&pair.laptop, "shop").await;
    edit(&pair.cloud, id, &logged_in(&[("shop.test", "cloud")])).await;
    let saved = edit(&pair.laptop, id, &logged_in(&[("shop.test", "laptop")])).await;
    assert_eq!(saved.pushed[0].outcome, MovementOutcome::Conflict);
    pair.pull("shop").await;
    let conflict = pair.laptop.admin().fetch_conflict("shop").await.unwrap().conflict;
    let mut all = [&conflict.current].into_iter().chain(&conflict.siblings);
    let theirs = all.find(|one| one.node_id == pair.cloud.id()).unwrap();
    let request = ResolveConflict { keep: theirs.rev.to_string() };
    assert_eq!(pair.cloud.admin().list_conflicts().await.unwrap().items.len(), 1);
    pair.laptop.admin().resolve_conflict("shop", &request).await.unwrap();
    until("the cloud has nothing to choose any more, and what was chosen", || async {
        let is_settled = pair.cloud.admin().list_conflicts().await.unwrap().items.is_empty();
        let chosen = token(&state(&pair.cloud, "shop").await, "shop.test").unwrap();
        (is_settled && chosen == "cloud").then_some(())
    })
    .await;
    assert_eq!(token(&state(&pair.laptop, "shop").await, "shop.test").unwrap(), "cloud");
    pair.stop().await;
}

#[tokio::test]
async fn what_was_saved_while_the_peer_was_away_reaches_it_later() {
    let often = || Choices {
        auto_sync: Some(true),
        sync_interval: Some(Duration::from_millis(50)),
        ..Choices::default()
    };
    let Pair { cloud, laptop } = Pair::with(often).await;
    let address = cloud.file.url.clone();
    let folder = cloud.stop().await;
    let held = logged_in(&[("shop.test", "one")]);
    seed(&laptop, "shop", &held).await;
    let saved = save(&laptop, "shop").await;
    assert_eq!((saved.pushed.len(), saved.failed.len()), (0, 1), "it is saved all the same");
    let cloud = again_at(folder, &address, Choices::default()).await;
    until("the session is at the cloud", || async {
        cloud.admin().fetch_session("shop").await.ok()
    })
    .await;
    assert_eq!(state(&cloud, "shop").await, held);
    cloud.stop().await;
    laptop.stop().await;
}

#[tokio::test]
async fn a_transfer_is_no_faster_than_its_limit() {
    let limit = 16_384;
    let slow = || Choices { bytes_per_second: Some(limit), ..Choices::default() };
    let pair = Pair::with(slow).await;
    seed(&pair.cloud, "shop", &logged_in(&[("shop.test", "one")])).await;
    save(&pair.cloud, "shop").await;
    let begun = Instant::now();
    let moved = pair.pull("shop").await;
    let least = Duration::from_micros(moved.bytes * 1_000_000 / limit);
    assert!(begun.elapsed() >= least, "{} bytes in {:?}", moved.bytes, begun.elapsed());
    pair.stop().await;
}

#[tokio::test]
async fn a_movement_answers_as_soon_as_it_is_wanted_and_goes_on_when_called_again() {
    let slow = || Choices { bytes_per_second: Some(150_000), ..Choices::default() };
    let pair = Pair::with(slow).await;
    // More parts than go in three bodies: cookies of each site are one.
    let mut held = State::default();
    (0..3100).for_each(|at| login(&mut held, &format!("shop{at}.test"), "one"));
    held.normalize();
    seed(&pair.cloud, "shops", &held).await;
    save(&pair.cloud, "shops").await;
    let pull = async |seconds: u64| {
        let path = format!("/sync/pull/cloud/shops?seconds={seconds}");
        pair.laptop.admin_request(Method::POST, &path).send().await.unwrap()
    };
    // One second is less than their list takes, and something moves all the same.
    let first: Movement = pull(1).await.json().await.unwrap();
    assert_eq!(first.outcome, MovementOutcome::Unfinished);
    assert!(first.parts > 0 && first.left > 0, "{first:?}");
    let gone = pair.laptop.admin().fetch_session("shops").await.unwrap_err();
    assert_eq!(gone.code(), Some(ErrorCode::SessionNotFound), "nothing half is here");
    let second: Movement = pull(80).await.json().await.unwrap();
    assert_eq!((second.outcome, second.parts), (MovementOutcome::Moved, first.left));
    assert_eq!(state(&pair.laptop, "shops").await, held);
    let refused = problem(pull(81).await).await;
    let said = "422 invalid_request: expected seconds to be a number from 1 to 80, found 81";
    assert_eq!(one_line(&refused), said);
    pair.stop().await;
}
