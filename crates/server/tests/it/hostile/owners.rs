//! Owners see only what is theirs: anything else is not found.
//!
//! The routes are those of the API's own document, so that none is forgotten.

use super::{Operation, operations};
use crate::fixture::{Folder, Node, seed_snapshot, state_at};
use baton_api::upstream::{PutUpstream, UpstreamAccess, UpstreamPages};
use baton_api::{Client, CreateKey, ErrorCode, ListAudit, ListHistory, ListSessions, Scope};
use baton_session::Owner;
use reqwest::header::CONTENT_TYPE;
use reqwest::{Method, Response};
use serde_json::{Value, json};

const ALL: &[Scope] = &[Scope::Read, Scope::Drive, Scope::Reveal, Scope::Watch];

/// A body that the operation can read, so that it is not the body that is refused.
pub(super) fn body(method: &Method, path: &str) -> Option<Value> {
    match (method.as_str(), path) {
        ("POST", "/sessions") => Some(json!({ "name": "shop" })),
        ("POST", "/sessions/attach") => {
            Some(json!({ "name": "shop", "cdp_url": "http://127.0.0.1:1" }))
        }
        ("POST", "/sessions/import") => Some(json!({ "name": "shop", "file": { "cookies": [] } })),
        ("POST", "/sessions/{id}/cdp" | "/sessions/{id}/pass" | "/sessions/{id}/save") => {
            Some(json!({}))
        }
        ("POST", "/sessions/{id}/ask") => Some(json!({ "text": "sign in" })),
        ("POST", "/asked/look" | "/asked/open") => Some(json!({ "secret": "none" })),
        ("POST", "/asked/end") => Some(json!({ "done": true })),
        ("POST", "/sessions/{id}/contexts/keep") => Some(json!({ "name": "kept" })),
        ("POST", "/debug/connect") => Some(json!({ "browser_id": "b-1" })),
        ("POST", "/sessions/{id}/debug") => Some(json!({ "on": true })),
        ("POST", path) if path.starts_with("/debug/tabs/") => Some(json!({})),
        ("POST", "/api/sandboxes/{id}/exec") => Some(json!({ "command": "true" })),
        ("POST", "/sync/invitations" | "/nodes/{id}/drain" | "/nodes/{id}/tools/{tool}") => {
            Some(json!({}))
        }
        ("POST", "/sync/join") => Some(json!({ "code": "BATON-" })),
        ("PUT", "/sync/peers/{peer}/limits") => Some(json!({ "give": { "kinds": [] } })),
        ("PUT", "/cocoons/{id}") => Some(json!({ "upstream": "http://127.0.0.1:1" })),
        ("POST", "/sessions/{id}/rollback") => Some(json!({ "to": "0197" })),
        ("POST", "/sync/conflicts/{session}") => Some(json!({ "keep": "1-" })),
        ("POST", "/sync/peers/{peer}/confirm") => Some(json!({ "fingerprint": "ab".repeat(32) })),
        ("POST", "/keys") => Some(json!({ "name": "laptop", "scopes": ["read"] })),
        _ => None,
    }
}

/// What Ada has: a session with a snapshot, a key, and an upstream service.
struct Ada {
    session: String,
    key: String,
    client: Client,
    debugger: Client,
}

impl Ada {
    async fn arrive(folder: Folder) -> (Self, Node) {
        let store = folder.store().await;
        let id = folder.seed(&store, "ada", "shop").await;
        seed_snapshot(&store, "ada", id, &state_at("https://shop.test/")).await;
        store.close().await;
        let node = folder.start().await;
        let client = node.as_owner("ada", ALL).await;
        let owner: Owner = "ada".parse().unwrap();
        let service = PutUpstream {
            name: None,
            upstream: "http://127.0.0.1:3000".to_owned(),
            owner: Some(owner.clone()),
            access: UpstreamAccess::default(),
            browser_debug: UpstreamPages::default(),
        };
        node.admin().put_upstream(&"shop".parse().unwrap(), &service).await.unwrap();
        let key = node.admin().list_keys(Some(&owner)).await.unwrap().items[0].id.clone();
        let debugger = node.as_owner("ada", &[Scope::Debug]).await;
        (Self { session: id.to_string(), key, client, debugger }, node)
    }

    /// The address of an operation on what is Ada's.
    fn address(&self, path: &str) -> String {
        let id = match path {
            _ if path.starts_with("/keys") => &self.key,
            _ if path.starts_with("/cocoons") => "shop",
            // To make one takes the whole program; whose they are its own stories tell.
            _ if path.starts_with("/api/sandboxes") => "0197c0de",
            _ => &self.session,
        };
        let path = path.replace("{id}", id).replace("{session}", &self.session);
        let path = path.replace("{peer}", "cloud").replace("{token}", "abcdefgh23456789");
        let path = path
            .replace("{name}", "note")
            .replace("{tool}", "list_sessions")
            .replace("{ask}", "ask_0");
        assert!(!path.contains('{'), "expected to know what is meant in {path}");
        if path.ends_with("/diff") {
            format!("{path}?a=0197&b=0197")
        } else if path.ends_with("/files") {
            format!("{path}?path=note")
        } else if path.ends_with("/export") {
            format!("{path}?format=session")
        } else {
            path
        }
    }

    /// Everything that Ada sees of what is hers.
    async fn sees(&self, node: &Node) -> Vec<Value> {
        let ada = &self.client;
        let owner = "ada".parse().unwrap();
        vec![
            json!(ada.list_sessions(&ListSessions::default()).await.unwrap()),
            json!(ada.fetch_session(&self.session).await.unwrap()),
            json!(ada.fetch_state(&self.session, false).await.unwrap()),
            json!(self.debugger.list_upstreams().await.unwrap()),
            json!(ada.list_audit(&ListAudit::default()).await.unwrap()),
            json!(node.admin().list_keys(Some(&owner)).await.unwrap()),
        ]
    }
}

async fn ask(node: &Node, key: &str, method: &Method, path: &str, body: Option<Value>) -> Response {
    let call = node.request(method.clone(), path).bearer_auth(key);
    let call = match body {
        Some(body) => call.json(&body),
        None => call,
    };
    call.send().await.unwrap()
}

/// What an answer says; of a stream its first event.
async fn said(mut answer: Response) -> String {
    let kind = answer.headers().get(CONTENT_TYPE).and_then(|kind| kind.to_str().ok());
    let bytes = match kind {
        Some("text/event-stream") => answer.chunk().await.unwrap().unwrap_or_default(),
        _ => answer.bytes().await.unwrap(),
    };
    String::from_utf8_lossy(&bytes).into_owned()
}

#[tokio::test]
async fn a_foreign_key_finds_nothing_and_changes_nothing_whatever_it_asks() {
    let (ada, node) = Ada::arrive(Folder::new()).await;
    let before = ada.sees(&node).await;
    let every: &[Scope] = &Scope::ALL;
    for scopes in [ALL, every] {
        let name = format!("{} scopes", scopes.len());
        let (owner, scopes) = ("bob".parse().unwrap(), scopes.iter().copied().collect());
        let request = CreateKey { name, owner: Some(owner), scopes, for_node: None };
        let bob = node.admin().create_key(&request).await.unwrap();
        let is_admin = bob.key.scopes.contains(&Scope::Admin);
        let may_all = bob.key.scopes.len() == Scope::ALL.len();
        for Operation { method, path, .. } in operations().filter(|one| one.wants_key) {
            // Only an admin reads the log of everybody; and a stream that tells nobody but Ada never ends.
            if (is_admin && path == "/audit") || path == "/events" {
                continue;
            }
            let address = ada.address(&path);
            let answer = ask(&node, &bob.secret, &method, &address, body(&method, &path)).await;
            let status = answer.status().as_u16();
            let text = said(answer).await;
            if path.contains('{') {
                // The ids of upstream services stand in host names, and are one of a kind among all owners.
                let is_upstream = method == Method::PUT && path.starts_with("/cocoons");
                let expected = match (is_upstream, status) {
                    // Bob lacks the scope, or what he sends is refused before anything is looked for.
                    (_, 403) if !may_all || path.starts_with("/sync/") => 403,
                    // What nodes ask each other is nobody's.
                    (_, 403) if path.starts_with("/nodes/{id}/sessions") => 403,
                    (true, _) => 409,
                    _ => 404,
                };
                assert_eq!(status, expected, "{method} {path}: {text}");
            } else {
                assert!(!text.contains(&ada.session), "{method} {path}: {text}");
                assert!(!text.contains(&ada.key), "{method} {path}: {text}");
            }
        }
    }
    assert_eq!(ada.sees(&node).await, before, "nothing was changed");
    node.stop().await;
}

#[tokio::test]
async fn a_foreign_session_is_not_found_by_name_or_prefix_either() {
    let (ada, node) = Ada::arrive(Folder::new()).await;
    let bob = node.as_owner("bob", ALL).await;
    let own = ada.client.fetch_session("shop").await.unwrap();
    assert_eq!(own.session.id.to_string(), ada.session);
    for reference in ["shop", &ada.session, &ada.session[..13]] {
        let refusals = [
            bob.fetch_session(reference).await.map(drop),
            bob.resume_session(reference).await.map(drop),
            bob.delete_session(reference).await,
            bob.fetch_state(reference, true).await.map(drop),
            bob.list_history(reference, &ListHistory::default()).await.map(drop),
            bob.roll_back_session(reference, "0197").await.map(drop),
        ];
        for refusal in refusals {
            assert_eq!(refusal.unwrap_err().code(), Some(ErrorCode::SessionNotFound));
        }
    }
    assert!(bob.list_sessions(&ListSessions::default()).await.unwrap().items.is_empty());
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
