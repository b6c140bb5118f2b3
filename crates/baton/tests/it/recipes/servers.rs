//! Recipes that are a server of an agent: its settings, and what the agent then calls.

use super::{Scene, guide};
use baton_playground::McpClient;
use baton_playground::tools::Room;
use serde_json::{Value, json};

/// Starts the server of a recipe as an agent does, from the settings.
async fn start(room: &Room, heading: &str) -> McpClient {
    let blocks = guide::recipe(heading);
    let settings: Value = serde_json::from_str(&blocks[0].text).unwrap();
    let server = settings["mcpServers"].as_object().unwrap().values().next().unwrap();
    let mut command = room.command(server["command"].as_str().unwrap()).unwrap();
    command.args(server["args"].as_array().unwrap().iter().map(|word| word.as_str().unwrap()));
    let client = McpClient::spawn(command).unwrap();
    client.initialize(json!({}), "2025-06-18").await.unwrap();
    assert!(client.list_tools().await.unwrap().len() > 10);
    client
}

/// The text that a tool answers with.
async fn call(client: &McpClient, tool: &str, arguments: Value) -> String {
    let answer = client.call(tool, arguments).await.unwrap();
    assert_ne!(answer["isError"], true, "{answer}");
    let texts = answer["content"].as_array().unwrap().iter();
    texts.filter_map(|part| part["text"].as_str()).collect()
}

/// What stands behind the name of an element in a picture of a page, between `before` and `after`.
fn behind<'a>(text: &'a str, element: &str, before: &str, after: &str) -> &'a str {
    let line = text.lines().find(|line| line.contains(element));
    let line = line.unwrap_or_else(|| panic!("expected {element} in {text}"));
    line.split_once(before).and_then(|(_, rest)| rest.split_once(after)).unwrap().0
}

/// Playwright MCP works, and comes back after a resume.
pub(super) async fn playwright_mcp(scene: &Scene, room: &Room) {
    let server = start(room, "Playwright MCP").await;
    let page = call(&server, "browser_snapshot", json!({})).await;
    let (field, button) =
        (behind(&page, "textbox", "[ref=", "]"), behind(&page, "button", "[ref=", "]"));
    call(&server, "browser_type", json!({ "element": "name", "target": field, "text": "Ada" }))
        .await;
    call(&server, "browser_click", json!({ "element": "greet", "target": button })).await;
    let tabs = call(&server, "browser_tabs", json!({ "action": "list" })).await;
    assert!(tabs.contains("hello Ada"), "{tabs}");
    scene.kill_and_resume().await;
    let tabs = call(&server, "browser_tabs", json!({ "action": "list" })).await;
    assert_eq!(tabs.matches(&scene.address()).count(), 1, "{tabs}");
    assert_eq!(tabs.matches("://").count(), 1, "nothing but the tab of the session: {tabs}");
    call(&server, "browser_close", json!({})).await;
    scene.look().await;
    assert!(server.close().await.unwrap().success());
}

/// Chrome DevTools MCP works, and comes back after a resume.
pub(super) async fn chrome_devtools_mcp(scene: &Scene, room: &Room) {
    let server = start(room, "Chrome DevTools MCP").await;
    let pages = call(&server, "list_pages", json!({})).await;
    assert!(pages.contains(&scene.address()), "{pages}");
    let page = call(&server, "take_snapshot", json!({ "pageId": 1 })).await;
    assert!(page.contains("Welcome"), "{page}");
    let field = behind(&page, "textbox", "uid=", " ");
    let fill = json!({ "pageId": 1, "uid": field, "value": "Ada" });
    call(&server, "fill", fill).await;
    let click = json!({ "pageId": 1, "uid": behind(&page, "button", "uid=", " ") });
    call(&server, "click", click).await;
    let pages = call(&server, "list_pages", json!({})).await;
    assert!(pages.contains("hello Ada"), "{pages}");
    scene.kill_and_resume().await;
    let pages = call(&server, "list_pages", json!({})).await;
    assert_eq!(pages.matches(&scene.address()).count(), 1, "{pages}");
    assert_eq!(pages.matches("://").count(), 1, "nothing but the tab of the session: {pages}");
    assert!(server.close().await.unwrap().success());
}
