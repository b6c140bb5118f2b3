//! How sync stands, followed at one of two nodes: what changes at either is told by itself.

use super::pair::{Pair, again_at, edit, know, logged_in, login, save, seed, start};
use crate::fixture::Node;
use baton_api::client::SyncEvents;
use baton_api::sync::{Difference, PeerStanding, PeerStatus, ResolveConflict, SyncStanding};
use baton_api::{ErrorCode, Scope};
use baton_server::config::Choices;
use baton_session::{PeerLimits, State};
use serde_json::json;
use std::time::Duration;
use tokio::time::timeout;

/// How long it may take until what happened is told.
const LIMIT: Duration = Duration::from_mins(1);

/// Waits until it stands as expected: changes that come together are told as one.
async fn until(events: &mut SyncEvents, is: impl Fn(&SyncStanding) -> bool) -> SyncStanding {
    let mut last = None;
    let told = async {
        loop {
            let standing = events.next().await.unwrap().expect("the node is there");
            if is(&standing) {
                return standing;
            }
            last = Some(standing);
        }
    };
    let told = timeout(LIMIT, told).await;
    told.unwrap_or_else(|_| {
        let words: Option<Vec<_>> = last.map(|last| last.peers.iter().map(word).collect());
        panic!("expected another word, the last ones were {words:?}")
    })
}

/// How the first peer stands: `?` when nobody knows, `offline`, or what differs.
fn word(peer: &PeerStanding) -> String {
    if peer.problem.is_some() {
        assert_eq!(peer.peer.status, PeerStatus::Offline);
        return "offline".to_owned();
    }
    let Some(items) = &peer.items else { return "?".to_owned() };
    let word = |difference| match difference {
        Difference::Same => "same",
        Difference::Ahead => "ahead",
        Difference::Behind => "behind",
        Difference::Diverged => "diverged",
    };
    let words: Vec<_> =
        items.iter().map(|item| format!("{} {}", item.name, word(item.difference))).collect();
    words.join(", ")
}

fn stands(expected: &str) -> impl Fn(&SyncStanding) -> bool {
    move |standing| standing.peers.len() == 1 && word(&standing.peers[0]) == expected
}

fn shop(token: &str) -> State {
    logged_in(&[("shop.test", token)])
}

#[tokio::test]
async fn what_changes_here_and_there_is_told_without_being_asked_for() {
    let pair = Pair::new().await;
    let mut events = pair.laptop.admin().follow_sync(true).await.unwrap();
    until(&mut events, stands("")).await;

    let session = seed(&pair.laptop, "shop", &shop("one")).await;
    save(&pair.laptop, "shop").await;
    until(&mut events, stands("shop ahead")).await;
    pair.push("shop").await;
    until(&mut events, stands("")).await;

    edit(&pair.cloud, session, &shop("two")).await;
    let told = until(&mut events, stands("shop behind")).await;
    assert_eq!(told.peers[0].peer.status, PeerStatus::Online);
    edit(&pair.laptop, session, &shop("three")).await;
    until(&mut events, stands("shop diverged")).await;
    pair.pull("shop").await;
    let told = until(&mut events, |standing| !standing.conflicts.is_empty()).await;
    assert_eq!(told.conflicts[0].name.as_str(), "shop");

    let keep = ResolveConflict { keep: told.conflicts[0].siblings[0].rev.to_string() };
    pair.laptop.admin().resolve_conflict("shop", &keep).await.unwrap();
    until(&mut events, |standing| standing.conflicts.is_empty()).await;
    pair.push("shop").await;
    until(&mut events, stands("")).await;
    pair.cloud.admin().delete_synced_session(&session.to_string()).await.unwrap();
    until(&mut events, stands("shop behind")).await;
    pair.stop().await;
}

#[tokio::test]
async fn a_peer_that_goes_and_comes_back_is_told() {
    let Pair { cloud, laptop } = Pair::new().await;
    let mut events = laptop.admin().follow_sync(true).await.unwrap();
    until(&mut events, stands("")).await;
    let address = cloud.file.url.clone();
    let folder = cloud.stop().await;
    let told = until(&mut events, stands("offline")).await;
    let problem = told.peers[0].problem.clone().unwrap();
    assert_eq!(problem.code, ErrorCode::PeerUnreachable);
    assert_eq!(told.peers[0].peer.reason.as_ref(), Some(&problem.detail));
    let cloud = again_at(folder, &address, Choices::default()).await;
    until(&mut events, stands("")).await;
    seed(&cloud, "forum", &shop("one")).await;
    save(&cloud, "forum").await;
    until(&mut events, stands("forum behind")).await;
    cloud.stop().await;
    laptop.stop().await;
}

#[tokio::test]
async fn peers_that_come_and_go_are_told_and_asked_only_when_that_is_wanted() {
    let (cloud, laptop) = (start(Choices::default()).await, start(Choices::default()).await);
    seed(&cloud, "shop", &shop("one")).await;
    save(&cloud, "shop").await;
    let mut asking = laptop.admin().follow_sync(true).await.unwrap();
    let mut quiet = laptop.admin().follow_sync(false).await.unwrap();
    for events in [&mut asking, &mut quiet] {
        until(events, |standing| standing.peers.is_empty()).await;
    }
    know(&laptop, &cloud, "cloud").await;
    until(&mut asking, stands("shop behind")).await;
    until(&mut quiet, stands("?")).await;

    // Less goes to and fro from now on.
    let nothing = serde_json::from_value(json!({"take": {"sites": []}})).unwrap();
    laptop.admin().limit_peer("cloud", &nothing).await.unwrap();
    until(&mut asking, stands("")).await;
    laptop.admin().remove_peer("cloud").await.unwrap();
    for events in [&mut asking, &mut quiet] {
        until(events, |standing| standing.peers.is_empty()).await;
    }
    laptop.stop().await;
    cloud.stop().await;
}

#[tokio::test]
async fn a_limited_peer_hears_nothing_of_what_it_is_not_given() {
    let pair = Pair::new().await;
    let limits = json!({"give": {"sites": ["shop.test"]}});
    // The cloud gives the laptop the shop only; it knows the laptop since that asked.
    pair.laptop.admin().list_differences("cloud").await.unwrap();
    let known = pair.cloud.admin().list_peers().await.unwrap().items[0].node_id.to_string();
    let limits = serde_json::from_value(limits).unwrap();
    pair.cloud.admin().limit_peer(&known, &limits).await.unwrap();

    let mut events = pair.laptop.admin().follow_sync(true).await.unwrap();
    until(&mut events, stands("")).await;
    let mut bank = State::default();
    login(&mut bank, "bank.test", "secret");
    seed(&pair.cloud, "bank", &bank).await;
    save(&pair.cloud, "bank").await;
    seed(&pair.cloud, "shop", &shop("one")).await;
    save(&pair.cloud, "shop").await;
    until(&mut events, stands("shop behind")).await;
    // More is told as soon as more is given, and less as soon as less is.
    pair.cloud.admin().limit_peer(&known, &PeerLimits::default()).await.unwrap();
    until(&mut events, stands("bank behind, shop behind")).await;
    pair.cloud.admin().limit_peer(&known, &limits).await.unwrap();
    until(&mut events, |standing| {
        standing.peers.len() == 1 && word(&standing.peers[0]) != "bank behind, shop behind"
    })
    .await;
    pair.stop().await;
}

#[tokio::test]
async fn only_the_owner_hears_and_no_longer_than_the_key_is_good() {
    let node = Node::start().await;
    let refused = node.as_owner("local", &[Scope::Read]).await.follow_sync(false).await;
    assert_eq!(refused.unwrap_err().code(), Some(ErrorCode::Forbidden));
    let bob = node.as_owner("bob", &[Scope::Sync]).await;
    let mut events = bob.follow_sync(false).await.unwrap();
    assert!(events.next().await.unwrap().unwrap().peers.is_empty());

    let owner = "bob".parse().unwrap();
    let keys = node.admin().list_keys(Some(&owner)).await.unwrap().items;
    node.admin().revoke_key(&keys[0].id, Some(&owner)).await.unwrap();
    let ended = timeout(LIMIT, events.next()).await.expect("it ends with its key");
    assert_eq!(ended.unwrap(), None);
    node.stop().await;
}
