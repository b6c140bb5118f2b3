//! Quotas at the door: what an owner is refused, what it is told, and what of others it hears.

use crate::fixture::Folder;
use baton_api::{ErrorCode, FileText, ImportSession, Scope, Used};
use baton_server::config::Choices;
use baton_store::{Quota, Quotas};
use serde_json::json;

fn file(name: &str) -> ImportSession {
    let cookie = json!({
        "name": "sid", "value": "1", "domain": "shop.test", "path": "/", "expires": 4_000_000_000_u64,
    });
    let state = json!({ "cookies": [cookie], "origins": [] }).to_string();
    let file = FileText::new(state).unwrap();
    ImportSession { name: Some(name.parse().unwrap()), description: None, file }
}

#[tokio::test]
async fn who_has_enough_is_refused_and_told_how_much_that_is() {
    let others = Quota { sessions: Some(1), ..Quota::default() };
    let quotas = Some(Quotas { others, ..Quotas::default() });
    let folder = Folder::new();
    let config = folder.config_with(Choices { quotas, ..Choices::default() }).unwrap();
    let node = folder.start_with(config).await;
    let ada = node.as_owner("ada", &[Scope::Read, Scope::Drive]).await;
    ada.import_session(&file("first")).await.unwrap();
    let refused = ada.import_session(&file("second")).await.unwrap_err();
    assert_eq!(refused.code(), Some(ErrorCode::QuotaReached));
    insta::assert_snapshot!(refused, @"expected fewer than 1 sessions, the quota of ada, found 1");
    let usage = ada.show_usage(None).await.unwrap();
    assert_eq!(usage.sessions, Used { used: 1, most: Some(1) });
    assert!(usage.stored_bytes.used > 0 && usage.stored_bytes.most.is_none());
    // Of another owner only who runs the node hears.
    let other = "bob".parse().unwrap();
    let refused = ada.show_usage(Some(&other)).await.unwrap_err();
    assert_eq!(refused.code(), Some(ErrorCode::Forbidden));
    let usage = node.admin().show_usage(Some(&other)).await.unwrap();
    assert_eq!(usage.sessions, Used { used: 0, most: Some(1) });
    // What is deleted makes room.
    ada.delete_session("first").await.unwrap();
    ada.import_session(&file("second")).await.unwrap();
    node.stop().await;
}
