//! agent-browser on a session's browser.

use super::scene::{LIMIT, Scene, done, servers};
use baton_playground::victims;
use serde_json::json;

/// How `baton mcp install --drive agent-browser` starts it, but for npx.
const AGENT_BROWSER: &str =
    "env AGENT_BROWSER_SESSION=baton AGENT_BROWSER_CDP={cdp_url} agent-browser mcp";

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_tools_of_agent_browser_work_on_the_session() {
    let scene = Scene::with_npm().await;
    let bridge = scene.bridge(AGENT_BROWSER, &[]).await;
    done(&bridge.call("session_open", json!({"name": "shop"})).await.unwrap());
    let before = scene.newest("shop").await;
    let url = scene.address("/");
    done(&bridge.call("agent_browser_open", json!({ "url": url })).await.unwrap());
    let title = done(&bridge.call("agent_browser_get_title", json!({})).await.unwrap());
    assert!(title.contains("login"), "{title}");
    scene.wait_for_a_snapshot_after("shop", &before).await;
    done(&bridge.call("session_close", json!({"sessionId": "shop"})).await.unwrap());
    done(&bridge.call("session_resume", json!({"sessionId": "shop"})).await.unwrap());
    let title = done(&bridge.call("agent_browser_get_title", json!({})).await.unwrap());
    assert!(title.contains("login"), "{title}");
    let left = servers(&bridge);
    assert_eq!(left.len(), 1, "agent-browser");
    bridge.kill().await.unwrap();
    victims::wait_for_the_end(&left, LIMIT).await.unwrap();
    scene.strike().await;
}
