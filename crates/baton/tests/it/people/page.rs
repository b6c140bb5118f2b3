//! A person at the node's page signs an agent's session in, by its picture: a story that Playwright tells in a real
//! Chromium.

use crate::cdp::Tool;
use crate::test_nodes;
use axum::Router;
use axum::http::HeaderMap;
use axum::http::header::{COOKIE, SET_COOKIE};
use axum::response::{Html, IntoResponse, Redirect};
use axum::routing::{get, post};
use baton_api::OpenCdp;
use baton_browser::launch;
use baton_playground::Site;
use baton_playground::tools::Npm;
use std::process::Stdio;
use std::time::Duration;
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::time::timeout;

/// How long the whole story may take.
const LIMIT: Duration = Duration::from_mins(6);

/// A form in places that the story knows, and a page behind it that asks a question.
const FORM: &str = r#"<!doctype html><title>Sign in</title>
<style>body{margin:0;font:20px sans-serif}input,button{position:absolute;left:40px;width:400px;height:40px}
[name=user]{top:40px}[name=code]{top:120px}button{top:200px}</style>
<form method="post" action="/in"><input name="user"><input name="code" type="password"><button>Go</button></form>"#;
const INSIDE: &str = r#"<!doctype html><title>Signed in as Ada</title>
<style>body{margin:0}button,input{position:absolute;left:40px;top:40px;width:400px;height:40px}input{top:120px}</style>
<button onclick="document.title = confirm('Really <b>sure</b>?') ? 'Sure' : 'Not sure'">Ask</button>
<input type="file" onchange="document.title = this.files[0].name">"#;

async fn home(headers: HeaderMap) -> Html<&'static str> {
    let cookie = headers.get(COOKIE).and_then(|value| value.to_str().ok()).unwrap_or_default();
    Html(if cookie.contains("in=ada") { INSIDE } else { FORM })
}

async fn sign_in(body: String) -> impl IntoResponse {
    let cookie =
        if body == "user=ada&code=geheim" { "in=ada; Max-Age=3600" } else { "in=; Max-Age=0" };
    ([(SET_COOKIE, cookie)], Redirect::to("/"))
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_person_signs_an_agents_session_in_by_its_picture() {
    let site = Router::new().route("/", get(home)).route("/in", post(sign_in));
    let site = Site::start(site).await.unwrap();
    let test_node = test_nodes::test_node().await;
    let address = site.url("/").unwrap();
    test_node.open("shop", [address.clone()]).await.unwrap();
    let kimi = test_node.client().unwrap().clone().as_agent(Some("kimi".parse().unwrap()));
    let access = kimi.open_cdp("shop", &OpenCdp::default()).await.unwrap();
    let agent = Tool::connect(&access.cdp_url).await;
    assert_eq!(agent.evaluate("document.title").await, "Sign in");

    let room = Npm::install().await.unwrap().room().unwrap();
    let story = room.path().join("story.mjs");
    std::fs::write(&story, include_str!("story.mjs")).unwrap();
    std::fs::write(room.path().join("visitor.mjs"), include_str!("../page/visitor.mjs")).unwrap();
    let path = std::env::var_os("PATH");
    let mut command = room.command("node").unwrap();
    command
        .arg(&story)
        .env("BATON", env!("CARGO_BIN_EXE_baton"))
        .env("DATA", test_node.data().path())
        .env("SITE", address.as_str())
        .env(
            "CHROMIUM",
            launch::find_browser(None, &launch::BrowserPlaces::on_path(path.as_deref())).unwrap(),
        )
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .kill_on_drop(true);
    if let Some(shots) = std::env::var_os("BATON_PAGE_SHOTS") {
        command.env("SHOTS", shots);
    }
    let mut process = command.spawn().unwrap();
    let mut tell = process.stdin.take().unwrap();
    let mut said = BufReader::new(process.stdout.take().unwrap()).lines();
    let mut seen = Vec::new();
    let told = async {
        while let Some(line) = said.next_line().await.unwrap() {
            println!("{line}");
            if line == "ask: what the agent sees" {
                let title = agent.evaluate("document.title").await;
                tell.write_all(format!("{title}\n").as_bytes()).await.unwrap();
            } else if let Some(what) = line.strip_prefix("saw: ") {
                seen.push(what.to_owned());
            }
        }
        process.wait().await.unwrap()
    };
    let end = timeout(LIMIT, told).await.expect("the story ends");
    assert!(end.success(), "the story ended after: {seen:#?}");
    insta::assert_snapshot!(seen.join("\n"), @"
    a live picture, and who drives
    taken over, and signed in by mouse and keys
    a question of the page
    a file of the person
    out of the picture by a key
    nothing while nobody looks
    the agent is signed in
    a picture on a phone
    a picture that goes dark with its key
    ");
    room.clear().await.unwrap();
    test_node.clear().await.unwrap();
}
