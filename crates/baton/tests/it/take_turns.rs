//! Two agents at one node, one session: the first works and passes it on, the second goes on in the
//! same tabs, and the first can drive it no longer.

use crate::cdp::Tool;
use crate::houses;
use crate::mcp::{VERSION, bridge, call, first};
use axum::Router;
use axum::response::Html;
use axum::routing::get;
use baton_api::{ErrorCode, OpenCdp};
use baton_playground::{House, McpClient, Site};
use serde_json::json;
use std::time::Duration;
use tokio::time::timeout;

/// How long it may take until a connection that has to end has ended.
const LIMIT: Duration = Duration::from_secs(20);

/// What `baton mcp` is for an agent of this name.
async fn agent(house: &House, name: &str) -> McpClient {
    let client = bridge(house, &["--as", name]);
    client.initialize(json!({}), VERSION).await.unwrap();
    client
}

/// The session's browser, driven in the name of an agent.
async fn drive(house: &House, name: &str) -> Tool {
    let client = house.client().unwrap().clone().as_agent(Some(name.parse().unwrap()));
    let access = client.open_cdp("shop", &OpenCdp { reusable: true }).await.unwrap();
    Tool::connect(&access.cdp_url).await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_agent_passes_a_session_and_the_other_one_goes_on_in_the_same_tabs() {
    let mut house = houses::build();
    house.start_node().await.unwrap();
    let page = async || Html("<title>shop</title><p>Welcome</p>");
    let site = Site::start(Router::new().route("/", get(page))).await.unwrap();
    let (kimi, codex) = (agent(&house, "kimi").await, agent(&house, "codex").await);

    // The first one opens the session, and so drives it.
    let open = json!({"name": "shop", "urls": [site.url("/").unwrap()]});
    let opened = call(&kimi, "session_open", open).await;
    assert!(!opened.starts_with("error"), "{opened}");
    let hands = drive(&house, "kimi").await;
    hands.evaluate("document.querySelector('p').textContent = 'three things in the cart'").await;

    // The other one may look, and no more.
    let listed = call(&codex, "list_sessions", json!({})).await;
    assert!(listed.contains("shop"), "{listed}");
    let refused = call(&codex, "session_close", json!({"sessionId": "shop"})).await;
    insta::assert_snapshot!(first(&refused), @"error: expected the agent that drives session shop, kimi, found codex");

    let passed = call(&kimi, "session_pass", json!({"sessionId": "shop", "to": "codex"})).await;
    assert!(!passed.starts_with("error"), "{passed}");
    // The first one's connection ends at once, and no new one begins.
    timeout(LIMIT, hands.connection.closed()).await.expect("it drives the browser no longer");
    let client = house.client().unwrap().clone().as_agent(Some("kimi".parse().unwrap()));
    let shut_out = client.open_cdp("shop", &OpenCdp::default()).await.unwrap_err();
    assert_eq!(shut_out.code(), Some(ErrorCode::OtherAgent));
    let refused = call(&kimi, "session_close", json!({"sessionId": "shop"})).await;
    insta::assert_snapshot!(first(&refused), @"error: expected the agent that drives session shop, codex, found kimi");

    // The second one goes on where the first one stopped.
    let hands = drive(&house, "codex").await;
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
    house.clear().await.unwrap();
}
