//! chrome-devtools-mcp on a session's browser.

use super::scene::{LIMIT, Scene, done, servers};
use baton_playground::{McpClient, victims};
use serde_json::json;

/// How the documentation starts it.
const CHROME: &str = "chrome-devtools-mcp --wsEndpoint {cdp_url}";

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_tools_of_chromes_developers_work_on_the_session() {
    let scene = Scene::with_npm().await;
    let bridge = scene.bridge(CHROME, &[]).await;
    let tools = bridge.list_tools().await.unwrap();
    let evaluate = tools.iter().find(|tool| tool["name"] == "evaluate_script").unwrap();
    assert_eq!(evaluate["inputSchema"]["properties"]["function"]["type"], "string");
    let url = scene.address("/");
    done(&bridge.call("session_open", json!({"name": "shop"})).await.unwrap());
    let before = scene.newest("shop").await;
    let page = page(&bridge).await;
    let call = json!({"pageId": page, "type": "url", "url": url});
    done(&bridge.call("navigate_page", call).await.unwrap());
    let call = json!({"pageId": page, "function": "() => document.title"});
    let title = done(&bridge.call("evaluate_script", call).await.unwrap());
    assert!(title.contains("login"), "{title}");
    scene.wait_for_a_snapshot_after("shop", &before).await;
    done(&bridge.call("session_close", json!({"sessionId": "shop"})).await.unwrap());
    done(&bridge.call("session_resume", json!({"sessionId": "shop"})).await.unwrap());
    let call = json!({"pageId": self::page(&bridge).await, "function": "() => document.title"});
    let title = done(&bridge.call("evaluate_script", call).await.unwrap());
    assert!(title.contains("login"), "{title}");
    let left = servers(&bridge);
    assert_eq!(left.len(), 1, "chrome-devtools-mcp");
    bridge.kill().await.unwrap();
    victims::wait_for_the_end(&left, LIMIT).await.unwrap();
    scene.strike().await;
}

/// The number of the first page: `1: http://127.0.0.1/ [selected]`.
async fn page(bridge: &McpClient) -> u64 {
    let pages = done(&bridge.call("list_pages", json!({})).await.unwrap());
    let mut numbers = pages.lines().filter_map(|line| line.split_once(':')?.0.trim().parse().ok());
    numbers.next().expect(&pages)
}
