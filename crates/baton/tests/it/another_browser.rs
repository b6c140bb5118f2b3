//! A session that comes back in another browser than the one that it was signed in with: the receipt says so,
//! and one option makes it that browser again, or this one for good.

use crate::test_nodes::test_node;
use assert_cmd::assert::Assert;
use assert_cmd::cargo::cargo_bin_cmd;
use axum::Router;
use axum::http::HeaderMap;
use axum::routing::get;
use baton_api::{ExportFormat, ExportSession, FileText, ImportSession};
use baton_playground::{Page, Site, TestNode};
use baton_session::SessionId;
use baton_session::identity::BrowserName;
use serde_json::{Value, json};

const WINDOWS: &str = "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 \
                       (KHTML, like Gecko) Chrome/147.0.0.0 Safari/537.36";

/// Which system a request says that it is of, twice.
async fn systems(headers: HeaderMap) -> String {
    let header = |name| headers.get(name).and_then(|value| value.to_str().ok()).unwrap_or("-");
    let system = BrowserName::of_user_agent(header("user-agent")).map(|name| name.platform);
    format!("{} {}", system.unwrap_or_default(), header("sec-ch-ua-platform"))
}

/// What a person at the command line types.
fn baton(test_node: &TestNode, args: &[&str]) -> Assert {
    let mut command = cargo_bin_cmd!("baton");
    command.arg("--data").arg(test_node.data().path()).args(args).write_stdin("").assert()
}

/// What the receipt of a resume says of browsers; nothing where it says nothing.
fn resumed(test_node: &TestNode, more: &[&str]) -> String {
    let all = [&["sessions", "resume", "shop"], more].concat();
    let output = baton(test_node, &all).success().get_output().stdout.clone();
    let output = String::from_utf8(output).unwrap();
    let mut lines = output.lines().filter_map(|line| Some(line.split_once("signed in with ")?.1));
    lines.next().unwrap_or_default().to_owned()
}

async fn seen(test_node: &TestNode, id: SessionId, url: &str) -> (String, String) {
    let page = Page::attach(&test_node.keeper_socket(id), url).await.unwrap();
    let body = page.evaluate("document.body.innerText").await.unwrap();
    (body, page.evaluate("navigator.userAgent").await.unwrap())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_resume_in_another_browser_than_before_says_so_and_what_to_type() {
    let site = Site::start(Router::new().route("/", get(systems))).await.unwrap();
    let url = site.url_on("a", "/").unwrap();
    let origin = url.as_str().trim_end_matches('/');
    let state = json!({
        "cookies": [],
        "origins": [{
            "origin": origin,
            "localStorage": [{"name": "token", "value": "t0k3n"}],
            "sessionStorage": [{"name": "step", "value": "1"}],
        }],
        "userAgent": WINDOWS,
    });
    let mut test_node = test_node().await;
    let request = ImportSession {
        name: Some("shop".parse().unwrap()),
        description: None,
        file: FileText::new(state.to_string()).unwrap(),
    };
    let imported = test_node.client().unwrap().import_session(&request).await.unwrap();
    assert!(imported.left_out.items.is_empty(), "{:#?}", imported.left_out);
    let id = imported.session.session.id;

    let said = resumed(&test_node, &[]);
    let (here, user_agent) = seen(&test_node, id, url.as_str()).await;
    let browser = BrowserName::of_user_agent(&user_agent).unwrap();
    assert_eq!(here, format!("{0} \"{0}\"", browser.platform), "nothing is emulated by itself");
    insta::assert_snapshot!(said.replace(&browser.to_string(), "BROWSER"), @"Chrome 147 on Windows, and sites see BROWSER now; to be the former: baton sessions close shop, then baton sessions resume shop --browser same");

    baton(&test_node, &["sessions", "close", "shop"]).success();
    assert_eq!(resumed(&test_node, &["--browser", "same"]), "");
    let windows = ("Windows \"Windows\"".to_owned(), WINDOWS.to_owned());
    assert_eq!(seen(&test_node, id, url.as_str()).await, windows);
    test_node.kill_everybody(&[id]).await.unwrap();
    test_node.start_node().await.unwrap();
    assert_eq!(resumed(&test_node, &[]), "");
    assert_eq!(seen(&test_node, id, url.as_str()).await, windows);

    baton(&test_node, &["sessions", "close", "shop"]).success();
    assert_eq!(resumed(&test_node, &["--browser", "new"]), "");
    assert_eq!(seen(&test_node, id, url.as_str()).await, (here, user_agent));
    baton(&test_node, &["sessions", "close", "shop"]).success();
    let export = ExportSession { format: ExportFormat::Session, deep: false };
    let client = test_node.client().unwrap();
    let file = client.export_session("shop", &export).await.unwrap().file;
    let file: Value = serde_json::from_str(file.as_str()).unwrap();
    assert_eq!(file["state"]["environment"]["browser"], json!(browser));
    test_node.clear().await.unwrap();
}
