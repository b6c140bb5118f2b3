//! Deletions are remembered until every peer has heard, and nobody brings one back.

use super::pair::{Pair, again_at, know, logged_in, save, seed, start, state, token};
use crate::fixture::{Node, until};
use baton_api::ErrorCode;
use baton_api::sync::MovementOutcome;
use baton_server::config::Choices;
use baton_session::SessionId;
use std::time::Duration;

/// Deletions need not be remembered for long.
fn forgetful() -> Choices {
    Choices { deletion_age: Some(Duration::ZERO), ..Choices::default() }
}

/// A session that is saved at `node`.
async fn saved(node: &Node, name: &str) -> SessionId {
    let id = seed(node, name, &logged_in(&[("shop.test", "one")])).await;
    save(node, name).await;
    id
}

async fn delete(node: &Node, session: SessionId) {
    node.admin().delete_synced_session(&session.to_string()).await.unwrap();
}

async fn restart(node: Node, choices: Choices) -> Node {
    let address = node.file.url.clone();
    again_at(node.stop().await, &address, choices).await
}

async fn remembers(node: &Node, session: SessionId) -> bool {
    let index = node.admin().fetch_sync_index().await.unwrap();
    index.sessions.iter().any(|one| one.id == session)
}

/// A node tidies up when it starts, in the order of ids: once it has forgotten the later deletion, it
/// has decided about the earlier ones too.
async fn forgotten(node: &Node, session: SessionId) {
    until("the deletion is forgotten", || async {
        (!remembers(node, session).await).then_some(())
    })
    .await;
}

async fn is_gone(node: &Node, session: SessionId) {
    let gone = node.admin().fetch_session(&session.to_string()).await.unwrap_err();
    assert_eq!(gone.code(), Some(ErrorCode::SessionNotFound));
}

#[tokio::test]
async fn a_deletion_is_forgotten_once_the_peer_has_heard_and_not_before() {
    let pair = Pair::with(forgetful).await;
    let (kept, told) = (saved(&pair.laptop, "bank").await, saved(&pair.laptop, "shop").await);
    for session in [kept, told] {
        pair.push(&session.to_string()).await;
        delete(&pair.laptop, session).await;
    }
    assert_eq!(pair.push(&told.to_string()).await.outcome, MovementOutcome::Deleted);
    let Pair { cloud, laptop } = pair;
    let pair = Pair { laptop: restart(laptop, forgetful()).await, cloud };
    forgotten(&pair.laptop, told).await;
    assert!(remembers(&pair.laptop, kept).await, "the cloud still has it");
    // The one that heard does not bring the session back, however often it is asked.
    assert_eq!(pair.pull(&told.to_string()).await.outcome, MovementOutcome::Deleted);
    is_gone(&pair.laptop, told).await;
    is_gone(&pair.cloud, told).await;
    // Nor does the one that did not.
    assert_eq!(pair.pull(&kept.to_string()).await.outcome, MovementOutcome::Unchanged);
    is_gone(&pair.laptop, kept).await;
    pair.stop().await;
}

#[tokio::test]
async fn a_peer_that_only_asks_is_waited_for_until_it_has_asked() {
    let pair = Pair::with(forgetful).await;
    let (pulled, own) = (saved(&pair.cloud, "shop").await, saved(&pair.cloud, "bank").await);
    pair.pull("shop").await;
    delete(&pair.cloud, pulled).await;
    delete(&pair.cloud, own).await;
    // It looks, and moves nothing: of the one it has nothing, and the other it still has.
    pair.laptop.admin().list_differences("cloud").await.unwrap();
    let Pair { cloud, laptop } = pair;
    let pair = Pair { cloud: restart(cloud, forgetful()).await, laptop };
    forgotten(&pair.cloud, own).await;
    assert!(remembers(&pair.cloud, pulled).await, "the laptop has pulled it and may push it");
    assert_eq!(pair.pull(&pulled.to_string()).await.outcome, MovementOutcome::Deleted);
    is_gone(&pair.laptop, pulled).await;
    let Pair { cloud, laptop } = pair;
    let pair = Pair { cloud: restart(cloud, forgetful()).await, laptop };
    forgotten(&pair.cloud, pulled).await;
    assert!(pair.laptop.admin().list_differences("cloud").await.unwrap().items.is_empty());
    pair.stop().await;
}

#[tokio::test]
async fn a_deletion_that_everybody_knows_is_remembered_for_a_while() {
    let pair = Pair::new().await;
    let (young, old) = (saved(&pair.laptop, "shop").await, saved(&pair.laptop, "bank").await);
    for session in [young, old] {
        pair.push(&session.to_string()).await;
        delete(&pair.laptop, session).await;
        pair.push(&session.to_string()).await;
    }
    let Pair { cloud, laptop } = pair;
    let laptop = restart(laptop, Choices::default()).await;
    assert!(remembers(&laptop, young).await && remembers(&laptop, old).await);
    let laptop = restart(laptop, forgetful()).await;
    forgotten(&laptop, old).await;
    assert!(!remembers(&laptop, young).await);
    laptop.stop().await;
    cloud.stop().await;
}

#[tokio::test]
async fn a_peer_that_was_removed_is_not_waited_for() {
    let pair = Pair::with(forgetful).await;
    let session = saved(&pair.laptop, "shop").await;
    pair.push("shop").await;
    pair.laptop.admin().remove_peer("cloud").await.unwrap();
    delete(&pair.laptop, session).await;
    let Pair { cloud, laptop } = pair;
    let laptop = restart(laptop, forgetful()).await;
    forgotten(&laptop, session).await;
    // When it comes back, what it has is a session that nobody here has seen: nothing is lost.
    know(&laptop, &cloud, "cloud").await;
    laptop.admin().pull_session("cloud", &session.to_string()).await.unwrap();
    assert_eq!(token(&state(&laptop, "shop").await, "shop.test").unwrap(), "one");
    // Deleted once more, it is deleted there as well.
    delete(&laptop, session).await;
    let pushed = laptop.admin().push_session("cloud", &session.to_string()).await.unwrap();
    assert_eq!(pushed.outcome, MovementOutcome::Deleted);
    is_gone(&cloud, session).await;
    cloud.stop().await;
    laptop.stop().await;
}

#[tokio::test]
async fn a_peer_that_was_removed_and_comes_back_soon_hears_of_the_deletion() {
    let pair = Pair::new().await;
    let session = saved(&pair.laptop, "shop").await;
    pair.push("shop").await;
    pair.laptop.admin().remove_peer("cloud").await.unwrap();
    delete(&pair.laptop, session).await;
    know(&pair.laptop, &pair.cloud, "cloud").await;
    assert_eq!(pair.pull(&session.to_string()).await.outcome, MovementOutcome::Unchanged);
    is_gone(&pair.laptop, session).await;
    assert_eq!(pair.push(&session.to_string()).await.outcome, MovementOutcome::Deleted);
    is_gone(&pair.cloud, session).await;
    pair.stop().await;
}

/// The desk has it from the laptop, and was away when the cloud heard of the deletion.
#[tokio::test]
async fn a_peer_that_has_a_session_from_a_third_node_is_waited_for_too() {
    let pair = Pair::with(forgetful).await;
    let desk = start(Choices::default()).await;
    know(&desk, &pair.laptop, "laptop").await;
    know(&pair.cloud, &desk, "desk").await;
    know(&pair.cloud, &pair.laptop, "laptop").await;
    let (kept, told) = (saved(&pair.laptop, "shop").await, saved(&pair.cloud, "bank").await);
    desk.admin().pull_session("laptop", "shop").await.unwrap();
    pair.push("shop").await;
    delete(&pair.cloud, told).await;
    for peer in ["desk", "laptop"] {
        pair.cloud.admin().list_differences(peer).await.unwrap();
    }
    delete(&pair.laptop, kept).await;
    assert_eq!(pair.push(&kept.to_string()).await.outcome, MovementOutcome::Deleted);
    let Pair { cloud, laptop } = pair;
    let cloud = restart(cloud, forgetful()).await;
    forgotten(&cloud, told).await;
    assert!(remembers(&cloud, kept).await, "the desk has not heard");
    // It comes back: nothing that it has brings the session back, and it hears.
    let pulled = cloud.admin().pull_session("desk", &kept.to_string()).await.unwrap();
    assert_eq!(pulled.outcome, MovementOutcome::Unchanged);
    is_gone(&cloud, kept).await;
    let pushed = cloud.admin().push_session("desk", &kept.to_string()).await.unwrap();
    assert_eq!(pushed.outcome, MovementOutcome::Deleted);
    is_gone(&desk, kept).await;
    let cloud = restart(cloud, forgetful()).await;
    forgotten(&cloud, kept).await;
    for node in [cloud, laptop, desk] {
        node.stop().await;
    }
}
