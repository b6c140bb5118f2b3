//! A question that nobody waits for any more is taken back.

use super::LIMIT;
use super::guests::{Guest, Scene, secret, wanted};
use crate::mcp::{VERSION, bridge, call};
use crate::test_nodes;
use baton_api::{AskState, Client, Exit, OPEN_ASK, WaitForAsk};
use baton_playground::McpClient;
use baton_playground::victims::interrupt;
use baton_testing::{freeze, wake};
use serde_json::json;
use std::process::Stdio;
use tokio::io::{AsyncBufReadExt as _, BufReader};
use tokio::process::{Child, Command};
use tokio::time::timeout;

/// A command that asks, as kimi.
fn command(scene: &Scene, args: &[&str]) -> Child {
    let mut command = Command::new(env!("CARGO_BIN_EXE_baton"));
    command.arg("--data").arg(scene.test_node.data().path()).args(["sessions", "ask", "shop"]);
    command.args(args).env("BATON_AGENT", "kimi").stdin(Stdio::null());
    let command = command.stdout(Stdio::piped()).stderr(Stdio::piped());
    command.kill_on_drop(true).spawn().unwrap()
}

/// What such a command says to its end, and with what it ends.
async fn ended(command: Child) -> (Option<i32>, String) {
    let output = timeout(LIMIT, command.wait_with_output()).await.unwrap().unwrap();
    (output.status.code(), String::from_utf8(output.stdout).unwrap())
}

/// What becomes of a question of a model whose client cancels the call, which is its request of that number.
pub(super) async fn cancelled(model: &McpClient, client: &Client, number: u64) -> AskState {
    let params = json!({
        "name": "session_ask_person", "arguments": { "sessionId": "shop", "text": "sign in" },
        "_meta": { "progressToken": "p" },
    });
    let calls = model.request("tools/call", params);
    let cancels = async {
        let open = async || client.fetch_ask("shop", OPEN_ASK, &WaitForAsk::default()).await.ok();
        let asked = loop {
            if let Some(asked) = open().await {
                break asked;
            }
            tokio::task::yield_now().await;
        };
        model.notify("notifications/cancelled", json!({ "requestId": number })).await.unwrap();
        let how = WaitForAsk { wait: Some(30), after: Some(AskState::Waiting) };
        client.fetch_ask("shop", &asked.id, &how).await.unwrap().state
    };
    tokio::select! {
        answer = calls => panic!("expected none, found {answer:?}"),
        state = timeout(LIMIT, cancels) => state.unwrap(),
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_question_is_taken_back_by_who_stops_to_wait_for_it() {
    let scene = Scene::set(test_nodes::test_node().await).await;
    let failed = Some(i32::from(Exit::Failed.code()));
    let mut asking = command(&scene, &["sign in"]);
    let mut told = BufReader::new(asking.stdout.take().unwrap()).lines();
    timeout(LIMIT, told.next_line()).await.unwrap().unwrap().unwrap();
    interrupt(asking.id().unwrap()).unwrap();
    let said = timeout(LIMIT, told.next_line()).await.unwrap().unwrap().unwrap();
    assert_eq!(said, "it was taken back, or the key of who asked was revoked");
    assert_eq!(ended(asking).await.0, failed);

    let (code, _) = ended(command(&scene, &["sign in", "--no-wait"])).await;
    assert_eq!(code, Some(0), "nothing is open any more");
    let open = scene.client().fetch_ask("shop", OPEN_ASK, &WaitForAsk::default()).await.unwrap();
    assert_eq!((open.state, open.text.as_str()), (AskState::Waiting, "sign in"));
    let mut waits = command(&scene, &["--wait"]);
    let mut beside = BufReader::new(waits.stderr.take().unwrap()).lines();
    let open = timeout(LIMIT, beside.next_line()).await.unwrap().unwrap().unwrap();
    assert!(open.starts_with("kimi asks: sign in; it ends in "), "{open}");
    let back = "it was taken back, or the key of who asked was revoked\n".to_owned();
    assert_eq!(ended(command(&scene, &["--withdraw"])).await, (Some(0), back.clone()));
    assert_eq!(ended(waits).await, (failed, back));
    let none = scene.client().fetch_ask("shop", OPEN_ASK, &WaitForAsk::default()).await;
    let none = none.unwrap_err().to_string();
    assert!(none.contains("expected an ask of this session, found none that is open"), "{none}");

    // A model takes its own back, and so does a call that nobody waits for.
    let kimi = bridge(&scene.test_node, &["--as", "kimi"]);
    kimi.initialize(json!({}), VERSION).await.unwrap();
    let asked = call(&kimi, "session_ask_person", json!({ "text": "sign in" })).await;
    assert!(asked.contains("call session_ask_person with ask "), "{asked}");
    let withdrawn = json!({ "withdraw": true });
    let told = call(&kimi, "session_ask_person", withdrawn).await;
    assert!(told.starts_with("It was taken back."), "{told}");
    // The request before it was the third, after the handshake and the two calls.
    assert_eq!(cancelled(&kimi, &scene.client(), 4).await, AskState::Withdrawn);
    assert!(scene.client().ask_person("shop", &wanted("again")).await.is_ok());
    scene.test_node.clear().await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_question_that_is_taken_back_while_its_guest_ends_it_is_told_as_it_ended() {
    let scene = Scene::set(test_nodes::test_node().await).await;
    let ask = scene.ask().await;
    let mut guest = Guest::at(&scene, &ask);
    guest.open(&secret(&ask)).await;
    let mut ada = guest.watch().await;
    ada.tab().await;
    let ends = guest.post("asked/end", json!({ "done": true }));
    let withdraws = async {
        // The picture ends first of all: what was changed is looked at after that.
        ada.until("its end", |viewer| viewer.closed.is_some()).await;
        scene.client().withdraw_ask("shop", &ask.view.id).await.unwrap()
    };
    let (ended, taken_back) = tokio::join!(ends, withdraws);
    assert_eq!(ended.status(), 200);
    assert_eq!(taken_back.state, AskState::Done);
    assert!(taken_back.outcome.is_some());
    scene.test_node.clear().await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn who_interrupts_twice_does_not_wait_for_a_node_that_hangs() {
    let scene = Scene::set(test_nodes::test_node().await).await;
    let mut asking = command(&scene, &["sign in"]);
    let mut told = BufReader::new(asking.stdout.take().unwrap()).lines();
    timeout(LIMIT, told.next_line()).await.unwrap().unwrap().unwrap();
    let node = scene.test_node.node_pid().unwrap();
    freeze(node).unwrap();
    interrupt(asking.id().unwrap()).unwrap();
    let mut beside = BufReader::new(asking.stderr.take().unwrap()).lines();
    let mut hears = async || timeout(LIMIT, beside.next_line()).await.unwrap().unwrap();
    while !hears().await.unwrap().starts_with("taking the question back") {}
    interrupt(asking.id().unwrap()).unwrap();
    let mut said = String::new();
    while let Some(line) = hears().await {
        said.push_str(&line);
    }
    assert!(said.contains("`baton sessions ask shop --withdraw` takes it back"), "{said}");
    assert_eq!(ended(asking).await.0, Some(i32::from(Exit::Failed.code())));
    wake(node).unwrap();
    scene.test_node.clear().await.unwrap();
}
