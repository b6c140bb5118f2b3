//! The story: an agent signs in, everything is killed, and the next agent is signed in.

use super::playwright::PLAYWRIGHT;
use super::scene::{LIMIT, Scene, done, servers};
use baton_playground::victims;
use serde_json::{Value, json};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_next_agent_is_signed_in() {
    let mut scene = Scene::with_npm().await;
    let url = scene.address("/");
    let first = scene.bridge(PLAYWRIGHT, &[]).await;
    let call = json!({"name": "shop", "urls": [url]});
    let opened = first.call("session_open", call).await.unwrap();
    done(&opened);
    done(&first.call("browser_navigate", json!({"url": url})).await.unwrap());
    let page = done(&first.call("browser_snapshot", json!({})).await.unwrap());
    let button = reference(&page, "Sign in");
    let click = json!({"element": "Sign in", "ref": button, "target": button});
    let page = done(&first.call("browser_click", click).await.unwrap());
    assert!(page.contains("shop"), "{page}");
    scene.wait_until_kept("shop", "signed_in").await;

    let left = servers(&first);
    assert_eq!(left.len(), 1, "Playwright MCP");
    first.kill().await.unwrap();
    victims::wait_for_the_end(&left, LIMIT).await.unwrap();
    let id = opened["structuredContent"]["sessionId"].as_str().unwrap().parse().unwrap();
    scene.test_node.kill_everybody(&[id]).await.unwrap();

    // The next agent's bridge starts a node by itself.
    let next = scene.bridge(PLAYWRIGHT, &["--unattended"]).await;
    let listed: Value = next.call("list_sessions", json!({})).await.unwrap();
    assert!(done(&listed).contains("shop recoverable"), "{listed}");
    done(&next.call("session_resume", json!({"sessionId": "shop"})).await.unwrap());
    let page = done(&next.call("browser_snapshot", json!({})).await.unwrap());
    assert!(page.contains("Welcome, Ada"), "{page}");
    next.close().await.unwrap();
    scene.strike().await;
}

/// What Playwright calls an element of the page: `button "Sign in" [ref=e3]`.
fn reference<'page>(page: &'page str, label: &str) -> &'page str {
    let line = page.lines().find(|line| line.contains(&format!("\"{label}\""))).expect(page);
    line.split_once("[ref=").and_then(|(_, rest)| rest.split_once(']')).expect(line).0
}
