//! Two agents at one node, one session: the first works and passes it on, the second goes on in the
//! same tabs, and the first can drive it no longer.

use crate::cdp::Tool;
use crate::mcp::{VERSION, bridge, call, first};
use crate::notes::eventually;
use crate::test_nodes;
use axum::Router;
use axum::response::Html;
use axum::routing::get;
use baton_api::{ErrorCode, OpenCdp};
use baton_playground::{McpClient, Site, TestNode};
use serde_json::json;
use std::time::Duration;
use tokio::time::timeout;

/// How long it may take until a connection that has to end has ended.
const LIMIT: Duration = Duration::from_mins(1);
const UPDATED: &str = "notifications/resources/updated";

/// What `baton mcp` is for an agent of this name.
async fn agent(test_node: &TestNode, name: &str) -> McpClient {
    let client = bridge(test_node, &["--as", name]);
    client.initialize(json!({}), VERSION).await.unwrap();
    client
}

/// What a command on the board says, at whatever time.
fn federation(test_node: &TestNode, args: &[&str]) -> String {
    let mut baton = std::process::Command::new(env!("CARGO_BIN_EXE_baton"));
    baton.arg("--data").arg(test_node.data().path()).arg("federation").args(args);
    let ended = baton.env("FEDERATION_DIR", test_node.board()).output().unwrap();
    assert!(ended.status.success(), "{ended:?}");
    let said = String::from_utf8(ended.stdout).unwrap();
    (1..60).fold(said, |text, age| text.replace(&format!(" {age} s ago"), " 0 s ago"))
}

/// The session's browser, driven in the name of an agent.
async fn drive(test_node: &TestNode, name: &str) -> Tool {
    let client = test_node.client().unwrap().clone().as_agent(Some(name.parse().unwrap()));
    let access = client.open_cdp("shop", &OpenCdp { reusable: true }).await.unwrap();
    Tool::connect(&access.cdp_url).await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_agent_passes_a_session_and_the_other_one_goes_on_in_the_same_tabs() {
    let mut test_node = test_nodes::build();
    test_node.start_node().await.unwrap();
    let page = async || Html("<title>shop</title><p>Welcome</p>");
    let site = Site::start(Router::new().route("/", get(page))).await.unwrap();
    let (kimi, codex) = (agent(&test_node, "kimi").await, agent(&test_node, "codex").await);

    // The first one opens the session, and so drives it.
    let open = json!({"name": "shop", "urls": [site.url("/").unwrap()]});
    let opened = call(&kimi, "session_open", open).await;
    assert!(!opened.starts_with("error"), "{opened}");
    let hands = drive(&test_node, "kimi").await;
    hands.evaluate("document.querySelector('p').textContent = 'three things in the cart'").await;

    let board = federation(&test_node, &["status"]);
    insta::assert_snapshot!(board, @r"
    no active session; the first update or task begins one

    SESSION  DRIVEN BY  SINCE
    shop     kimi       0 s ago
    ");

    // The other one may look, and no more.
    let listed = call(&codex, "list_sessions", json!({})).await;
    assert!(listed.contains("shop"), "{listed}");
    let refused = call(&codex, "session_close", json!({"sessionId": "shop"})).await;
    insta::assert_snapshot!(first(&refused), @"error: expected the agent that drives session shop, kimi, found codex");

    let passed = call(&kimi, "session_pass", json!({"sessionId": "shop", "to": "codex"})).await;
    assert!(!passed.starts_with("error"), "{passed}");
    // The first one's connection ends at once, and no new one begins.
    timeout(LIMIT, hands.connection.closed()).await.expect("it drives the browser no longer");
    let client = test_node.client().unwrap().clone().as_agent(Some("kimi".parse().unwrap()));
    let shut_out = client.open_cdp("shop", &OpenCdp::default()).await.unwrap_err();
    assert_eq!(shut_out.code(), Some(ErrorCode::OtherAgent));
    let refused = call(&kimi, "session_close", json!({"sessionId": "shop"})).await;
    insta::assert_snapshot!(first(&refused), @"error: expected the agent that drives session shop, codex, found kimi");

    // The second one goes on where the first one stopped.
    let hands = drive(&test_node, "codex").await;
    assert_eq!(
        hands.evaluate("document.querySelector('p').textContent").await,
        "three things in the cart"
    );
    // And the first one takes it back, when it says why.
    let back = json!({"sessionId": "shop", "to": "kimi", "reason": "codex has ended"});
    call(&kimi, "session_pass", back).await;
    timeout(LIMIT, hands.connection.closed()).await.expect("it was taken");
    let closed = call(&kimi, "session_close", json!({"sessionId": "shop"})).await;
    assert!(!closed.starts_with("error"), "{closed}");
    test_node.clear().await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn who_subscribed_to_the_board_hears_of_it_from_the_next_node_too() {
    let mut test_node = test_nodes::build();
    test_node.start_node().await.unwrap();
    let kimi = agent(&test_node, "kimi").await;
    let board = json!({"uri": "baton://federation"});
    kimi.request("resources/subscribe", board.clone()).await.unwrap();
    let other = json!({"uri": "baton://sessions/shop"});
    let refused = kimi.request("resources/subscribe", other).await.unwrap_err();
    let refused = format!("{refused:#}");
    assert!(refused.contains("no resource that can be subscribed to"), "{refused}");
    let told = || kimi.notifications().iter().filter(|told| told["method"] == UPDATED).count();

    eventually("the first look is told", async || told() > 0).await;
    // Somebody else does something, with the command line.
    let before = told();
    federation(&test_node, &["update", "codex", "active"]);
    eventually("a change is told", async || told() > before).await;
    // The node dies, and nobody knows what happened until the next one is there.
    test_node.kill_node().await.unwrap();
    let before = told();
    test_node.start_node().await.unwrap();
    eventually("something may have changed", async || told() > before).await;
    let before = told();
    federation(&test_node, &["update", "codex", "idle"]);
    eventually("the next node tells", async || told() > before).await;

    kimi.request("resources/unsubscribe", board).await.unwrap();
    assert!(kimi.close().await.unwrap().success());
    test_node.clear().await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_client_of_the_newest_protocol_listens_through_the_bridge_until_it_leaves() {
    let mut test_node = test_nodes::build();
    test_node.start_node().await.unwrap();
    let client = bridge(&test_node, &[]);
    let params = json!({
        "notifications": {"resourceSubscriptions": ["baton://federation"]},
        "_meta": {
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientInfo": {"name": "test", "version": "1"},
            "io.modelcontextprotocol/clientCapabilities": {},
        },
    });
    let client = std::sync::Arc::new(client);
    let asking = tokio::spawn({
        let client = std::sync::Arc::clone(&client);
        async move { client.request("subscriptions/listen", params).await.map_err(drop) }
    });
    let all = |method: &str| {
        let mut told = client.notifications();
        told.retain(|told| told["method"] == method);
        told
    };
    let begun = "notifications/subscriptions/acknowledged";
    eventually("the first look is told", async || !all(UPDATED).is_empty()).await;
    federation(&test_node, &["update", "codex", "active"]);
    eventually("a change is told", async || all(UPDATED).len() > 1).await;
    // Both name the request that they belong to.
    let id = |method: &str| {
        all(method)[0]["params"]["_meta"]["io.modelcontextprotocol/subscriptionId"].clone()
    };
    assert!(id(begun).is_number() && id(begun) == id(UPDATED), "{}", id(UPDATED));
    asking.abort();
    let _ = asking.await;
    let client = std::sync::Arc::into_inner(client).unwrap();
    assert!(timeout(LIMIT, client.close()).await.unwrap().unwrap().success(), "it need not wait");
    test_node.clear().await.unwrap();
}
