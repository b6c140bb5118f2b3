//! A person at the node's page signs an agent's session in, by its picture: a story that Playwright tells in a real
//! Chromium.

use crate::cdp::Tool;
use crate::telling::{Story, keep_pictures, tell, wanted_shots};
use crate::test_nodes;
use axum::Router;
use axum::http::HeaderMap;
use axum::http::header::{COOKIE, SET_COOKIE};
use axum::response::{Html, IntoResponse, Redirect};
use axum::routing::{get, post};
use baton_api::OpenCdp;
use baton_playground::{Site, victims};
use std::time::Duration;

/// How long the whole story may take.
const LIMIT: Duration = Duration::from_mins(6);

/// A form in places that the story knows, and a page behind it that asks a question.
const FORM: &str = r#"<!doctype html><title>Sign in</title>
<style>body{margin:0;font:20px sans-serif}input,button{position:absolute;left:40px;width:400px;height:40px}
[name=user]{top:40px}[name=code]{top:120px}button{top:200px}</style>
<form method="post" action="/in"><input name="user"><input name="code" type="password"><button>Go</button></form>"#;
const INSIDE: &str = r#"<!doctype html><title>Signed in as Ada</title>
<style>body{margin:0}button,input{position:absolute;left:40px;top:40px;width:400px;height:40px}input{top:120px}button+button{top:200px}
a{position:absolute;left:40px;top:280px}</style>
<button onclick="document.title = confirm('Really <b>sure</b>?') ? 'Sure' : 'Not sure'">Ask</button><button onclick="const done = async () =>
 document.title = 'Location ' + (await navigator.permissions.query({ name: 'geolocation' })).state;
 navigator.geolocation.getCurrentPosition(done, done, { timeout: 1000 })">Locate</button>
<input type="file" onchange="document.title = this.files[0].name"><a href="/till" download="till.txt">The till</a>"#;

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
    let site = site.route("/till", get(async || "three pence"));
    let site = Site::start(site).await.unwrap();
    let test_node = test_nodes::test_node().await;
    let address = site.url("/").unwrap();
    let shop = test_node.open("shop", [address.clone()]).await.unwrap();
    let kimi = test_node.client().unwrap().clone().as_agent(Some("kimi".parse().unwrap()));
    let access = kimi.open_cdp("shop", &OpenCdp::default()).await.unwrap();
    let agent = Tool::connect(&access.cdp_url).await;
    assert_eq!(agent.evaluate("document.title").await, "Sign in");

    let data = test_node.data().path().to_owned();
    let variables = [("DATA", data.as_os_str()), ("SITE", address.as_str().as_ref())];
    let folder = tempfile::tempdir().unwrap();
    let shots = wanted_shots().unwrap_or_else(|| folder.path().to_owned());
    let (text, shots_to) = (include_str!("story.mjs"), Some(shots.clone()));
    let story = Story { text, variables: &variables, shots: shots_to, limit: LIMIT };
    let seen = tell(story, async |what| match what {
        "what the agent sees" => agent.evaluate("document.title").await.to_string(),
        "kill the browser" => {
            let holders = test_node.holders(shop).await.unwrap();
            for (_, pid) in holders {
                victims::kill(pid);
            }
            "done".to_owned()
        }
        other => panic!("nobody knows how to {other}"),
    })
    .await;
    let pictures = [("live-wish.png", "people-wish.png"), ("live-driven.png", "people-driven.png")];
    keep_pictures(&shots, &pictures);
    insta::assert_snapshot!(seen, @"
    a live picture, and who drives
    taken over, and signed in by mouse and keys
    a question of the page
    what the site may
    a file of the person
    a file that the browser downloaded
    out of the picture by a key
    nothing while nobody looks
    the agent is signed in
    one line at a time, and none that is left
    that the browser is gone
    the picture of the next one, once it is resumed
    a picture on a phone
    a picture that goes dark with its key
    ");
    test_node.clear().await.unwrap();
}
