//! The page of a node, as a person uses it: a story that Playwright tells in a real Chromium.

use crate::test_nodes;
use axum::Router;
use axum::response::Html;
use axum::routing::get;
use baton_browser::launch;
use baton_playground::tools::Npm;
use baton_playground::{Site, TestNode};
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::time::timeout;

/// How long the whole story may take.
const LIMIT: Duration = Duration::from_mins(8);

/// A site that signs in whoever comes, and keeps something.
const SHOP: &str = r#"<!doctype html><html lang="en"><title>Ada at the counter</title>
<style>body{margin:0;font:20px system-ui;background:#fdf6ec;color:#40301c}
header{padding:24px 40px;background:#c8552b;color:#fff;font-size:28px}main{padding:40px}</style>
<header>The Corner Shop</header><main><h1>Good morning, Ada</h1><p>Three things are in your basket.</p></main>
<script>localStorage.setItem('basket', 'tea, bread, plums');
document.cookie = 'session_id=4f1c88ab20e14f0f9d; Max-Age=604800; SameSite=Lax'</script>"#;

/// Does what the story asks for.
async fn help(test_node: &mut TestNode, what: &str) {
    match what {
        "stop the node" => test_node.stop_node().await.unwrap(),
        "start the node" => test_node.start_node().await.unwrap(),
        other => panic!("nobody knows how to {other}"),
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_person_sees_sessions_and_brings_one_back() {
    let site = Site::start(Router::new().route("/", get(|| async { Html(SHOP) }))).await.unwrap();
    let mut test_node = test_nodes::test_node().await;
    test_node.keep_address().unwrap();
    let room = Npm::install().await.unwrap().room().unwrap();
    let story = room.path().join("story.mjs");
    std::fs::write(&story, include_str!("story.mjs")).unwrap();
    std::fs::write(room.path().join("visitor.mjs"), include_str!("visitor.mjs")).unwrap();
    let path = std::env::var_os("PATH");
    let shots = shots(room.path());
    let mut command = room.command("node").unwrap();
    command
        .arg(&story)
        .env("BATON", env!("CARGO_BIN_EXE_baton"))
        .env("DATA", test_node.data().path())
        .env("SITE", site.url("/").unwrap().as_str())
        .env("SHOTS", &shots)
        .env(
            "CHROMIUM",
            launch::find_browser(None, &launch::BrowserPlaces::on_path(path.as_deref())).unwrap(),
        )
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .kill_on_drop(true);
    let mut process = command.spawn().unwrap();
    let mut tell = process.stdin.take().unwrap();
    let mut said = BufReader::new(process.stdout.take().unwrap()).lines();
    let mut seen = Vec::new();
    let told = async {
        while let Some(line) = said.next_line().await.unwrap() {
            println!("{line}");
            if let Some(what) = line.strip_prefix("ask: ") {
                help(&mut test_node, what).await;
                tell.write_all(b"done\n").await.unwrap();
            } else if let Some(what) = line.strip_prefix("saw: ") {
                seen.push(what.to_owned());
            }
        }
        process.wait().await.unwrap()
    };
    let end = timeout(LIMIT, told).await.expect("the story ends");
    assert!(end.success(), "the story ended after: {seen:#?}");
    insta::assert_snapshot!(seen.join("\n"), @"
    no session, and the first command
    a session that was opened elsewhere
    a code that counts once
    captured, closed and resumed, item by item, on a desktop
    rolled back to a picture of the history
    files put and fetched, a session exported, and imported by a drop
    nothing that another port of this host could use
    silence while nobody looks
    the way by keys alone
    both sizes, light and dark
    ten thousand sessions
    a node that restarts, and a page that goes on
    captured, closed and resumed, item by item, on a phone
    a page that goes dark with its key
    signed out
    ");
    keep_picture(&shots);
    room.clear().await.unwrap();
    test_node.clear().await.unwrap();
}

/// Where the story's pictures go: where `BATON_PAGE_SHOTS` says, for whoever wants to look at them.
fn shots(room: &Path) -> PathBuf {
    let shots = std::env::var_os("BATON_PAGE_SHOTS");
    let shots = shots.map_or_else(|| room.join("shots"), PathBuf::from);
    std::fs::create_dir_all(&shots).unwrap();
    shots
}

/// The picture in the guide is made by this story, when `BATON_UPDATE_DOCS` is set.
fn keep_picture(shots: &Path) {
    let picture = shots.join("sessions-desktop-light.png");
    assert!(picture.is_file(), "the story has made its pictures");
    if std::env::var_os("BATON_UPDATE_DOCS").is_some() {
        let guide = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/guide/page");
        std::fs::create_dir_all(guide).unwrap();
        std::fs::copy(picture, Path::new(guide).join("sessions.png")).unwrap();
    }
}
