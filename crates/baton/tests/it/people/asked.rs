//! A guest signs an agent's session in by a link, with a second factor, and the command that asked says what
//! changed: a story that Playwright tells in a real Chromium.

use crate::cdp::Tool;
use crate::telling::{Story, keep_pictures, tell, wanted_shots};
use crate::test_nodes;
use axum::Router;
use axum::http::HeaderMap;
use axum::http::header::{COOKIE, SET_COOKIE};
use axum::response::{Html, IntoResponse, Redirect};
use axum::routing::{get, post};
use baton_api::{Client, OpenCdp};
use baton_playground::{Site, TestNode};
use std::process::Stdio;
use std::time::Duration;
use tokio::io::{AsyncBufReadExt as _, BufReader};
use tokio::process::Command;
use tokio::time::timeout;
use url::Url;

/// How long the whole story may take.
const LIMIT: Duration = Duration::from_mins(6);

const STYLE: &str = "<style>body{margin:0;font:20px sans-serif}\
    input,button,a{position:absolute;left:40px;width:400px;height:40px}\
    [name=user],[name=code]{top:40px}[name=password]{top:120px}button{top:200px}a{top:280px}</style>";
/// A field says when it has the focus: a finger's tap comes by another way than keys do.
const FORM: &str = r#"<form method="post" action="/in"><input name="user" onfocus="document.title = 'Who'"><input name="password" type="password"><button>Go</button></form>"#;
const FACTOR: &str = r#"<form method="post" action="/factor"><input name="code" onfocus="document.title = 'Which code'"><button>Go</button></form>"#;

/// A bank that asks for a password, and then for a code; and a link to somebody else.
pub(super) fn bank(elsewhere: Url) -> Router {
    let home = move |headers: HeaderMap| async move {
        let cookie = headers.get(COOKIE).and_then(|value| value.to_str().ok()).unwrap_or_default();
        let (title, form) = match cookie {
            text if text.contains("in=ada") => ("Signed in as Ada", ""),
            text if text.contains("half=ada") => ("One more code", FACTOR),
            _ => ("Sign in", FORM),
        };
        let page = format!("<!doctype html><title>{title}</title>{STYLE}{form}");
        Html(format!(r#"{page}<a href="{elsewhere}">Advertisement</a>"#))
    };
    let sign_in = async |body: String| {
        let half = if body == "user=ada&password=geheim" { "half=ada" } else { "half=; Max-Age=0" };
        ([(SET_COOKIE, half)], Redirect::to("/")).into_response()
    };
    let factor = async |body: String| {
        let whole =
            if body == "code=123456" { "in=ada; Max-Age=1209600" } else { "in=; Max-Age=0" };
        ([(SET_COOKIE, whole)], Redirect::to("/")).into_response()
    };
    Router::new().route("/", get(home)).route("/in", post(sign_in)).route("/factor", post(factor))
}

/// What the guide types.
fn typed() -> Vec<String> {
    let guide = include_str!("../../../../../docs/guide/people.md");
    let lines = guide.lines().filter_map(|line| line.strip_prefix("$ "));
    let line = lines.into_iter().find(|line| line.contains("sessions ask")).unwrap();
    shell_words::split(line).unwrap()
}

async fn agent(test_node: &TestNode) -> (Client, Tool) {
    let kimi = test_node.client().unwrap().clone().as_agent(Some("kimi".parse().unwrap()));
    let access = kimi.open_cdp("shop", &OpenCdp::default()).await.unwrap();
    let tool = Tool::connect(&access.cdp_url).await;
    (kimi, tool)
}

/// Pictures of it that are in the guide: each is of one of the screens.
const IN_THE_GUIDE: [(&str, &str); 2] = [
    ("asked-invited-phone.png", "people-invited.png"),
    ("asked-inside-desktop.png", "people-inside.png"),
];

/// Tells all of it to a guest with such a screen; what they saw.
async fn sign_in_by_a_link(screen: &str) -> String {
    let other = Router::new().route("/", get(async || Html("<title>A secret title</title>Buy!")));
    let other = Site::start(other).await.unwrap();
    let site = Site::start(bank(other.url_on("ads", "/").unwrap())).await.unwrap();
    let test_node = test_nodes::test_node().await;
    let address = site.url_on("bank", "/").unwrap();
    test_node.open("shop", [address.clone()]).await.unwrap();
    let (_kimi, agent) = agent(&test_node).await;
    assert_eq!(agent.evaluate("document.title").await, "Sign in");

    // The command prints the link, and waits.
    let mut command = Command::new(env!("CARGO_BIN_EXE_baton"));
    command.arg("--data").arg(test_node.data().path());
    command.args(&typed()[1..]);
    command.env("BATON_AGENT", "kimi").stdin(Stdio::null()).stdout(Stdio::piped());
    let mut asking = command.stderr(Stdio::piped()).kill_on_drop(true).spawn().unwrap();
    let mut told = BufReader::new(asking.stdout.take().unwrap()).lines();
    let link = timeout(LIMIT, told.next_line()).await.unwrap().unwrap().unwrap();
    let mut beside = BufReader::new(asking.stderr.take().unwrap()).lines();
    let reach = timeout(LIMIT, beside.next_line()).await.unwrap().unwrap().unwrap();
    assert!(reach.starts_with("only this machine opens the link; "), "{reach}");
    assert!(reach.contains("ssh -L "), "{reach}");

    let folder = tempfile::tempdir().unwrap();
    let shots = wanted_shots().unwrap_or_else(|| folder.path().to_owned());
    let story = Story {
        text: include_str!("asked.mjs"),
        variables: &[("LINK", link.as_ref()), ("SIZE", screen.as_ref())],
        shots: Some(shots.clone()),
        limit: LIMIT,
    };
    let seen = tell(story, async |what| panic!("a guest asks nothing of the test: {what}")).await;
    keep_pictures(&shots, &IN_THE_GUIDE);

    let mut outcome = Vec::new();
    let rest = async {
        while let Some(line) = told.next_line().await.unwrap() {
            outcome.push(line);
        }
        asking.wait().await.unwrap()
    };
    let status = timeout(LIMIT, rest).await.expect("the command ends");
    assert!(status.success(), "{outcome:?}");
    assert_eq!(outcome[0], "done by ada");
    assert_eq!(outcome[1], "2 cookies at bank.localhost are new; ends in 14 days");
    assert!(outcome[2].starts_with("snapshot "), "{outcome:?}");
    // The agent goes on, signed in, in the same tab.
    let goes_on = async { while agent.evaluate("document.title").await != "Signed in as Ada" {} };
    timeout(LIMIT, goes_on).await.unwrap();
    test_node.clear().await.unwrap();
    seen
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_guest_signs_an_agents_session_in_by_a_link() {
    let seen = sign_in_by_a_link("desktop").await;
    insta::assert_snapshot!(seen, @"
    who asks for what, in another browser
    refused in a frame
    the one tab, without an address
    signed in with a second factor
    dark where it was not asked for, and back
    done
    a link that counts no more
    ");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_guest_at_a_phone_signs_an_agents_session_in_by_a_link() {
    let seen = sign_in_by_a_link("phone").await;
    insta::assert_snapshot!(seen, @"
    who asks for what, in another browser
    refused in a frame
    the one tab, without an address
    signed in with a second factor
    dark where it was not asked for, and back
    done
    a link that counts no more
    ");
}
