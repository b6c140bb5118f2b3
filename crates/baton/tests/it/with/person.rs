//! A person takes over from Playwright MCP, signs in, and gives the session back.

use super::playwright::PLAYWRIGHT;
use super::scene::{LIMIT, Scene, done, text};
use crate::people::Viewer;
use baton_api::live::ViewerMessage;
use baton_playground::Page;
use serde_json::json;
use tokio::time::timeout;

/// Where the button of the page is.
const BUTTON: &str = "(() => {
    const { x, y, width, height } = document.querySelector('button').getBoundingClientRect();
    return [x + width / 2, y + height / 2];
})()";

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn playwright_mcp_goes_on_signed_in_after_a_person_took_over() {
    let scene = Scene::with_npm().await;
    let bridge = scene.bridge(PLAYWRIGHT, &["--as", "kimi"]).await;
    let url = scene.address("/");
    let opened = bridge.call("session_open", json!({"name": "shop", "urls": [url]})).await.unwrap();
    done(&opened);
    let id = opened["structuredContent"]["sessionId"].as_str().unwrap().parse().unwrap();
    let navigate = async || bridge.call("browser_navigate", json!({"url": url})).await.unwrap();
    done(&navigate().await);

    let access = scene.test_node.client().unwrap().open_live("shop").await.unwrap();
    let mut ada = Viewer::connect(&access.live_url).await;
    ada.say(&ViewerMessage::Look { width: 1280, height: 800 }).await;
    let tab = ada.tab().await;
    ada.take_over("ada").await;
    // What acts is refused with who drives, as soon as the line of Playwright has heard of it.
    let waits = async { while !text(&navigate().await).contains("ada has taken over") {} };
    timeout(LIMIT, ada.hear_during(waits)).await.expect("Playwright is told who drives");
    // Of a script that is refused it says in words of its own that it did not run.
    let click = json!({"element": "Sign in", "target": "button"});
    let clicked = ada.hear_during(bridge.call("browser_click", click)).await.unwrap();
    assert_eq!(clicked["isError"], true, "{clicked}");
    let page = Page::attach(&scene.test_node.keeper_socket(id), &url).await.unwrap();
    assert_eq!(page.evaluate::<String>("document.title").await.unwrap(), "login");

    let (x, y) = page.evaluate(BUTTON).await.unwrap();
    ada.click(tab, x, y).await;
    ada.hear_during(page.wait_for("document.title === 'shop'")).await.unwrap();
    ada.give_back().await;
    let goes_on = async { while navigate().await["isError"] == true {} };
    timeout(LIMIT, ada.hear_during(goes_on)).await.expect("Playwright goes on");
    let shown = done(&bridge.call("browser_snapshot", json!({})).await.unwrap());
    assert!(shown.contains("Welcome, Ada"), "{shown}");
    drop((ada, page));
    bridge.close().await.unwrap();
    scene.strike().await;
}
