//! The official clients of the Model Context Protocol, over both ways to Baton.

use super::{LIMIT, Scene};
use baton_playground::tools::{Npm, Python, Room};
use serde_json::Value;

/// A room of the SDK for Python, and the scene in front of it.
async fn python() -> (Scene, Room) {
    let python = Python::install().await.unwrap();
    let scene = Scene::set().await;
    let room = scene.move_in(python.room().unwrap());
    (scene, room)
}

/// A room of the Inspector, and the scene in front of it.
async fn inspector() -> (Scene, Room) {
    let npm = Npm::install_inspector().await.unwrap();
    let scene = Scene::set().await;
    let room = scene.move_in(npm.room().unwrap());
    (scene, room)
}

/// Makes every call with the SDK, in both kinds of protocol; nothing is said on stderr.
async fn make_every_call(way: &str) -> [String; 2] {
    let (scene, room) = python().await;
    std::fs::write(room.path().join("every_call.py"), include_str!("every_call.py")).unwrap();
    let mut heard = [String::new(), String::new()];
    for (said, mode) in heard.iter_mut().zip(["legacy", "auto"]) {
        let commands = format!(
            "export BATON_KEY=\"$(baton keys create --name {mode})\" BATON_URL=http://127.0.0.1:7420
             python every_call.py {mode} https://example.org {way} 2>&1"
        );
        *said = room.run(scene.shell(&room, &commands), LIMIT).await.unwrap();
    }
    scene.strike(room).await;
    heard
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_sdk_makes_every_call_over_stdio() {
    let [older, newer] = make_every_call("stdio").await;
    insta::assert_snapshot!(older, @r#"
    baton 2025-11-25
    37 tools
    done: NAME is active. Last snapshot
    progress: opening NAME, 0 s
    ['active']
    done: Saved NAME
    2 snapshots
    a resource: True
    application/json True
    done: NAME is closed. Last snapshot
    done: NAME is active. Last snapshot
    progress: opening NAME, 0 s
    asked: Abandon session NAME
    done: NAME is closed. Last snapshot
    error: no session "nobody"
    refused: expected baton://federation,
    refused: expected a tool
    "#);
    assert_eq!(newer, older.replace("2025-11-25", "2026-07-28"));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_sdk_makes_every_call_over_http() {
    let [older, newer] = make_every_call("http").await;
    assert_eq!(older.lines().count(), 17, "{older}");
    assert!(older.starts_with("baton 2025-11-25\n"), "{older}");
    assert_eq!(newer, older.replace("2025-11-25", "2026-07-28"));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_program_lists_sessions_over_stdio() {
    let (scene, room) = python().await;
    let said = scene.follow(&room, "From a program").await;
    let lines: Vec<&str> = said.lines().collect();
    assert!(lines.iter().any(|line| line.starts_with("shop active")), "{said}");
    assert!(lines.last().unwrap().starts_with("[['shop', 'active'"), "{said}");
    scene.strike(room).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_program_opens_and_abandons_over_http() {
    let (scene, room) = python().await;
    let said = scene.follow(&room, "From a program, over HTTP").await;
    insta::assert_snapshot!(said, @"
    Abandon session try? What happened since its last snapshot is lost, and its browser profile is removed.
    closed
    ");
    scene.strike(room).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_inspector_finds_nothing_to_say_about_the_tools() {
    let (scene, room) = inspector().await;
    let said = scene.follow(&room, "From a shell").await;
    let answers: Vec<Value> =
        serde_json::Deserializer::from_str(&said).into_iter().map(Result::unwrap).collect();
    assert_eq!(answers[0]["tools"].as_array().unwrap().len(), 37);
    assert_eq!(answers[1]["structuredContent"]["snapshots"].as_array().unwrap().len(), 1, "{said}");
    scene.strike(room).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_inspector_captures_over_http() {
    let (scene, room) = inspector().await;
    let said = scene.follow(&room, "From a shell, over HTTP").await;
    assert!(said.contains("Saved shop"), "{said}");
    scene.strike(room).await;
}
