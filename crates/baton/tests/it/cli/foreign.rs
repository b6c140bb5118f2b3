//! What others wrote moves no cursor and hides nothing, whichever command shows it.

use super::fake::FakeNode;
use super::peers::{list, peer};
use baton_api::ErrorCode;
use baton_session::printable::is_hidden;
use serde_json::{Value, json};

/// Escapes, a bell, a return, a control of 8 bits, a mark of direction, a blank without width, and a tag.
const HOSTILE: &str = "x\u{1b}]0;gone\u{7}\u{1b}[2J\r\u{9b}31m\u{202e}y\u{200b}z\u{e0041}";

fn hostile(text: &str) -> String {
    format!("{text}{HOSTILE}")
}

/// A node at which others have written that wherever they can.
async fn node() -> FakeNode {
    let mut berlin = peer(2, "berlin");
    berlin.name = hostile("berlin");
    berlin.reason = Some(hostile("gone"));
    berlin.confirm_there = Some(hostile("baton peers confirm"));
    let at = "2026-01-01T00:00:00Z";
    let id = "0197c0de-0000-7000-8000-000000000001";
    let session = json!({
        "id": id, "name": "shop", "description": hostile("a shop"), "state": "closed", "owner": "local",
        "headed": false, "debug": false, "created_at": at, "updated_at": at,
    });
    let mut shown = session.clone();
    shown["tabs"] =
        json!([{"url": hostile("https://shop.test/"), "title": hostile("Shop"), "active": true}]);
    shown["foreign_tabs"] = json!(0);
    shown["permissions"] = json!([{"name": hostile("geo"), "origin": hostile("https://shop.test"), "setting": "allow"}]);
    let entry = json!({
        "id": id, "at": at, "owner": "local", "actor": hostile("node"), "action": hostile("a"),
        "subject": hostile("s"), "outcome": "failed", "detail": {"code": hostile("c")},
    });
    let key = json!({
        "id": "key_1", "name": hostile("ci"), "owner": "local", "scopes": ["read"], "created_at": at,
    });
    let directory = json!({
        "path": hostile("/mnt"), "sessions": 1, "failed": hostile("no"),
        "refused": [{"file": hostile("3.json"), "reason": hostile("a\nb"), "since": at}],
    });
    let differs = format!("GET /sync/differences/{}", berlin.node_id);
    FakeNode::start()
        .await
        .with("GET /sessions", &json!({"items": [session]}))
        .with("GET /sessions/shop", &shown)
        .with("GET /sync/peers", &list(vec![berlin.clone()]))
        .with("POST /sync/peers/berlin/ping", &berlin)
        .with("GET /sync/index", &json!({"nodeId": berlin.node_id, "sessions": []}))
        .with("GET /sync/conflicts", &json!({"items": []}))
        .with("GET /sync/directory", &directory)
        .with("GET /audit", &json!({"items": [entry]}))
        .with("GET /keys", &json!({"items": [key]}))
        .refusing(&differs, ErrorCode::PeerUnreachable, &hostile("it is gone"))
        .refusing("POST /sessions/shop/close", ErrorCode::WrongState, &hostile("it is closed"))
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_command_lets_a_foreign_text_speak_to_the_terminal() {
    let node = node().await;
    for args in [
        &["sessions", "list"][..],
        &["sessions", "show", "shop"],
        &["sessions", "close", "shop"],
        &["peers", "list"],
        &["peers", "ping", "berlin"],
        &["sync", "status"],
        &["sync", "run"],
        &["audit"],
        &["keys", "list"],
    ] {
        for json in [false, true] {
            let mut all = if json { vec!["--json"] } else { Vec::new() };
            all.extend(args);
            let run = node.folder.run(&all);
            let out = run.get_output();
            let said = [&out.stdout[..], &out.stderr[..]].concat();
            let said = String::from_utf8(said).unwrap();
            let hidden: Vec<char> = said.chars().filter(|letter| is_hidden(*letter)).collect();
            assert!(hidden.is_empty(), "{all:?}: {hidden:?} in {said}");
            if json && out.status.success() {
                serde_json::from_slice::<Value>(&out.stdout).unwrap();
            }
        }
    }
    let said = node.folder.run(&["peers", "list"]);
    assert!(String::from_utf8_lossy(&said.get_output().stdout).contains("berlinx"), "it is shown");
}
