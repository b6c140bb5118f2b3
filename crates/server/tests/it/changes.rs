//! A node that is followed tells that sessions and tabs changed, to whoever may see them.

use crate::fixture::Node;
use baton_api::client::{ChangeEvents, NodeChange};
use baton_api::{ErrorCode, FileText, ImportSession, PassSession, Scope};
use serde_json::json;
use std::time::Duration;
use tokio::time::timeout;

/// How long it may take until what happened is told.
pub(crate) const LIMIT: Duration = Duration::from_mins(1);

/// What is told next.
pub(crate) async fn next(events: &mut ChangeEvents) -> Option<NodeChange> {
    timeout(LIMIT, events.next()).await.expect("what happened is told").unwrap()
}

async fn import(node: &Node, name: &str) -> String {
    let file = FileText::new(json!({"cookies": [], "origins": []}).to_string()).unwrap();
    let name = Some(name.parse().unwrap());
    let request = ImportSession { name, description: None, file };
    node.admin().import_session(&request).await.unwrap().session.session.id.to_string()
}

#[tokio::test]
async fn a_session_that_comes_changes_or_goes_is_told_to_its_owner_only() {
    let node = Node::start().await;
    let mut events = node.admin().follow_changes().await.unwrap();
    let mut bob = node.as_owner("bob", &[Scope::Read]).await.follow_changes().await.unwrap();

    let shop = import(&node, "shop").await;
    assert_eq!(next(&mut events).await, Some(NodeChange::Sessions));
    // Who drives it, too.
    let kimi = node.admin().as_agent(Some("kimi".parse().unwrap()));
    for to in [Some("kimi".parse().unwrap()), None] {
        kimi.pass_session(&shop, &PassSession { to, reason: None }).await.unwrap();
        assert_eq!(next(&mut events).await, Some(NodeChange::Sessions));
    }
    node.admin().close_session(&shop).await.unwrap();
    assert_eq!(next(&mut events).await, Some(NodeChange::Sessions));
    node.admin().delete_session(&shop).await.unwrap();
    assert_eq!(next(&mut events).await, Some(NodeChange::Sessions));

    // All that Bob hears is that the node ends.
    node.stop().await;
    assert_eq!(next(&mut events).await, None);
    assert_eq!(next(&mut bob).await, None);
}

#[tokio::test]
async fn nobody_hears_longer_than_their_key_is_good() {
    let node = Node::start().await;
    let refused = node.as_owner("local", &[Scope::Sync]).await.follow_changes().await;
    assert_eq!(refused.unwrap_err().code(), Some(ErrorCode::Forbidden));
    let mut bob = node.as_owner("bob", &[Scope::Read]).await.follow_changes().await.unwrap();
    let owner = "bob".parse().unwrap();
    let keys = node.admin().list_keys(Some(&owner)).await.unwrap().items;
    node.admin().revoke_key(&keys[0].id, Some(&owner)).await.unwrap();
    assert_eq!(next(&mut bob).await, None);
    node.stop().await;
}
