//! Who may ask: no key, wrong keys, revoked keys, missing scopes.

use crate::fixture::{Folder, Node, one_line, problem};
use baton_api::chat::ChatError;
use baton_api::{CreateKey, ErrorCode, ListSessions, Scope};
use reqwest::Method;
use std::os::unix::fs::PermissionsExt;

const SOME_KEY: &str = "baton_AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA";

#[tokio::test]
async fn health_ready_and_the_document_need_no_key() {
    let node = Node::start().await;
    for path in ["/health", "/ready", "/openapi.json"] {
        let response = node.request(Method::GET, path).send().await.unwrap();
        assert_eq!(response.status(), 200, "{path}");
    }
    let health = node.client("no key").health().await.unwrap();
    assert_eq!((health.status.as_str(), health.node_id), ("ok", node.id()));
    node.stop().await;
}

/// Where a node redeems an invitation, which says with its signature who it is.
const REDEEM: &str = "/sync/invitations/redeem";

#[tokio::test]
async fn every_other_address_wants_a_key() {
    let folder = Folder::new();
    let mut config = folder.config();
    // There are more addresses than anybody without a key may try in a minute.
    config.rates.refused_keys_per_minute = 1000;
    let node = folder.start_with(config).await;
    let document = baton_server::http::document();
    let mut asked = 0;
    for (path, item) in &document.paths.paths {
        let methods = [
            (Method::GET, &item.get),
            (Method::POST, &item.post),
            (Method::PUT, &item.put),
            (Method::DELETE, &item.delete),
        ];
        for (method, operation) in methods {
            // A code, a link, a provider, or a node that has signed, says who asks there.
            let without = [
                "/health",
                "/ready",
                "/openapi.json",
                "/page/ways",
                "/page/oidc",
                "/page/oidc/callback",
                "/debug/pair/exchange",
                "/asked/look",
                "/asked/open",
                REDEEM,
            ];
            if operation.is_none() || without.contains(&path.as_str()) {
                continue;
            }
            let path = ["{id}", "{peer}", "{session}", "{ask}", "{name}"]
                .iter()
                .fold(path.clone(), |path, what| path.replace(what, "some"));
            let call = node.request(method.clone(), &path).body("{}");
            let response = call.header("content-type", "application/json").send().await.unwrap();
            let challenge = response.headers().get("www-authenticate").cloned();
            let code = if path.starts_with("/v1/") {
                response.json::<ChatError>().await.unwrap().error.code
            } else {
                problem(response).await.code.as_str().to_owned()
            };
            assert_eq!(code, ErrorCode::Unauthenticated.as_str(), "{method} {path}");
            assert_eq!(challenge.unwrap(), "Bearer realm=\"baton\"", "{method} {path}");
            asked += 1;
        }
    }
    assert_eq!(asked, 126, "every operation was tried");
    let unsigned = node.request(Method::POST, REDEEM).body("{}");
    let unsigned = unsigned.header("content-type", "application/json").send().await.unwrap();
    assert_eq!(problem(unsigned).await.code, ErrorCode::Untrusted);
    node.stop().await;
}

#[tokio::test]
async fn a_wrong_key_is_refused_and_never_repeated() {
    let node = Node::start().await;
    let mut refusals = Vec::new();
    for value in
        ["", "Basic abc", "Bearer", "Bearer secret-of-someone", &format!("Bearer {SOME_KEY}")]
    {
        let call = node.request(Method::GET, "/sessions").header("authorization", value);
        refusals.push(one_line(&problem(call.send().await.unwrap()).await));
    }
    insta::assert_snapshot!(refusals.join("\n"), @r#"
    401 unauthenticated: expected "Authorization: Bearer KEY" with a valid key, found another kind of credentials
    401 unauthenticated: expected "Authorization: Bearer KEY" with a valid key, found another kind of credentials
    401 unauthenticated: expected "Authorization: Bearer KEY" with a valid key, found another kind of credentials
    401 unauthenticated: expected "Authorization: Bearer KEY" with a valid key, found no key of Baton
    401 unauthenticated: expected "Authorization: Bearer KEY" with a valid key, found an unknown or revoked key
    "#);
    node.stop().await;
}

#[tokio::test]
async fn a_scope_allows_its_own_and_nothing_else() {
    let node = Node::start().await;
    let reader = node.as_owner("ada", &[Scope::Read]).await;
    assert!(reader.list_sessions(&ListSessions::default()).await.is_ok());
    let refused = [
        reader.capture_session("any").await.map(drop),
        reader.delete_session("any").await,
        reader.fetch_state("any", true).await.map(drop),
        reader.list_keys(None).await.map(drop),
    ];
    for refusal in refused {
        assert_eq!(refusal.unwrap_err().code(), Some(ErrorCode::Forbidden));
    }
    let driver = node.as_owner("ada", &[Scope::Drive]).await;
    let refusal = driver.list_sessions(&ListSessions::default()).await.unwrap_err();
    insta::assert_snapshot!(refusal, @"expected a key with the scope read, found one with drive");
    let missing = driver.capture_session("any").await.unwrap_err();
    assert_eq!(missing.code(), Some(ErrorCode::SessionNotFound), "drive may capture");
    node.stop().await;
}

#[tokio::test]
async fn a_revoked_key_opens_nothing() {
    let node = Node::start().await;
    let scopes = [Scope::Read].into();
    let request = CreateKey { name: "ci".into(), owner: None, scopes, for_node: None };
    let created = node.admin().create_key(&request).await.unwrap();
    let client = node.client(&created.secret);
    assert!(client.list_sessions(&ListSessions::default()).await.is_ok());
    node.admin().revoke_key("ci", None).await.unwrap();
    let refusal = client.list_sessions(&ListSessions::default()).await.unwrap_err();
    assert_eq!(refusal.code(), Some(ErrorCode::Unauthenticated));
    node.stop().await;
}

#[tokio::test]
async fn the_local_key_is_private_and_lasts_until_it_is_revoked() {
    let node = Node::start().await;
    let file = node.folder.data.admin_key();
    let first = node.admin_key();
    assert_eq!(std::fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);
    let node = node.stop().await.start().await;
    assert_eq!(node.admin_key(), first, "a new start keeps the key");
    node.admin().revoke_key("local-admin", None).await.unwrap();
    let node = node.stop().await.start().await;
    assert_ne!(node.admin_key(), first, "a revoked key is replaced");
    assert!(node.admin().list_keys(None).await.is_ok());
    let old = node.client(&first).list_keys(None).await.unwrap_err();
    assert_eq!(old.code(), Some(ErrorCode::Unauthenticated));
    node.stop().await;
}
