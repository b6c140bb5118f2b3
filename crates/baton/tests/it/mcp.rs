//! Agents use sessions through `baton mcp`, whatever becomes of the node behind it.

use crate::leases::Street;
use crate::notes::{Notes, eventually};
use crate::test_nodes;
use baton_playground::{McpClient, TestNode};
use baton_session::Lifecycle;
use baton_store::data::NodeFile;
use baton_testing::rounds;
use serde_json::{Value, json};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use tokio::io::AsyncReadExt;
use tokio::net::TcpListener;
use tokio::process::Command;
use tokio::sync::mpsc;

pub(crate) const VERSION: &str = "2025-11-25";
const NO_SESSIONS: &str = "No sessions. session_open opens one.";

/// A bridge on the test node's data folder.
pub(crate) fn bridge(test_node: &TestNode, args: &[&str]) -> McpClient {
    let mut command = Command::new(env!("CARGO_BIN_EXE_baton"));
    // What the bridge starts is found by the folder that it names.
    let temp = test_node.data().path().parent().unwrap();
    command.arg("--data").arg(test_node.data().path()).arg("mcp").args(args).env("TMPDIR", temp);
    command.env("FEDERATION_DIR", test_node.board());
    McpClient::spawn(command).unwrap()
}

/// A bridge with which hands were shaken.
pub(crate) async fn agent(test_node: &TestNode) -> McpClient {
    let client = bridge(test_node, &[]);
    client.initialize(json!({}), VERSION).await.unwrap();
    client
}

/// What a model reads of a tool's answer.
pub(crate) async fn call(client: &McpClient, tool: &str, arguments: Value) -> String {
    let answer = client.call(tool, arguments).await.unwrap();
    let text = answer["content"][0]["text"].as_str().unwrap();
    let mark = if answer["isError"] == true { "error: " } else { "" };
    format!("{mark}{text}")
}

pub(crate) fn first(text: &str) -> &str {
    text.lines().next().unwrap_or_default()
}

#[tokio::test]
async fn the_list_of_tools_needs_no_node() {
    let test_node = test_nodes::build();
    for version in ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25", "1999-01-01"] {
        let client = bridge(&test_node, &[]);
        let hello = client.initialize(json!({}), version).await.unwrap();
        let spoken = if version < "2000" { "2025-11-25" } else { version };
        assert_eq!(hello["protocolVersion"], spoken);
        assert_eq!(hello["serverInfo"]["name"], "baton");
        let tools = client.list_tools().await.unwrap();
        assert_eq!(tools.len(), 37);
        assert!(client.close().await.unwrap().success());
    }
    let client = bridge(&test_node, &["--toolsets", "keep"]);
    let meta = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": {"name": "test", "version": "1"},
        "io.modelcontextprotocol/clientCapabilities": {},
    });
    let found = client.request("server/discover", json!({"_meta": meta})).await.unwrap();
    assert!(found["supportedVersions"].as_array().unwrap().contains(&json!("2026-07-28")));
    let list = client.request("tools/list", json!({"_meta": meta})).await.unwrap();
    assert_eq!(list["resultType"], "complete");
    assert_eq!(list["tools"].as_array().unwrap().len(), 12);
    client.close().await.unwrap();
    assert!(NodeFile::read(test_node.data()).unwrap().is_none(), "no node was started");
    test_node.clear().await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_next_agent_carries_on_after_everything_was_killed() {
    let notes = Notes::start().await;
    let mut test_node = test_nodes::test_node().await;
    let one = agent(&test_node).await;
    let url = notes.request("x").urls[0].clone();
    let opened = call(&one, "session_open", json!({"name": "shop", "urls": [url]})).await;
    let opened = first(&opened);
    assert!(opened.starts_with("shop is active.") && opened.ends_with("ago (open)."), "{opened}");
    let session = test_node.client().unwrap().fetch_session("shop").await.unwrap();
    notes.write(&test_node, session.session.id, "logged in").await;
    let saved = call(&one, "session_capture", json!({})).await;
    assert!(saved.starts_with("Saved shop: ") && saved.ends_with("ago (request)."), "{saved}");
    test_node.kill_everybody(&[session.session.id]).await.unwrap();
    one.kill().await.unwrap();

    let two = agent(&test_node).await;
    let listed = call(&two, "list_sessions", json!({})).await;
    assert!(listed.starts_with("sessionId state changed\nshop recoverable"), "{listed}");
    let params = json!({
        "name": "session_resume", "arguments": {"session_id": "shop"},
        "_meta": {"progressToken": "p"},
    });
    let resumed = two.request("tools/call", params).await.unwrap();
    assert_eq!(resumed["structuredContent"]["state"], "active", "{resumed}");
    assert_eq!(resumed["structuredContent"]["receipt"]["rejected"], 0, "{resumed}");
    assert!(resumed.get("resultType").is_none(), "an older client knows no such field");
    let told = two.notifications();
    let progress = told.iter().find(|told| told["method"] == "notifications/progress").unwrap();
    assert_eq!(progress["params"]["progressToken"], "p");
    assert_eq!(notes.read(&test_node, session.session.id).await, "logged in");
    let closed = call(&two, "session_close", json!({})).await;
    assert!(closed.starts_with("shop is closed."), "{closed}");
    assert!(two.close().await.unwrap().success());
    test_node.clear().await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_node_that_ends_is_replaced_by_one_for_all_bridges() {
    let test_node = test_nodes::build();
    let (one, two, three) = tokio::join!(agent(&test_node), agent(&test_node), agent(&test_node));
    let list = |client| call(client, "list_sessions", json!({}));
    for _ in 0..2 {
        let answers = tokio::join!(list(&one), list(&two), list(&three));
        for answer in [answers.0, answers.1, answers.2] {
            assert_eq!(answer, NO_SESSIONS);
        }
        let node = NodeFile::read(test_node.data()).unwrap().expect("a node was started");
        baton_playground::victims::kill_all(&[("node", node.pid)]).await.unwrap();
    }
    test_node.clear().await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn whoever_takes_the_port_of_a_dead_node_does_not_hear_the_key() {
    let mut test_node = test_nodes::test_node().await;
    let client = agent(&test_node).await;
    assert_eq!(call(&client, "list_sessions", json!({})).await, NO_SESSIONS);
    let address = test_node.client().unwrap().base().socket_addrs(|| None).unwrap()[0];
    test_node.kill_node().await.unwrap();
    let port = TcpListener::bind(address).await.unwrap();
    let (tell, mut told) = mpsc::unbounded_channel();
    let eavesdropper = tokio::spawn(async move {
        while let Ok((mut stream, _)) = port.accept().await {
            let mut heard = vec![0; 4096];
            let length = stream.read(&mut heard).await.unwrap_or(0);
            let _ = tell.send(String::from_utf8_lossy(&heard[..length]).to_lowercase());
        }
    });
    assert_eq!(call(&client, "list_sessions", json!({})).await, NO_SESSIONS);
    eavesdropper.abort();
    let mut heard = Vec::new();
    while let Some(request) = told.recv().await {
        heard.push(request);
    }
    assert!(heard.iter().all(|heard| heard.starts_with("get /health ")), "{heard:?}");
    assert!(heard.iter().all(|heard| !heard.contains("authorization")), "{heard:?}");
    client.close().await.unwrap();
    test_node.clear().await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_client_that_can_ask_its_user_does() {
    let notes = Notes::start().await;
    let test_node = test_nodes::test_node().await;
    notes.open(&test_node, "shop", "kept").await;
    let client = bridge(&test_node, &["--session", "shop"]);
    let asked = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&asked);
    client.answer_elicitations(move |question| {
        assert!(question["message"].as_str().unwrap().contains("session shop"), "{question}");
        let actions = ["decline", "accept", "accept"];
        json!({"action": actions[count.fetch_add(1, Ordering::SeqCst)]})
    });
    client.initialize(json!({"elicitation": {}}), VERSION).await.unwrap();
    let declined = call(&client, "session_export", json!({})).await;
    assert!(declined.starts_with("error: the user was asked and did not agree"), "{declined}");
    let exported = call(&client, "session_export", json!({})).await;
    assert!(exported.contains("exchange/local/shop.session.json"), "{exported}");
    let abandoned = call(&client, "session_abandon", json!({})).await;
    assert!(abandoned.starts_with("shop is closed."), "{abandoned}");
    assert_eq!(asked.load(Ordering::SeqCst), 3);
    let imported = json!({"file": "shop.session.json", "name": "copy"});
    let imported = call(&client, "session_import", imported).await;
    assert!(imported.starts_with("copy is recoverable."), "{imported}");
    client.close().await.unwrap();
    test_node.clear().await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_a_client_began_is_finished_without_it() {
    let notes = Notes::start().await;
    let test_node = test_nodes::test_node().await;
    let client = agent(&test_node).await;
    let url = notes.request("x").urls[0].clone();
    let params = json!({"name": "session_open", "arguments": {"name": "shop", "urls": [url]},
                        "_meta": {"progressToken": 1}});
    let opening = client.request("tools/call", params);
    tokio::select! {
        _ = opening => panic!("a session opens in no time"),
        () = async {
            // It has begun when the client hears of it.
            while client.notifications().is_empty() {
                tokio::task::yield_now().await;
            }
        } => {}
    }
    client.kill().await.unwrap();
    let node = test_node.client().unwrap();
    eventually("the session is open and captured", async || {
        let found = node.fetch_session("shop").await;
        found
            .is_ok_and(|found| found.session.state == Lifecycle::Active && found.snapshot.is_some())
    })
    .await;
    test_node.clear().await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nothing_that_a_client_hears_is_a_secret() {
    const PLANTED: &str = "pl4nted-s3cret";
    let notes = Notes::start().await;
    let test_node = test_nodes::test_node().await;
    let id = notes.open(&test_node, "shop", PLANTED).await;
    let page = notes.page(&test_node, id).await;
    let plant = format!(
        "document.cookie = 'token={PLANTED}; max-age=3600'; sessionStorage.setItem('t', '{PLANTED}'); \
         history.replaceState({{t: '{PLANTED}'}}, '', '/?access_token={PLANTED}'); true"
    );
    assert!(page.evaluate::<bool>(&plant).await.unwrap());
    let client = bridge(&test_node, &["--unattended", "--session", "shop"]);
    client.initialize(json!({}), VERSION).await.unwrap();
    let mut heard = String::new();
    let snapshots = test_node.client().unwrap().fetch_session("shop").await.unwrap().snapshot;
    let before = snapshots.unwrap().id;
    for (tool, arguments) in [
        ("list_sessions", json!({"state": "all"})),
        ("session_capture", json!({})),
        ("session_history", json!({})),
        ("session_export", json!({})),
        ("session_export", json!({"format": "storage-state"})),
        ("session_import", json!({"file": "shop.session.json", "name": "copy"})),
        ("session_resume", json!({"sessionId": "copy"})),
        ("session_close", json!({"sessionId": "copy"})),
        ("session_rollback", json!({"to": before})),
        ("session_close", json!({})),
        ("session_resume", json!({})),
        ("session_abandon", json!({})),
        ("session_import", json!({"file": "../../admin.key"})),
    ] {
        heard += &client.call(tool, arguments).await.unwrap().to_string();
    }
    let capture =
        test_node.client().unwrap().fetch_session("shop").await.unwrap().snapshot.unwrap().id;
    let diff = json!({"sessionId": "shop", "from": before, "to": capture});
    heard += &client.call("session_diff", diff).await.unwrap().to_string();
    for uri in ["baton://sessions/shop", "baton://sessions/shop/receipt"] {
        heard += &client.request("resources/read", json!({"uri": uri})).await.unwrap().to_string();
    }
    let key = std::fs::read_to_string(test_node.data().admin_key()).unwrap();
    for secret in [PLANTED, key.trim()] {
        let at = heard.find(secret);
        assert!(at.is_none(), "{:?}", at.map(|at| &heard[at.saturating_sub(300)..at]));
    }
    client.close().await.unwrap();
    test_node.clear().await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn twenty_clients_hear_their_own_answers() {
    let test_node = Arc::new(test_nodes::test_node().await);
    let mut clients = tokio::task::JoinSet::new();
    for client in 0..20 {
        let test_node = Arc::clone(&test_node);
        clients.spawn(async move {
            let agent = agent(&test_node).await;
            for at in 0..rounds(16) {
                let name = format!("nobody-{client}-{at}");
                for tool in
                    ["session_history", "session_capture", "session_close", "session_resume"]
                {
                    let name = format!("{name}-{tool}");
                    let told = call(&agent, tool, json!({"sessionId": name})).await;
                    assert_eq!(first(&told), format!("error: no session \"{name}\""));
                }
            }
            agent.close().await.unwrap();
        });
    }
    while let Some(done) = clients.join_next().await {
        done.unwrap();
    }
    let Ok(test_node) = Arc::try_unwrap(test_node) else { panic!("everybody has left") };
    test_node.clear().await.unwrap();
}

#[tokio::test]
async fn what_cannot_be_read_is_answered_and_costs_nothing_else() {
    use std::process::Stdio;
    use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};
    let test_node = test_nodes::build();
    let mut command = Command::new(env!("CARGO_BIN_EXE_baton"));
    command.arg("--data").arg(test_node.data().path()).arg("mcp");
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).kill_on_drop(true);
    let mut bridge = command.spawn().unwrap();
    let mut input = bridge.stdin.take().unwrap();
    let mut output = BufReader::new(bridge.stdout.take().unwrap()).lines();
    let mut heard = Vec::new();
    for line in [
        "no json",
        "[]",
        "{\"jsonrpc\":\"2.0\",\"id\":1}",
        "{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":7}",
        "{\"jsonrpc\":\"2.0\",\"id\":3,\"method\":\"tools/list\",\"params\":[]}",
        "{\"jsonrpc\":\"2.0\",\"id\":4,\"method\":\"ping\"}",
        "{\"jsonrpc\":\"2.0\",\"id\":4,\"method\":\"logging/setLevel\"}",
    ] {
        input.write_all(format!("{line}\n").as_bytes()).await.unwrap();
        heard.push(output.next_line().await.unwrap().unwrap());
    }
    // Version 2025-03-26 has several on a line.
    let ping = |id: u32| format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"method\":\"ping\"}}");
    input.write_all(format!("[{},7,{}]\n", ping(5), ping(6)).as_bytes()).await.unwrap();
    let mut batch = Vec::new();
    for _ in 0..3 {
        batch.push(output.next_line().await.unwrap().unwrap());
    }
    batch.sort_unstable();
    heard.append(&mut batch);
    drop(input);
    assert!(bridge.wait().await.unwrap().success());
    insta::assert_snapshot!(heard.join("\n"), @r#"
    {"error":{"code":-32700,"message":"expected JSON: expected ident at line 1 column 2"},"id":null,"jsonrpc":"2.0"}
    {"error":{"code":-32600,"message":"expected 1 to 64 messages a line, found 0"},"id":null,"jsonrpc":"2.0"}
    {"error":{"code":-32600,"message":"expected a method, found none"},"id":1,"jsonrpc":"2.0"}
    {"error":{"code":-32600,"message":"expected the method as text"},"id":2,"jsonrpc":"2.0"}
    {"error":{"code":-32602,"message":"expected params as an object, found something else"},"id":3,"jsonrpc":"2.0"}
    {"id":4,"jsonrpc":"2.0","result":{}}
    {"error":{"code":-32601,"message":"there is no log here"},"id":4,"jsonrpc":"2.0"}
    {"error":{"code":-32600,"message":"expected a message, found something else"},"id":null,"jsonrpc":"2.0"}
    {"id":5,"jsonrpc":"2.0","result":{}}
    {"id":6,"jsonrpc":"2.0","result":{}}
    "#);
    test_node.clear().await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_session_that_another_node_holds_is_left_to_it() {
    let street = Street::build().await;
    let id = street.open().await;
    let node = street.test_nodes[0].client().unwrap().health().await.unwrap().node_id.to_string();
    let client = agent(&street.test_nodes[1]).await;
    let mut heard = Vec::new();
    for tool in ["session_resume", "session_capture", "session_close"] {
        let told = call(&client, tool, json!({"sessionId": "shop"})).await;
        heard.push(format!(
            "{tool}: {}",
            told.replace(&node, "NODE").replace(&id.to_string(), "ID")
        ));
    }
    insta::assert_snapshot!(heard.join("\n"), @r"
    session_resume: error: expected nobody to hold the session, found node NODE
    Next: use that node; when it has stopped, its lease ends by itself
    session_capture: error: session shop lives on node NODE; ask that node
    session_close: error: session shop lives on node NODE; ask that node
    ");
    client.close().await.unwrap();
    street.clear().await;
}
