//! A page of the web asks a node on its own machine for tools, with a key and without: nothing comes
//! of it, and the page learns nothing.

use crate::notes::Notes;
use crate::test_nodes;
use baton_api::ListHistory;
use baton_playground::TestNode;
use serde_json::json;

/// Asks in a page: what each of the ways ends with, in the page's eyes.
const ASK: &str = r#"(async (address, key, body) => {
    const json = { "content-type": "application/json", accept: "application/json, text/event-stream" };
    const newest = { "mcp-protocol-version": "2026-07-28", "mcp-method": "tools/call", "mcp-name": "session_capture" };
    const authorization = `Bearer ${key}`;
    const ways = {
        "without a key": { method: "POST", headers: { ...json, ...newest }, body },
        "with a key": { method: "POST", headers: { ...json, ...newest, authorization }, body },
        "without a preflight": { method: "POST", headers: { "content-type": "text/plain" }, body },
        "without looking": { method: "POST", mode: "no-cors", body },
        "with cookies": { method: "POST", credentials: "include", headers: json, body },
        "a stream, with a key": { headers: { accept: "text/event-stream", authorization } },
        "a stream": { headers: { accept: "text/event-stream" } },
        "an end": { method: "DELETE", headers: { authorization } },
    };
    const ends = [];
    for (const [way, how] of Object.entries(ways)) {
        const end = await fetch(address, how).then(
            async (answer) => `${answer.type} ${answer.status} ${await answer.text()}`.trim(),
            (error) => error.toString(),
        );
        ends.push(`${way}: ${end}`);
    }
    return ends.join("\n");
})"#;

/// How many snapshots somebody asked for.
async fn requested(test_node: &TestNode) -> usize {
    let history = test_node.client().unwrap().list_history("shop", &ListHistory::default()).await;
    let taken = history.unwrap().items.into_iter();
    taken.filter(|snapshot| snapshot.reason.to_string() == "request").count()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nothing_comes_of_what_a_page_asks_for() {
    let notes = Notes::start().await;
    let test_node = test_nodes::test_node().await;
    let id = notes.open(&test_node, "shop", "kept").await;
    let before = requested(&test_node).await;
    let page = notes.page(&test_node, id).await;
    let node = test_node.client().unwrap().base().join("mcp?unattended=true").unwrap();
    let key = std::fs::read_to_string(test_node.data().admin_key()).unwrap();
    let meta = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": {"name": "page", "version": "1"},
        "io.modelcontextprotocol/clientCapabilities": {},
    });
    let params =
        json!({"name": "session_capture", "arguments": {"sessionId": "shop"}, "_meta": meta});
    let body = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params});
    let words = json!([node.as_str(), key.trim(), body.to_string()]);
    let ends: String = page.evaluate(&format!("{ASK}(...{words})")).await.unwrap();
    insta::assert_snapshot!(ends, @"
    without a key: TypeError: Failed to fetch
    with a key: TypeError: Failed to fetch
    without a preflight: TypeError: Failed to fetch
    without looking: opaque 0
    with cookies: TypeError: Failed to fetch
    a stream, with a key: TypeError: Failed to fetch
    a stream: TypeError: Failed to fetch
    an end: TypeError: Failed to fetch
    ");
    assert_eq!(requested(&test_node).await, before, "a page captured a session");

    // Whoever is no page is heard, with the same words.
    let heard = reqwest::Client::new()
        .post(node)
        .bearer_auth(key.trim())
        .header("content-type", "application/json")
        .header("accept", "application/json, text/event-stream")
        .header("mcp-protocol-version", "2026-07-28")
        .header("mcp-method", "tools/call")
        .header("mcp-name", "session_capture")
        .body(body.to_string());
    assert!(heard.send().await.unwrap().status().is_success());
    assert_eq!(requested(&test_node).await, before + 1);
    test_node.clear().await.unwrap();
}
