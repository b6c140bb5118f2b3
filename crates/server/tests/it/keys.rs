//! API keys: made, listed, revoked.

use crate::fixture::Node;
use baton_api::{CreateKey, ErrorCode, Scope};
use baton_session::Owner;

fn request(name: &str, owner: Option<&str>) -> CreateKey {
    let owner = owner.map(|owner| owner.parse::<Owner>().unwrap());
    CreateKey {
        name: name.into(),
        owner,
        scopes: [Scope::Read, Scope::Drive].into(),
        for_node: None,
    }
}

#[tokio::test]
async fn a_key_is_made_listed_and_revoked() {
    let node = Node::start().await;
    let admin = node.admin();
    let created = admin.create_key(&request("ci", None)).await.unwrap();
    assert!(created.secret.starts_with("baton_") && created.secret.len() == 49);
    let taken = admin.create_key(&request("ci", None)).await.unwrap_err();
    assert_eq!(taken.code(), Some(ErrorCode::NameTaken));
    let names = |list: baton_api::KeyList| -> Vec<(String, bool)> {
        list.items.into_iter().map(|key| (key.name, key.revoked_at.is_some())).collect()
    };
    admin.revoke_key(&created.key.id, None).await.unwrap();
    let again = admin.create_key(&request("ci", None)).await.unwrap();
    assert_ne!(again.secret, created.secret);
    let mut list = names(admin.list_keys(None).await.unwrap());
    list.sort();
    let expected = [("ci", false), ("ci", true), ("local-admin", false)];
    assert_eq!(list, expected.map(|(name, revoked)| (name.to_owned(), revoked)));
    node.stop().await;
}

#[tokio::test]
async fn keys_belong_to_owners() {
    let node = Node::start().await;
    let (admin, ada) = (node.admin(), "ada".parse::<Owner>().unwrap());
    let created = admin.create_key(&request("ci", Some("ada"))).await.unwrap();
    assert_eq!(created.key.owner, ada);
    let missing = admin.revoke_key("ci", None).await.unwrap_err();
    assert_eq!(missing.code(), Some(ErrorCode::KeyNotFound), "it is not the admin's own");
    assert_eq!(admin.list_keys(Some(&ada)).await.unwrap().items, [created.key]);
    admin.revoke_key("ci", Some(&ada)).await.unwrap();
    node.stop().await;
}

#[tokio::test]
async fn a_key_needs_a_name_and_a_scope() {
    let node = Node::start().await;
    let nameless = node.admin().create_key(&request("", None)).await.unwrap_err();
    insta::assert_snapshot!(nameless, @r#"expected name to be 1 to 64 characters, none of them a control character, found """#);
    let useless = CreateKey { scopes: [].into(), ..request("ci", None) };
    let useless = node.admin().create_key(&useless).await.unwrap_err();
    insta::assert_snapshot!(useless, @"expected scopes to be at least one scope, found none");
    node.stop().await;
}
