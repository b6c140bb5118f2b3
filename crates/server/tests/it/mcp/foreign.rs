//! What others wrote reaches a model as what it is: text, of which everything can be seen.

use super::{answer, ask, message};
use crate::fixture::{Folder, Node, seed_snapshot};
use baton_session::printable::is_hidden;
use baton_session::{State, Tab};
use serde_json::{Value, json};
use std::fs;

/// Escapes, a bell, a return, a control of 8 bits, a mark of direction, a blank without width, and a tag.
const HOSTILE: &str = "x\u{1b}]0;gone\u{7}\u{1b}[2J\r\u{9b}31m\u{202e}y\u{200b}z\u{e0041}";

async fn node() -> Node {
    let folder = Folder::new();
    let store = folder.store().await;
    let id = folder.seed(&store, "local", "shop").await;
    let url = format!("https://shop.test/{HOSTILE}");
    let title = format!("Shop {HOSTILE}");
    let state = State {
        tabs: vec![Tab { url, title, active: true, ..Tab::default() }],
        ..State::default()
    };
    seed_snapshot(&store, "local", id, &state).await;
    store.close().await;
    let sessions = folder.board().join("sessions");
    fs::create_dir_all(&sessions).unwrap();
    let text = |word: &str| format!("{word} {HOSTILE}");
    let board = json!({
        "session_id": text("sess"), "sprint": text("sprint"), "owner": text("kimi"),
        "agents": {
            "kimi": {"status": text("active"), "current_task": text("tests")},
            HOSTILE: {"status": "idle", "workspace": text("/srv"), "model": text("model")},
        },
        "tasks": [
            {"id": "task-aaaaaa", "description": text("docs"), "assigned_to": text("kimi")},
            {"id": text("task-bbbbbb"), "description": "more", "blocked_by": [text("task-cccccc")]},
        ],
        "router": {"version": text("1")}, "mood": text("good"),
    });
    fs::write(sessions.join("active-session.json"), board.to_string()).unwrap();
    folder.start().await
}

/// Every text in an answer.
fn texts(value: &Value, found: &mut Vec<String>) {
    match value {
        Value::String(text) => found.push(text.clone()),
        Value::Array(items) => items.iter().for_each(|item| texts(item, found)),
        Value::Object(members) => {
            for (name, value) in members {
                found.push(name.clone());
                texts(value, found);
            }
        }
        _ => {}
    }
}

#[tokio::test]
async fn no_tool_gives_a_model_what_nobody_sees() {
    let node = node().await;
    let mut told = String::new();
    for (tool, arguments) in [
        ("federation_status", json!({})),
        ("list_sessions", json!({})),
        ("session_history", json!({"sessionId": "shop"})),
        ("session_resume", json!({"sessionId": HOSTILE})),
        ("browser_list_profiles", json!({})),
        ("browser_sync_list_peers", json!({})),
        ("browser_debug_list_tabs", json!({})),
        (
            "browser_sync_export_session",
            json!({"nodeId": HOSTILE, "name": HOSTILE, "sessionId": "shop"}),
        ),
    ] {
        let params = json!({"name": tool, "arguments": arguments});
        let answer = ask(&node, &node.admin_key(), "tools/call", params).await;
        let mut found = Vec::new();
        texts(&answer["result"], &mut found);
        for text in &found {
            assert!(!text.contains(is_hidden), "{tool}: {text:?}");
        }
        told.push_str(&found.join("\n"));
    }
    assert!(told.contains("docs x"), "the board is told: {told}");
    for uri in ["baton://sessions/shop", "baton://federation"] {
        let request =
            message(&node, &node.admin_key(), "resources/read", json!({"uri": uri}), &json!({}));
        let read = answer(request.send().await.unwrap()).await;
        let text = read["result"]["contents"][0]["text"].as_str().unwrap_or_default();
        assert!(!text.is_empty() && !text.contains(is_hidden), "{uri}: {read}");
    }
    node.stop().await;
}
