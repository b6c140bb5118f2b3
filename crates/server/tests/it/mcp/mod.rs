//! The MCP door as its clients see it, over HTTP and without a browser.

mod carry;
mod files;
mod foreign;
pub(crate) mod handshake;
mod person;
mod subscriptions;
mod turns;

use crate::fixture::{Folder, Node, one_line, problem, seed_snapshot, state_at};
use baton_api::{CreateKey, ListAudit, Scope, Wishes};
use reqwest::{Method, RequestBuilder, Response};
use serde_json::{Value, json};

/// A message of today's protocol, which has no sessions of its own.
pub(crate) fn message(
    node: &Node,
    key: &str,
    method: &str,
    mut params: Value,
    asks: &Value,
) -> RequestBuilder {
    let name = params["name"].as_str().or(params["uri"].as_str()).map(str::to_owned);
    params["_meta"] = meta(asks);
    let request = node
        .request(Method::POST, "/mcp")
        .bearer_auth(key)
        .header("accept", "application/json, text/event-stream")
        .header("mcp-protocol-version", "2026-07-28")
        .header("mcp-method", method)
        .json(&json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params}));
    match name {
        Some(name) => request.header("mcp-name", name),
        None => request,
    }
}

/// What a client of today's protocol says of itself with each request.
fn meta(asks: &Value) -> Value {
    json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": {"name": "test", "version": "1"},
        "io.modelcontextprotocol/clientCapabilities": asks,
    })
}

/// What a client that can ask nobody is answered.
async fn ask(node: &Node, key: &str, method: &str, params: Value) -> Value {
    answer(message(node, key, method, params, &json!({})).send().await.unwrap()).await
}

/// What a tool answers: the text that a model reads.
pub(crate) async fn call(node: &Node, key: &str, name: &str, arguments: Value) -> String {
    let params = json!({"name": name, "arguments": arguments});
    let answer = ask(node, key, "tools/call", params).await;
    told(&answer)
}

/// What a tool answers in data to a client whose user agreed beforehand.
async fn unattended(node: &Node, name: &str, arguments: Value) -> Value {
    let params = json!({"name": name, "arguments": arguments});
    let agreed = message(node, &node.admin_key(), "tools/call", params, &json!({}));
    let mut agreed = agreed.build().unwrap();
    agreed.url_mut().set_query(Some("unattended=true"));
    let sent = reqwest::Client::new().execute(agreed).await.unwrap();
    answer(sent).await["result"]["structuredContent"].take()
}

pub(crate) fn told(answer: &Value) -> String {
    let mark = if answer["result"]["isError"] == true { "error: " } else { "" };
    match answer["result"]["content"][0]["text"].as_str() {
        Some(text) => format!("{mark}{text}"),
        None => format!("refused: {}", answer["error"]["message"].as_str().unwrap()),
    }
}

/// The last message of an answer, which may be a stream of events.
pub(crate) async fn answer(response: Response) -> Value {
    let text = response.text().await.unwrap();
    let mut data = text.lines().filter_map(|line| line.strip_prefix("data:"));
    let last = data.next_back().unwrap_or(&text);
    serde_json::from_str(last.trim()).unwrap_or_else(|_| panic!("no message: {text}"))
}

/// A node with the session `shop`, which has one snapshot, and one of somebody else.
async fn with_a_session() -> Node {
    let folder = Folder::new();
    let store = folder.store().await;
    let id = folder.seed(&store, "local", "shop").await;
    seed_snapshot(&store, "local", id, &state_at("https://shop.test/?token=s3cret")).await;
    folder.seed(&store, "somebody", "theirs").await;
    store.close().await;
    folder.start().await
}

#[tokio::test]
async fn the_tools_are_told_in_few_words() {
    let node = Node::start().await;
    let answer = ask(&node, &node.admin_key(), "tools/list", json!({})).await;
    let tools = &answer["result"]["tools"];
    let tools = tools.as_array().unwrap();
    let all = json!(tools).to_string().len();
    assert!(
        all <= 16_000,
        "expected 16,000 bytes at most, found {all}; new words take the room of old ones"
    );
    let (keep, others) = tools.split_at(12);
    let (carry, others) = others.split_at(10);
    let (look, others) = others.split_at(4);
    let (turns, sandbox) = others.split_at(7);
    for (set, most) in [(keep, 6), (carry, 4), (look, 4), (turns, 4), (sandbox, 2)] {
        let bytes = json!(set).to_string().len();
        assert!(bytes <= most * 1024, "expected {most} kB at most, found {bytes} bytes");
    }
    node.stop().await;
}

#[tokio::test]
async fn the_tools_and_what_they_are_given_are_told() {
    let node = Node::start().await;
    let answer = ask(&node, &node.admin_key(), "tools/list", json!({})).await;
    let tools = answer["result"]["tools"].as_array().unwrap();
    let page = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/reference/mcp.md");
    let page = std::fs::read_to_string(page).unwrap();
    let mut lines = Vec::new();
    for tool in tools {
        let name = tool["name"].as_str().unwrap();
        assert!(page.contains(&format!("| `{name}` |")), "the reference lists {name}");
        let mut given = tool["inputSchema"]["properties"].as_object().unwrap().clone();
        let required = tool["inputSchema"]["required"].as_array().cloned().unwrap_or_default();
        for name in required {
            given.remove(name.as_str().unwrap()).unwrap();
            lines.push(format!("{}: {name} is required", tool["name"].as_str().unwrap()));
        }
        lines.push(format!("{name}({})", given.keys().cloned().collect::<Vec<_>>().join(", ")));
    }
    let argument = |tool: &str, name: &str| {
        let tool = tools.iter().find(|one| one["name"] == tool).unwrap();
        tool["inputSchema"]["properties"][name].clone()
    };
    let levels = json!(["log", "debug", "info", "warn", "error"]);
    assert_eq!(argument("browser_debug_get_console", "level")["items"]["enum"], levels);
    let [console, network] = ["browser_debug_get_console", "browser_debug_get_network"]
        .map(|tool| argument(tool, "id")["type"].clone());
    assert_eq!(console, network, "an id is told in one way");
    insta::assert_snapshot!(lines.join("\n"), @r#"
    list_sessions(cursor, limit, state)
    session_open: "name" is required
    session_open(certificates, debug, description, headed, locale, only, proxy, timezone, urls)
    session_resume: "sessionId" is required
    session_resume()
    session_capture(sessionId)
    session_close(sessionId)
    session_abandon: "sessionId" is required
    session_abandon()
    session_history(cursor, sessionId)
    session_rollback: "to" is required
    session_rollback(sessionId)
    session_diff: "from" is required
    session_diff: "to" is required
    session_diff(sessionId)
    session_export(format, sessionId)
    session_import: "file" is required
    session_import(name)
    session_files(put, remove, sessionId)
    browser_sync_list_peers()
    browser_sync_register_peer: "url" is required
    browser_sync_register_peer: "name" is required
    browser_sync_register_peer: "authMethod" is required
    browser_sync_register_peer(kinds, sites)
    browser_sync_list_remote_sessions(nodeId)
    browser_sync_import_session: "nodeId" is required
    browser_sync_import_session: "sessionId" is required
    browser_sync_import_session(resume)
    browser_sync_export_session: "nodeId" is required
    browser_sync_export_session: "name" is required
    browser_sync_export_session(description, sessionId)
    browser_sync_resume_session: "sessionId" is required
    browser_sync_resume_session(sourceNodeId)
    browser_sync_conflicts()
    browser_sync_resolve: "sessionId" is required
    browser_sync_resolve: "keep" is required
    browser_sync_resolve()
    browser_save_profile: "name" is required
    browser_save_profile(description, sessionId, syncToPeers)
    browser_list_profiles()
    browser_debug_list_tabs()
    browser_debug_get_network: "token" is required
    browser_debug_get_network(after, before, id, limit, method, since, status_max, status_min, url_pattern)
    browser_debug_get_console: "token" is required
    browser_debug_get_console(after, before, id, level, limit, message_pattern, since)
    session_debug(on, sessionId)
    federation_status()
    federation_update: "status" is required
    federation_update(agent, model, task, workspace)
    federation_add_task: "description" is required
    federation_add_task(after, agent, assignedTo, priority)
    federation_claim_task(agent, taskId)
    federation_finish_task: "taskId" is required
    federation_finish_task(agent, fence, release)
    session_pass(reason, sessionId, to)
    session_ask_person(ask, files, sessionId, sites, text, withdraw)
    sandbox_create(domains, flavor, sessionId, shared, ttl)
    sandbox_exec: "sandboxId" is required
    sandbox_exec: "command" is required
    sandbox_exec(timeout)
    sandbox_list()
    sandbox_delete: "sandboxId" is required
    sandbox_delete()
    "#);
    node.stop().await;
}

#[tokio::test]
async fn a_hundred_sessions_are_a_short_table_with_a_cursor() {
    let folder = Folder::new();
    let store = folder.store().await;
    for at in 0..101 {
        folder.seed(&store, "local", &format!("customer-{at:03}-admin")).await;
    }
    store.close().await;
    let node = folder.start().await;
    let key = node.admin_key();
    let params = json!({"name": "list_sessions", "arguments": {}});
    let first = ask(&node, &key, "tools/call", params).await;
    let result = &first["result"];
    assert_eq!(result["structuredContent"]["rows"].as_array().unwrap().len(), 100);
    // A token of today's models is at least three bytes of such a table.
    let (text, data) = (told(&first).len(), result["structuredContent"].to_string().len());
    assert!(text < 6000 && data < 6000, "expected a short table, found {text} and {data} bytes");
    let cursor = &result["structuredContent"]["nextCursor"];
    let last = call(&node, &key, "list_sessions", json!({"cursor": cursor})).await;
    assert!(last.starts_with("sessionId state changed\ncustomer-000-admin recoverable"), "{last}");
    node.stop().await;
}

#[tokio::test]
async fn an_error_says_what_to_do_next() {
    let node = with_a_session().await;
    let key = node.admin_key();
    let mut heard = Vec::new();
    for (name, arguments) in [
        ("session_resume", json!({"sessionId": "nope"})),
        ("session_resume", json!({"sessionId": "theirs"})),
        ("session_resume", json!({"session_id": 7})),
        ("session_resume", json!({})),
        ("session_capture", json!({})),
        ("session_capture", json!({"sessionId": "shop"})),
        ("session_open", json!({"name": "no name"})),
        ("session_open", json!({"name": "shop"})),
        ("session_open", json!({"name": "new", "urls": ["nowhere"]})),
        ("session_open", json!({"name": "new", "certificates": ["no PEM"]})),
        ("session_diff", json!({"sessionId": "shop", "from": "x", "to": "y"})),
        ("session_rollback", json!({"sessionId": "shop", "to": "01"})),
        ("list_sessions", json!({"state": "asleep"})),
        ("session_delete", json!({})),
    ] {
        heard.push(format!("{name}: {}", call(&node, &key, name, arguments).await));
    }
    insta::assert_snapshot!(heard.join("\n"), @r#"
    session_resume: error: no session "nope"
    Next: list_sessions lists the sessions that there are
    session_resume: error: no session "theirs"
    Next: list_sessions lists the sessions that there are
    session_resume: error: expected arguments as the tool's schema says: invalid type: integer `7`, expected a string
    Next: call it again with these corrected
    session_resume: error: expected arguments as the tool's schema says: missing field `sessionId`
    Next: call it again with these corrected
    session_capture: error: expected sessionId, or one active session; found no active session
    Next: give sessionId: a name or an id; list_sessions lists them
    session_capture: error: expected session shop to be active, found it recoverable
    Next: list_sessions tells the state: an active session is used as it is or closed first, any other is brought back with session_resume
    session_open: error: expected arguments as the tool's schema says: name: expected a name of 1 to 64 letters, digits, '-', '_' or '.', not a UUID, found "no name"
    Next: call it again with these corrected
    session_open: error: the name "shop" is taken by another session
    Next: use the session that has this name (session_resume), or choose another name
    session_open: error: expected urls to be addresses such as https://example.org, found nowhere
    session_open: error: expected arguments as the tool's schema says: certificates: expected certificates in PEM (-----BEGIN CERTIFICATE-----), found none
    openssl x509 -inform der -in FILE makes PEM of a binary one
    Next: call it again with these corrected
    session_diff: error: no snapshot "x"
    Next: session_history lists the snapshots that there are
    session_rollback: error: no snapshot "01"
    Next: session_history lists the snapshots that there are
    list_sessions: error: expected arguments as the tool's schema says: unknown variant `asleep`, expected one of `active`, `recoverable`, `stale`, `failed`, `closed`, `all`
    Next: call it again with these corrected
    session_delete: refused: expected a tool among list_sessions, session_open, session_resume, session_capture, session_close, session_abandon, session_history, session_rollback, session_diff, session_export, session_import, session_files, browser_sync_list_peers, browser_sync_register_peer, browser_sync_list_remote_sessions, browser_sync_import_session, browser_sync_export_session, browser_sync_resume_session, browser_sync_conflicts, browser_sync_resolve, browser_save_profile, browser_list_profiles, browser_debug_list_tabs, browser_debug_get_network, browser_debug_get_console, session_debug, federation_status, federation_update, federation_add_task, federation_claim_task, federation_finish_task, session_pass, session_ask_person, sandbox_create, sandbox_exec, sandbox_list, sandbox_delete; found "session_delete"
    "#);
    node.stop().await;
}

#[tokio::test]
async fn tools_do_what_the_key_allows_and_the_refusal_is_noted() {
    let node = with_a_session().await;
    let reader = CreateKey {
        name: "reader".parse().unwrap(),
        owner: Some("local".parse().unwrap()),
        scopes: [Scope::Read].into(),
        for_node: None,
    };
    let created = node.admin().create_key(&reader).await.unwrap();
    let key = created.secret.as_str();
    let mut heard = Vec::new();
    for (name, arguments) in [
        ("list_sessions", json!({})),
        ("session_resume", json!({"sessionId": "shop"})),
        ("session_export", json!({"sessionId": "shop"})),
        ("session_abandon", json!({"sessionId": "shop"})),
    ] {
        heard.push(format!("{name}: {}", call(&node, key, name, arguments).await));
    }
    insta::assert_snapshot!(heard.join("\n"), @r"
    list_sessions: sessionId state changed
    shop recoverable 0s
    session_resume: error: expected a key with the scope drive, found one with read
    Next: baton keys create makes a key with other scopes
    session_export: error: expected a key with the scope reveal, found one with read
    Next: baton keys create makes a key with other scopes
    session_abandon: error: expected a key with the scope drive, found one with read
    Next: baton keys create makes a key with other scopes
    ");
    let log = node.admin().list_audit(&ListAudit::default()).await.unwrap();
    let refused = log.items.iter().filter(|entry| entry.subject == "MCP").count();
    assert_eq!(refused, 3);
    // Resources are no other way in.
    let driver = CreateKey { name: "driver".to_owned(), scopes: [Scope::Drive].into(), ..reader };
    let driver = node.admin().create_key(&driver).await.unwrap();
    for (method, params) in
        [("resources/list", json!({})), ("resources/read", json!({"uri": "baton://sessions/shop"}))]
    {
        let answer = ask(&node, driver.secret.as_str(), method, params).await;
        let told = answer["error"]["message"].as_str().unwrap();
        assert_eq!(told, "expected a key with the scope read, found one with drive");
    }
    let log = node.admin().list_audit(&ListAudit::default()).await.unwrap();
    assert_eq!(log.items.iter().filter(|entry| entry.subject == "MCP").count(), 5);
    node.stop().await;
}

#[tokio::test]
async fn after_many_closed_sessions_there_may_be_others() {
    let folder = Folder::new();
    let store = folder.store().await;
    for at in 0..21 {
        folder.seed(&store, "local", &format!("old-{at}")).await;
    }
    store.close().await;
    let node = folder.start().await;
    for at in 0..21 {
        let arguments = json!({"sessionId": format!("old-{at}")});
        unattended(&node, "session_abandon", arguments).await;
    }
    let key = node.admin_key();
    let found = call(&node, &key, "list_sessions", json!({"limit": 1})).await;
    let (told, cursor) = found.split_once("\nMore: cursor ").unwrap();
    insta::assert_snapshot!(told, @"Only closed ones so far; there may be others.");
    let rest = json!({"limit": 1, "cursor": cursor});
    let rest = call(&node, &key, "list_sessions", rest).await;
    assert_eq!(rest, "No sessions. session_open opens one.");
    node.stop().await;
}

#[tokio::test]
async fn resources_show_sessions_without_secrets() {
    let node = with_a_session().await;
    let key = node.admin_key();
    let listed = ask(&node, &key, "resources/list", json!({})).await;
    let uris = listed["result"]["resources"].as_array().unwrap().iter().map(|it| &it["uri"]);
    let uris: Vec<_> = uris.map(|uri| uri.as_str().unwrap().to_owned()).collect();
    let shop = node.admin().fetch_session("shop").await.unwrap().session.id;
    assert_eq!(uris, ["baton://federation".to_owned(), format!("baton://sessions/{shop}")]);
    let read = ask(&node, &key, "resources/read", json!({"uri": "baton://sessions/shop"})).await;
    let text = read["result"]["contents"][0]["text"].as_str().unwrap();
    assert!(text.contains("https://shop.test/") && !text.contains("s3cret"), "{text}");
    // Letters of all alphabets: as our own client says them, and as whoever fills the template in does.
    let exported = unattended(&node, "session_export", json!({"sessionId": "shop"})).await;
    let copy = json!({"file": exported["file"], "name": "shøp"});
    unattended(&node, "session_import", copy).await;
    let (admin, wishes) = (node.admin(), Wishes::default());
    for uri in ["baton://sessions/shøp", "baton://sessions/sh%C3%B8p"] {
        let message = json!({"jsonrpc": "2.0", "id": 1, "method": "resources/read", "params": {
            "uri": uri, "_meta": meta(&json!({})),
        }});
        let sent = admin.send_mcp(&wishes, "resources/read", Some(uri), &message).await;
        let answer = sent.unwrap().next().await.unwrap().unwrap();
        let text = answer["result"]["contents"][0]["text"].as_str();
        assert!(text.is_some_and(|text| text.contains("shøp")), "{answer}");
    }
    for uri in [
        "baton://sessions/theirs",
        "baton://sessions/%ff",
        "baton://sessions/shop/receipt",
        "file:///etc/passwd",
    ] {
        let read = ask(&node, &key, "resources/read", json!({"uri": uri})).await;
        assert!(read["error"]["message"].as_str().unwrap().starts_with("expected baton://"));
    }
    node.stop().await;
}

#[tokio::test]
async fn a_page_of_the_web_cannot_speak_to_it() {
    let node = Node::start().await;
    let key = node.admin_key();
    let from_a_page = message(&node, &key, "tools/list", json!({}), &json!({}))
        .header("origin", "https://evil.test");
    let refused = problem(from_a_page.send().await.unwrap()).await;
    assert_eq!(refused.status, 403, "{}", one_line(&refused));
    // What a browser asks before it sends a page's request, without the key.
    let asks = node.request(Method::OPTIONS, "/mcp").header("origin", "https://evil.test");
    let asks = asks.header("access-control-request-method", "POST");
    let answer =
        asks.header("access-control-request-headers", "authorization").send().await.unwrap();
    assert!(answer.headers().keys().all(|name| !name.as_str().starts_with("access-control")));
    assert_eq!(problem(answer).await.status, 403);
    node.stop().await;
}
