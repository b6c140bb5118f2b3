//! Sandboxes of all nodes, with whichever of them a platform speaks.

use super::{id, start};
use crate::mcp::{agent, call};
use crate::notes::eventually;
use baton_api::sandbox::{BrowserSession, CommandLine, CreateSandbox, ExecEvent, ExecSandbox};
use baton_api::{Client, FileText, ImportSession};
use baton_session::{Lifecycle, SandboxId};
use serde_json::json;
use std::collections::{BTreeMap, BTreeSet};

/// What a command in a sandbox writes.
async fn run(client: &Client, sandbox: &str, command: &str) -> String {
    let request = ExecSandbox {
        command: CommandLine::Line(command.to_owned()),
        env: BTreeMap::new(),
        directory: None,
        input: None,
        timeout: Some(30),
    };
    let mut events = client.exec_sandbox(sandbox, &request).await.unwrap();
    let mut output = String::new();
    while let Some(event) = events.next().await.unwrap() {
        if let ExecEvent::Stdout(text) = event {
            output.push_str(&text);
        }
    }
    output
}

async fn ids(client: &Client) -> BTreeSet<SandboxId> {
    client.list_sandboxes().await.unwrap().items.iter().map(|sandbox| sandbox.id).collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_sandbox_is_used_through_any_node_and_gone_with_its_own() {
    let database = baton_postgres::create_database().unwrap();
    let (mut own, other) = (start(&database, "own").await, start(&database, "other").await);
    let (own_id, other_id) = (id(&own).await, id(&other).await);
    let cookie = json!({
        "name": "sid", "value": "s3cret", "domain": "shop.test", "path": "/", "expires": 4_000_000_000_u64,
        "httpOnly": true, "secure": true, "sameSite": "Lax",
    });
    let state = json!({"cookies": [cookie], "origins": []}).to_string();
    let import = ImportSession {
        name: Some("shop".parse().unwrap()),
        description: None,
        file: FileText::new(state).unwrap(),
    };
    own.client().unwrap().import_session(&import).await.unwrap();

    // One with the session is made where that is; one without, where there is room.
    let client = other.client().unwrap();
    let handed = Some(BrowserSession::reference("shop"));
    let with = CreateSandbox { browser_session: handed, ..CreateSandbox::default() };
    let shop = client.create_sandbox(&with).await.unwrap();
    assert!(shop.id.is_of(own_id), "{} was made by {own_id}", shop.id);
    let without = client.create_sandbox(&CreateSandbox::default()).await.unwrap();
    assert!(without.id.is_of(own_id) || without.id.is_of(other_id));
    let all = BTreeSet::from([shop.id, without.id]);
    assert_eq!(ids(client).await, all);
    assert_eq!(ids(own.client().unwrap()).await, all);

    // Commands and files, by its id and by the start of it, and by a model.
    let (id, start) = (shop.id.to_string(), shop.id.to_string()[..18].to_owned());
    client.write_sandbox_file(&id, "note.txt", b"by way of another node".to_vec()).await.unwrap();
    assert_eq!(run(client, &start, "cat note.txt").await, "by way of another node");
    let read = own.client().unwrap().read_sandbox_file(&start, "note.txt").await.unwrap();
    assert_eq!(read, b"by way of another node");
    let agent = agent(&other).await;
    let told = call(&agent, "sandbox_exec", json!({"sandboxId": id, "command": "wc -c note.txt"}));
    assert_eq!(told.await, "22 note.txt\nIt ended with code 0.");
    let listed = call(&agent, "sandbox_list", json!({})).await;
    assert!(listed.contains(&id) && listed.contains(&without.id.to_string()), "{listed}");
    agent.close().await.unwrap();

    // What it held is written back when it ends.
    let ended = client.delete_sandbox(&start).await.unwrap();
    assert!(ended.browser_session.unwrap().snapshot.is_some());
    assert_eq!(client.fetch_session("shop").await.unwrap().session.state, Lifecycle::Recoverable);

    // A node that is gone has none, and its session is free after its lease.
    let shop = client.create_sandbox(&with).await.unwrap();
    own.kill_node().await.unwrap();
    let listed = client.list_sandboxes().await.unwrap();
    assert!(listed.items.iter().all(|sandbox| sandbox.id.is_of(other_id)), "{listed:?}");
    assert_eq!(listed.missing, ["own"], "it is not known yet that it is gone");
    eventually("it is gone", async || client.list_sandboxes().await.unwrap().missing.is_empty())
        .await;
    let missing = client.fetch_sandbox(&shop.id.to_string()).await.unwrap_err();
    assert_eq!(super::code(&missing), baton_api::ErrorCode::SandboxNotFound, "{missing}");
    let again = client.create_sandbox(&with).await.unwrap();
    assert!(again.id.is_of(other_id));
    client.delete_sandbox(&again.id.to_string()).await.unwrap();
    own.clear().await.unwrap();
    other.clear().await.unwrap();
}
