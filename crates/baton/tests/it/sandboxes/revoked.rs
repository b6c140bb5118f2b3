//! A key that is revoked ends what it has open at sandboxes, and what runs there for it.

use super::gateway::Agency;
use super::model::{Model, says};
use crate::notes::eventually;
use baton_api::sandbox::{CommandLine, CreateSandbox, ExecEvent, ExecSandbox};
use baton_api::{Client, CreateKey, Scope};
use futures_util::StreamExt as _;
use reqwest::Response;
use serde_json::json;
use std::time::Duration;
use tokio::time::timeout;
use tokio_tungstenite::connect_async;
use tokio_tungstenite::tungstenite::client::IntoClientRequest;
use tokio_tungstenite::tungstenite::http::HeaderValue;

/// How long anything may take to begin, or to end.
const LIMIT: Duration = Duration::from_mins(1);
/// How large a file is that nobody can have got whole meanwhile: more than sockets hold.
const LARGE: u64 = 4 << 30;

/// Waits until an answer breaks off; answers what came before that.
async fn breaks_off(what: &str, answer: &mut Response) -> Vec<u8> {
    let mut came = Vec::new();
    let end = async {
        while let Ok(Some(part)) = answer.chunk().await {
            came.extend_from_slice(&part);
            assert!(came.len() < 1 << 28, "{what} goes on");
        }
    };
    timeout(LIMIT, end).await.unwrap_or_else(|_| panic!("{what} goes on"));
    came
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_a_key_has_open_ends_with_it() {
    let tools = "[[sandboxes.flavors]]\nname = \"tools\"\n";
    let agency = Agency::with(Model::start_slow().await, tools, "").await;
    let (scene, model) = (&agency.scene, &agency.model);
    let admin = scene.client();
    let scopes = [Scope::Drive, Scope::Sandbox].into();
    let request = CreateKey { name: "laptop".to_owned(), owner: None, scopes, for_node: None };
    let key = admin.create_key(&request).await.unwrap();
    let client = Client::new(admin.base().clone(), key.secret.clone().into()).unwrap();
    let request = CreateSandbox { enable_vnc: true, ..CreateSandbox::default() };
    let sandbox = admin.create_sandbox(&request).await.unwrap();
    let url = |path: &str| admin.base().join(path).unwrap();

    let command = CommandLine::Line("echo begun; sleep 6543".to_owned());
    let request = ExecSandbox {
        command,
        env: std::collections::BTreeMap::new(),
        directory: None,
        input: None,
        timeout: None,
    };
    let mut run = client.exec_sandbox(&sandbox.id.to_string(), &request).await.unwrap();
    let begun = timeout(LIMIT, run.next()).await.unwrap().unwrap();
    assert!(matches!(&begun, Some(ExecEvent::Stdout(text)) if text == "begun\n"), "{begun:?}");

    model.then(|_| says("one two three"));
    let question = json!({
        "model": "baseline-cli-agent", "stream": true,
        "messages": [{ "role": "user", "content": "Who is it?" }],
    });
    let http = reqwest::Client::new();
    let call = http.post(url("/v1/chat/completions")).bearer_auth(&key.secret).json(&question);
    let mut chat = call.send().await.unwrap();
    let mut told = String::new();
    while !told.contains("one ") {
        told += std::str::from_utf8(&chat.chunk().await.unwrap().unwrap()).unwrap();
    }

    let mut display = url(&format!("/api/sandboxes/{}/display", sandbox.id));
    display.set_scheme("ws").unwrap();
    let mut request = display.as_str().into_client_request().unwrap();
    let bearer = HeaderValue::from_str(&format!("Bearer {}", key.secret)).unwrap();
    request.headers_mut().insert("authorization", bearer);
    let (mut display, _) = connect_async(request).await.unwrap();
    let shown = timeout(LIMIT, display.next()).await.unwrap().unwrap().unwrap();
    assert!(shown.is_binary() || shown.is_ping(), "{shown:?}");

    let shop = scene.test_node.open("shop", []).await.unwrap();
    let file = std::fs::File::create(scene.test_node.data().files_of(shop).join("large")).unwrap();
    file.set_len(LARGE).unwrap();
    let call = http.get(url(&format!("/sessions/{shop}/files/large"))).bearer_auth(&key.secret);
    let mut download = call.send().await.unwrap();
    assert_eq!(download.content_length(), Some(LARGE));
    download.chunk().await.unwrap().unwrap();

    admin.revoke_key("laptop", None).await.unwrap();

    let end = timeout(LIMIT, run.next()).await.expect("a command that runs ends");
    assert!(!matches!(end, Ok(Some(_))), "{end:?}");
    let rest = String::from_utf8(breaks_off("an answer of an agent", &mut chat).await).unwrap();
    assert!(!rest.contains("two") && !rest.contains("[DONE]"), "{rest}");
    breaks_off("a download", &mut download).await;
    let dark = async { while let Some(Ok(_)) = display.next().await {} };
    timeout(LIMIT, dark).await.expect("the display goes dark");
    // Nothing runs on for it: neither the command nor the agent in a sandbox of its own.
    let runs = "cat /proc/[0-9]*/cmdline 2>/dev/null | tr '\\0' ' ' | grep -c 'sleep [6]543'";
    eventually("what ran for it has ended", async || {
        scene.sh(&sandbox, runs).await.output.trim() == "0"
            && admin.list_sandboxes().await.unwrap().items.len() == 1
    })
    .await;
    agency.scene.strike().await;
}
