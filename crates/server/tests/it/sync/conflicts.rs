//! Two nodes change one session, and neither has heard of the other: nobody loses anything.

use super::pair::{Pair, capture, edit, logged_in, save, seed, state, token};
use baton_api::ClientError;
use baton_api::sync::{ConflictView, MovementOutcome, ResolveConflict};
use baton_server::config::Choices;
use baton_session::SessionId;
use baton_session::diff::SiteDiff;
use baton_sync::ConflictResolution;

/// A session that both nodes have, changed at both.
async fn diverged(pair: &Pair, cloud: &[(&str, &str)], laptop: &[(&str, &str)]) -> SessionId {
    let base = logged_in(&[("shop.test", "base"), ("bank.test", "base")]);
    let id = seed(&pair.cloud, "shop", &base).await;
    save(&pair.cloud, "shop").await;
    pair.pull("shop").await;
    edit(&pair.cloud, id, &logged_in(cloud)).await;
    edit(&pair.laptop, id, &logged_in(laptop)).await;
    id
}

fn resolving(by: ConflictResolution) -> impl Fn() -> Choices {
    move || Choices { conflict_resolution: Some(by), ..Choices::default() }
}

#[tokio::test]
async fn the_latest_counts_and_the_other_one_is_kept_until_someone_chooses() {
    let pair = Pair::new().await;
    let id = diverged(&pair, &[("shop.test", "cloud")], &[("shop.test", "laptop")]).await;
    let pulled = pair.pull("shop").await;
    assert_eq!((pulled.outcome, pulled.conflicts.len()), (MovementOutcome::Conflict, 1));
    assert_eq!(pair.push("shop").await.outcome, MovementOutcome::Conflict);
    for node in [&pair.cloud, &pair.laptop] {
        assert_eq!(token(&state(node, "shop").await, "shop.test").unwrap(), "laptop");
        let conflicts = node.admin().list_conflicts().await.unwrap().items;
        assert_eq!((conflicts.len(), conflicts[0].siblings.len()), (1, 1));
        assert_eq!(conflicts[0].siblings[0].node_id, pair.cloud.id());
    }
    // Moving once more moves nothing: there is no ping-pong.
    assert_eq!(pair.pull("shop").await.parts, 0);
    let keep = pulled.conflicts[0].to_string()[..10].to_owned();
    let request = ResolveConflict { keep };
    let resolved = pair.cloud.admin().resolve_conflict(&id.to_string(), &request).await.unwrap();
    assert!(resolved.siblings.is_empty());
    assert_eq!(pair.pull("shop").await.outcome, MovementOutcome::Moved);
    for node in [&pair.cloud, &pair.laptop] {
        assert_eq!(token(&state(node, "shop").await, "shop.test").unwrap(), "cloud");
        assert!(node.admin().list_conflicts().await.unwrap().items.is_empty());
    }
    pair.stop().await;
}

#[tokio::test]
async fn who_has_to_choose_sees_what_differs_and_no_secret() {
    let pair = Pair::new().await;
    let cloud = [("shop.test", "cloud-secret"), ("bank.test", "base")];
    let laptop = [("shop.test", "laptop-secret"), ("mail.test", "mail-secret")];
    let id = diverged(&pair, &cloud, &laptop).await;
    pair.pull("shop").await;
    let before = state(&pair.laptop, "shop").await;
    let found = pair.laptop.admin().fetch_conflict("shop").await.unwrap();
    assert_eq!(found.conflict, pair.laptop.admin().list_conflicts().await.unwrap().items[0]);
    assert_eq!(found.differences[0].rev, found.conflict.siblings[0].rev);
    let line = |one: &SiteDiff| {
        let site = one.site.as_ref().map_or("-", |site| site.as_str());
        let SiteDiff { kind, added, removed, changed, names, .. } = one;
        format!("{site} {kind} +{added} -{removed} ~{changed} {}", names.join(", "))
    };
    let lines: Vec<String> = found.differences[0].sites.iter().map(line).collect();
    insta::assert_snapshot!(lines.join("\n"), @r"
    bank.test cookie +1 -0 ~0 sid
    bank.test local_storage +1 -0 ~0 token
    mail.test cookie +0 -1 ~0 sid
    mail.test local_storage +0 -1 ~0 token
    shop.test cookie +0 -0 ~1 sid
    shop.test local_storage +0 -0 ~1 token
    ");
    let told = serde_json::to_string(&found).unwrap();
    assert!(!told.contains("secret") && !told.contains("base"), "{told}");
    // Looking changes nothing, and what was chosen leaves nothing to compare.
    assert_eq!(state(&pair.laptop, "shop").await, before);
    let request = ResolveConflict { keep: found.conflict.current.rev.to_string() };
    pair.laptop.admin().resolve_conflict(&id.to_string(), &request).await.unwrap();
    let chosen = pair.laptop.admin().fetch_conflict("shop").await.unwrap();
    assert!(chosen.conflict.siblings.is_empty() && chosen.differences.is_empty());
    pair.stop().await;
}

#[tokio::test]
async fn one_that_was_deleted_elsewhere_and_one_that_is_not_shared_have_nothing_to_compare() {
    let pair = Pair::new().await;
    let id = diverged(&pair, &[("shop.test", "cloud")], &[("shop.test", "laptop")]).await;
    pair.cloud.admin().delete_synced_session(&id.to_string()).await.unwrap();
    pair.pull("shop").await;
    let found = pair.laptop.admin().fetch_conflict("shop").await.unwrap();
    let [deletes] = &found.conflict.siblings[..] else { panic!("{found:?}") };
    assert!(deletes.deleted && found.differences[0].sites.is_empty());
    assert_eq!(found.differences[0].unreadable, None);
    seed(&pair.laptop, "own", &logged_in(&[("shop.test", "own")])).await;
    let refused = pair.laptop.admin().fetch_conflict("own").await.unwrap_err();
    assert!(matches!(&refused, ClientError::Problem(problem) if problem.code.status() == 404));
    pair.stop().await;
}

#[tokio::test]
async fn sites_that_one_side_changed_are_merged_and_no_login_is_broken() {
    let pair = Pair::with(resolving(ConflictResolution::Merge)).await;
    let cloud = [("shop.test", "cloud"), ("bank.test", "base")];
    let laptop = [("shop.test", "base"), ("bank.test", "laptop")];
    diverged(&pair, &cloud, &laptop).await;
    assert_eq!(pair.pull("shop").await.outcome, MovementOutcome::Moved);
    assert_eq!(pair.push("shop").await.outcome, MovementOutcome::Moved);
    for node in [&pair.cloud, &pair.laptop] {
        let merged = state(node, "shop").await;
        assert_eq!(token(&merged, "shop.test").unwrap(), "cloud");
        assert_eq!(token(&merged, "bank.test").unwrap(), "laptop");
        assert!(node.admin().list_conflicts().await.unwrap().items.is_empty());
    }
    pair.stop().await;
}

#[tokio::test]
async fn a_site_that_both_changed_is_of_one_side_and_the_other_side_is_kept() {
    let pair = Pair::with(resolving(ConflictResolution::Merge)).await;
    let cloud = [("shop.test", "cloud"), ("bank.test", "cloud")];
    let laptop = [("shop.test", "laptop"), ("bank.test", "base")];
    diverged(&pair, &cloud, &laptop).await;
    let pulled = pair.pull("shop").await;
    assert_eq!((pulled.outcome, pulled.conflicts.len()), (MovementOutcome::Conflict, 1));
    pair.push("shop").await;
    for node in [&pair.cloud, &pair.laptop] {
        let merged = state(node, "shop").await;
        assert_eq!(token(&merged, "shop.test").unwrap(), "laptop");
        assert_eq!(token(&merged, "bank.test").unwrap(), "cloud");
        let conflicts = node.admin().list_conflicts().await.unwrap().items;
        assert_eq!(conflicts[0].siblings[0].node_id, pair.cloud.id());
    }
    pair.stop().await;
}

#[tokio::test]
async fn where_a_person_chooses_a_node_keeps_its_own_until_they_have() {
    let pair = Pair::with(resolving(ConflictResolution::Manual)).await;
    diverged(&pair, &[("shop.test", "cloud")], &[("shop.test", "laptop")]).await;
    pair.pull("shop").await;
    pair.push("shop").await;
    for (node, own) in [(&pair.cloud, "cloud"), (&pair.laptop, "laptop")] {
        assert_eq!(token(&state(node, "shop").await, "shop.test").unwrap(), own);
        assert_eq!(node.admin().list_conflicts().await.unwrap().items.len(), 1);
    }
    pair.stop().await;
}

#[tokio::test]
async fn what_was_captured_and_not_saved_is_never_overwritten() {
    let pair = Pair::new().await;
    let id = seed(&pair.cloud, "shop", &logged_in(&[("shop.test", "base")])).await;
    save(&pair.cloud, "shop").await;
    pair.pull("shop").await;
    capture(&pair.laptop, id, &logged_in(&[("shop.test", "unsaved")])).await;
    edit(&pair.cloud, id, &logged_in(&[("shop.test", "cloud")])).await;
    let pulled = pair.pull("shop").await;
    assert_eq!(pulled.outcome, MovementOutcome::Conflict);
    let conflicts = pair.laptop.admin().list_conflicts().await.unwrap().items;
    let both = [conflicts[0].current.node_id, conflicts[0].siblings[0].node_id];
    assert!(both.contains(&pair.laptop.id()) && both.contains(&pair.cloud.id()));
    pair.stop().await;
}

/// Both nodes had a `shop` before they met.
#[tokio::test]
async fn of_two_sessions_of_one_name_each_is_called_by_the_name_that_finds_it_here() {
    let pair = Pair::new().await;
    seed(&pair.laptop, "shop", &logged_in(&[("shop.test", "own")])).await;
    save(&pair.laptop, "shop").await;
    let id = seed(&pair.cloud, "shop", &logged_in(&[("shop.test", "base")])).await;
    save(&pair.cloud, "shop").await;
    pair.pull(&id.to_string()).await;
    edit(&pair.cloud, id, &logged_in(&[("shop.test", "cloud")])).await;
    edit(&pair.laptop, id, &logged_in(&[("shop.test", "laptop")])).await;
    let named = pair.laptop.admin().list_differences("cloud").await.unwrap().items;
    pair.pull(&id.to_string()).await;
    let laptop = pair.laptop.admin();
    let here = laptop.fetch_session(&id.to_string()).await.unwrap().session.name;
    assert_eq!(here.as_str(), "shop-2");
    let index = laptop.fetch_sync_index().await.unwrap().sessions;
    let named: Vec<_> =
        named.iter().filter(|one| one.session_id == id).map(|one| &one.name).collect();
    let indexed: Vec<_> = index.iter().filter(|one| one.id == id).map(|one| &one.name).collect();
    let conflicts = laptop.list_conflicts().await.unwrap().items;
    assert_eq!((named, indexed, &conflicts[0].name), (vec![&here], vec![&here], &here));
    // What is told resolves it.
    let [ConflictView { name, siblings, .. }] = conflicts.as_slice() else {
        panic!("{conflicts:?}")
    };
    assert_eq!(laptop.fetch_conflict(name.as_str()).await.unwrap().conflict.name, here);
    let request = ResolveConflict { keep: siblings[0].rev.to_string() };
    let resolved = laptop.resolve_conflict(name.as_str(), &request).await.unwrap();
    assert_eq!((resolved.session_id, &resolved.name), (id, &here));
    // To the other node it is called as its revisions call it.
    assert_eq!(pair.push(&id.to_string()).await.outcome, MovementOutcome::Moved);
    assert_eq!(pair.cloud.admin().fetch_session("shop").await.unwrap().session.id, id);
    pair.stop().await;
}
