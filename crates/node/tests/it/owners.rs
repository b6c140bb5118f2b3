//! Owners see only what is theirs: anything else is not found.

use crate::fixture::{Folder, seed_snapshot, state_at};
use baton_api::{ErrorCode, ListHistory, ListSessions, Scope};

const ALL: &[Scope] = &[Scope::Read, Scope::Drive, Scope::Reveal];

#[tokio::test]
async fn a_foreign_session_is_not_found_whatever_is_asked() {
    let folder = Folder::new();
    let store = folder.store().await;
    let id = folder.seed(&store, "ada", "shop").await;
    let snapshot = seed_snapshot(&store, "ada", id, &state_at("https://shop.test/")).await;
    let snapshot = snapshot.to_string();
    store.close().await;
    let node = folder.start().await;
    let (ada, bob) = (node.as_owner("ada", ALL).await, node.as_owner("bob", ALL).await);
    assert_eq!(ada.fetch_session("shop").await.unwrap().session.id, id);
    for reference in ["shop".to_owned(), id.to_string(), id.to_string()[..13].to_owned()] {
        let refusals = [
            bob.fetch_session(&reference).await.map(drop),
            bob.capture_session(&reference).await.map(drop),
            bob.resume_session(&reference).await.map(drop),
            bob.close_session(&reference).await.map(drop),
            bob.abandon_session(&reference).await.map(drop),
            bob.delete_session(&reference).await,
            bob.fetch_state(&reference, true).await.map(drop),
            bob.fetch_preview(&reference).await.map(drop),
            bob.list_history(&reference, &ListHistory::default()).await.map(drop),
            bob.roll_back_session(&reference, &snapshot).await.map(drop),
            bob.diff_snapshots(&reference, &snapshot, &snapshot).await.map(drop),
        ];
        for refusal in refusals {
            assert_eq!(refusal.unwrap_err().code(), Some(ErrorCode::SessionNotFound));
        }
    }
    assert!(bob.list_sessions(&ListSessions::default()).await.unwrap().items.is_empty());
    assert!(ada.fetch_session("shop").await.is_ok(), "nothing was changed");
    node.stop().await;
}

#[tokio::test]
async fn two_owners_may_use_one_name() {
    let folder = Folder::new();
    let store = folder.store().await;
    let of_ada = folder.seed(&store, "ada", "shop").await;
    let of_bob = folder.seed(&store, "bob", "shop").await;
    store.close().await;
    let node = folder.start().await;
    for (owner, id) in [("ada", of_ada), ("bob", of_bob)] {
        let client = node.as_owner(owner, ALL).await;
        assert_eq!(client.fetch_session("shop").await.unwrap().session.id, id);
        let list = client.list_sessions(&ListSessions::default()).await.unwrap();
        assert_eq!(list.items.len(), 1);
    }
    node.stop().await;
}
