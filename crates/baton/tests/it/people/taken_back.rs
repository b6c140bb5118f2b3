//! A question that nobody waits for any more is taken back.

use super::LIMIT;
use super::guests::{Scene, wanted};
use crate::mcp::{VERSION, bridge, call};
use crate::test_nodes;
use baton_api::{AskState, Exit, OPEN_ASK, WaitForAsk};
use baton_playground::victims::interrupt;
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
    let params = json!({
        "name": "session_ask_person", "arguments": { "text": "sign in" }, "_meta": { "progressToken": "p" },
    });
    let calls = kimi.request("tools/call", params);
    let cancels = async {
        let open =
            async || scene.client().fetch_ask("shop", OPEN_ASK, &WaitForAsk::default()).await.ok();
        let asked = loop {
            if let Some(asked) = open().await {
                break asked;
            }
            tokio::task::yield_now().await;
        };
        // The request before it was the third, after the handshake and the two calls.
        kimi.notify("notifications/cancelled", json!({ "requestId": 4 })).await.unwrap();
        let how = WaitForAsk { wait: Some(30), after: Some(AskState::Waiting) };
        scene.client().fetch_ask("shop", &asked.id, &how).await.unwrap()
    };
    tokio::select! {
        answer = calls => panic!("expected none, found {answer:?}"),
        asked = timeout(LIMIT, cancels) => {
            assert_eq!(asked.unwrap().state, AskState::Withdrawn);
        }
    }
    assert!(scene.client().ask_person("shop", &wanted("again")).await.is_ok());
    scene.test_node.clear().await.unwrap();
}
