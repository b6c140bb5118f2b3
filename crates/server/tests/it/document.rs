//! The document of the API says what the router does.
//!
//! It stands in the reference, too: types of other languages are made from it. When it was changed,
//! `BATON_UPDATE_DOCS=1 cargo test -p baton-server document` writes it anew.

use crate::fixture::Node;
use baton_api::{ErrorCode, Scope};
use baton_session::{AuthMethod, StateKind};
use reqwest::Method;
use serde_json::json;

#[tokio::test]
#[expect(clippy::too_many_lines, reason = "it is one list")]
async fn the_document_names_every_operation() {
    let node = Node::start().await;
    let response = node.request(Method::GET, "/openapi.json").send().await.unwrap();
    let document: serde_json::Value = response.json().await.unwrap();
    let mut operations = Vec::new();
    for (path, item) in document["paths"].as_object().unwrap() {
        for (method, operation) in item.as_object().unwrap() {
            let key = if operation["security"].is_array() { "key" } else { "no key" };
            operations.push(format!("{} {path} ({key})", method.to_uppercase()));
        }
    }
    operations.sort();
    insta::assert_snapshot!(operations.join("\n"), @"
    DELETE /api/sandboxes/{id} (key)
    DELETE /cocoons/{id} (key)
    DELETE /keys/{id} (key)
    DELETE /mcp (key)
    DELETE /nodes/{id} (key)
    DELETE /nodes/{id}/drain (key)
    DELETE /nodes/{id}/sessions/{session} (key)
    DELETE /nodes/{id}/sessions/{session}/files/{name} (key)
    DELETE /page/session (key)
    DELETE /sessions/{id} (key)
    DELETE /sessions/{id}/ask/{ask} (key)
    DELETE /sessions/{id}/files/{name} (key)
    DELETE /sync/invitations/{id} (key)
    DELETE /sync/listener (key)
    DELETE /sync/peers/{peer} (key)
    DELETE /sync/sessions/{id} (key)
    GET /api/sandboxes (key)
    GET /api/sandboxes/{id} (key)
    GET /api/sandboxes/{id}/display (key)
    GET /api/sandboxes/{id}/files (key)
    GET /api/signaling/ws (key)
    GET /asked (no key)
    GET /asked/live (no key)
    GET /audit (key)
    GET /cocoons (key)
    GET /debug/tabs (key)
    GET /debug/tabs/{token}/har (key)
    GET /events (key)
    GET /federation (key)
    GET /federation/events (key)
    GET /federation/sessions (key)
    GET /health (no key)
    GET /keys (key)
    GET /mcp (key)
    GET /nodes (key)
    GET /nodes/{id} (key)
    GET /openapi.json (no key)
    GET /page/oidc/callback (no key)
    GET /page/session (key)
    GET /page/ways (no key)
    GET /ready (no key)
    GET /sessions (key)
    GET /sessions/{id} (key)
    GET /sessions/{id}/ask/{ask} (key)
    GET /sessions/{id}/cdp (key)
    GET /sessions/{id}/contexts (key)
    GET /sessions/{id}/diff (key)
    GET /sessions/{id}/export (key)
    GET /sessions/{id}/files (key)
    GET /sessions/{id}/files/{name} (key)
    GET /sessions/{id}/history (key)
    GET /sessions/{id}/icon (key)
    GET /sessions/{id}/live (key)
    GET /sessions/{id}/logins (key)
    GET /sessions/{id}/preview (key)
    GET /sessions/{id}/state (key)
    GET /sync/card (key)
    GET /sync/conflicts (key)
    GET /sync/conflicts/{session} (key)
    GET /sync/differences/{peer} (key)
    GET /sync/directory (key)
    GET /sync/events (key)
    GET /sync/greeting (key)
    GET /sync/icons/{peer}/{session} (key)
    GET /sync/index (key)
    GET /sync/invitations (key)
    GET /sync/peers (key)
    GET /sync/sessions/{id} (key)
    GET /sync/sessions/{id}/revisions (key)
    GET /sync/sessions/{session}/icon (key)
    GET /usage (key)
    GET /v1/models (key)
    GET /v1/models/{id} (key)
    POST /api/sandboxes (key)
    POST /api/sandboxes/{id}/display (key)
    POST /api/sandboxes/{id}/exec (key)
    POST /asked/end (no key)
    POST /asked/live (no key)
    POST /asked/look (no key)
    POST /asked/open (no key)
    POST /cocoons/{id}/ticket (key)
    POST /debug/connect (key)
    POST /debug/pair (key)
    POST /debug/pair/exchange (no key)
    POST /debug/tabs/{token}/console (key)
    POST /debug/tabs/{token}/network (key)
    POST /federation (key)
    POST /keys (key)
    POST /mcp (key)
    POST /nodes/{id}/drain (key)
    POST /nodes/{id}/sessions/{session} (key)
    POST /nodes/{id}/sessions/{session}/profile (key)
    POST /nodes/{id}/tools/{tool} (key)
    POST /page/oidc (no key)
    POST /page/session (no key)
    POST /page/tickets (key)
    POST /sessions (key)
    POST /sessions/attach (key)
    POST /sessions/import (key)
    POST /sessions/{id}/abandon (key)
    POST /sessions/{id}/ask (key)
    POST /sessions/{id}/capture (key)
    POST /sessions/{id}/cdp (key)
    POST /sessions/{id}/close (key)
    POST /sessions/{id}/contexts/keep (key)
    POST /sessions/{id}/debug (key)
    POST /sessions/{id}/live (key)
    POST /sessions/{id}/pass (key)
    POST /sessions/{id}/resume (key)
    POST /sessions/{id}/rollback (key)
    POST /sessions/{id}/save (key)
    POST /sync/conflicts/{session} (key)
    POST /sync/files (key)
    POST /sync/index/next (key)
    POST /sync/invitations (key)
    POST /sync/invitations/redeem (no key)
    POST /sync/join (key)
    POST /sync/peers (key)
    POST /sync/peers/{peer}/confirm (key)
    POST /sync/peers/{peer}/ping (key)
    POST /sync/pull/{peer}/{session} (key)
    POST /sync/push/{peer}/{session} (key)
    POST /sync/sessions (key)
    POST /sync/sessions/{id}/lease (key)
    POST /sync/sessions/{id}/parts (key)
    POST /sync/sessions/{id}/parts/fetch (key)
    POST /sync/sessions/{id}/revisions (key)
    POST /sync/sessions/{id}/revisions/seen (key)
    POST /sync/sessions/{id}/seal/{peer} (key)
    POST /v1/chat/completions (key)
    PUT /api/sandboxes/{id}/files (key)
    PUT /asked/files/{name} (no key)
    PUT /cocoons/{id} (key)
    PUT /nodes/{id}/sessions/{session}/files/{name} (key)
    PUT /sessions/{id}/files/{name} (key)
    PUT /sync/peers/{peer}/limits (key)
    ");
    node.stop().await;
}

#[test]
fn the_reference_lists_every_operation() {
    let page = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/reference/http.md");
    let page = std::fs::read_to_string(page).unwrap();
    let document = serde_json::to_value(baton_server::http::document()).unwrap();
    for (path, item) in document["paths"].as_object().unwrap() {
        for method in item.as_object().unwrap().keys() {
            let row = format!("| `{} {path}` |", method.to_uppercase());
            assert!(page.contains(&row), "expected a row that begins with {row}");
        }
    }
}

#[test]
fn the_document_in_the_reference_is_that_of_the_router() {
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/reference/openapi.json");
    let document = serde_json::to_value(baton_server::http::document()).unwrap();
    let written = format!("{document:#}\n");
    if std::env::var_os("BATON_UPDATE_DOCS").is_some() {
        std::fs::write(file, &written).unwrap();
    }
    let found = std::fs::read_to_string(file).unwrap();
    assert!(found == written, "openapi.json is old; BATON_UPDATE_DOCS=1 writes it anew");
}

#[test]
fn every_schema_that_is_named_is_there() {
    let document = serde_json::to_value(baton_server::http::document()).unwrap();
    let mut named = Vec::new();
    collect(&document, &mut named);
    assert!(!named.is_empty());
    for name in named {
        let schema = &document["components"]["schemas"][name];
        assert!(schema.is_object(), "expected a schema {name}, found none");
    }
}

/// A client that was made of the document sends what the document lists, and expects it.
#[test]
fn words_are_listed_as_they_travel() {
    let document = serde_json::to_value(baton_server::http::document()).unwrap();
    let listed = |name: &str| document["components"]["schemas"][name]["enum"].clone();
    assert_eq!(listed("StateKind"), json!(StateKind::ALL));
    assert_eq!(listed("AuthMethod"), json!(AuthMethod::ALL));
    assert_eq!(listed("Scope"), json!(Scope::ALL));
    assert_eq!(listed("ErrorCode"), json!(ErrorCode::ALL));
}

fn collect<'a>(value: &'a serde_json::Value, named: &mut Vec<&'a str>) {
    match value {
        serde_json::Value::Object(fields) => {
            if let Some(name) = fields.get("$ref").and_then(|name| name.as_str()) {
                named.push(name.strip_prefix("#/components/schemas/").unwrap());
            }
            fields.values().for_each(|value| collect(value, named));
        }
        serde_json::Value::Array(items) => items.iter().for_each(|item| collect(item, named)),
        _ => {}
    }
}
