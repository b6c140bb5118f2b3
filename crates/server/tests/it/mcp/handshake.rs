//! Clients of older protocols, which begin with a handshake and have sessions of the protocol.

use super::{answer, with_a_session};
use crate::fixture::{Node, one_line, problem};
use baton_api::{CreateKey, Scope};
use reqwest::{Method, RequestBuilder};
use serde_json::json;

const SESSION: &str = "mcp-session-id";

/// A request of a key.
pub(crate) fn of(node: &Node, method: Method, key: &str) -> RequestBuilder {
    let request = node.request(method, "/mcp").bearer_auth(key);
    request.header("accept", "application/json, text/event-stream")
}

/// A request of the local owner, in a session of an older protocol.
pub(super) fn within(node: &Node, method: Method, session: &str) -> RequestBuilder {
    of(node, method, &node.admin_key()).header(SESSION, session)
}

/// A session of an older protocol, in which hands were shaken.
pub(super) async fn ready(node: &Node) -> String {
    let begun = hello(node, "2025-06-18", &node.admin_key()).send().await.unwrap();
    let session = begun.headers()[SESSION].to_str().unwrap().to_owned();
    assert_eq!(answer(begun).await["result"]["protocolVersion"], "2025-06-18");
    let ready = json!({"jsonrpc": "2.0", "method": "notifications/initialized"});
    let sent = within(node, Method::POST, &session).json(&ready).send().await.unwrap();
    assert_eq!(sent.status(), 202);
    session
}

#[tokio::test]
async fn a_session_of_an_older_protocol_answers_only_the_key_that_began_it() {
    let node = with_a_session().await;
    let session = ready(&node).await;
    let list = json!({"jsonrpc": "2.0", "id": 2, "method": "tools/list"});
    let listed = within(&node, Method::POST, &session).json(&list).send().await.unwrap();
    assert_eq!(answer(listed).await["result"]["tools"].as_array().unwrap().len(), 37);

    let other = CreateKey {
        name: "other".parse().unwrap(),
        owner: Some("somebody".parse().unwrap()),
        scopes: [Scope::Read].into(),
        for_node: None,
    };
    let other = node.admin().create_key(&other).await.unwrap();
    for method in [Method::POST, Method::GET, Method::DELETE] {
        let stolen = of(&node, method, &other.secret).header(SESSION, &session).json(&list);
        let refused = problem(stolen.send().await.unwrap()).await;
        assert_eq!(refused.status, 404, "{}", one_line(&refused));
    }
    let ended = within(&node, Method::DELETE, &session).send().await.unwrap();
    assert_eq!(ended.status(), 204, "clients warn of what has not ended yet");
    let late = within(&node, Method::POST, &session).json(&list).send().await.unwrap();
    assert_eq!(late.status(), 404);
    node.stop().await;
}

/// What begins a session of an older protocol, and says that it is of `version`.
pub(crate) fn hello(node: &Node, version: &str, key: &str) -> RequestBuilder {
    let hello = json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
        "protocolVersion": version, "capabilities": {},
        "clientInfo": {"name": "test", "version": "1"},
    }});
    let request = of(node, Method::POST, key);
    request.header("mcp-protocol-version", version).json(&hello)
}

#[tokio::test]
async fn a_key_has_a_hundred_sessions_of_an_older_protocol_at_once() {
    let node = Node::start().await;
    // Whatever version it names, a handshake begins a session.
    let mut hellos = tokio::task::JoinSet::new();
    for version in ["2025-06-18", "2026-07-28"].into_iter().cycle().take(110) {
        hellos.spawn(hello(&node, version, &node.admin_key()).send());
    }
    let (mut begun, mut refused) = (Vec::new(), Vec::new());
    while let Some(answer) = hellos.join_next().await {
        let answer = answer.unwrap().unwrap();
        match answer.headers().get("mcp-session-id") {
            Some(session) => begun.push(session.clone()),
            None => refused.push(one_line(&problem(answer).await)),
        }
    }
    assert_eq!((begun.len(), refused.len()), (100, 10));
    insta::assert_snapshot!(refused[0], @"429 too_many_requests: expected at most 100 sessions of the protocol at once, found more");
    // One that ends leaves its place to another.
    let end = node.request(Method::DELETE, "/mcp").bearer_auth(node.admin_key());
    assert_eq!(end.header("mcp-session-id", &begun[0]).send().await.unwrap().status(), 204);
    assert_eq!(hello(&node, "2025-06-18", &node.admin_key()).send().await.unwrap().status(), 200);
    assert_eq!(hello(&node, "2026-07-28", &node.admin_key()).send().await.unwrap().status(), 429);
    node.stop().await;
}
