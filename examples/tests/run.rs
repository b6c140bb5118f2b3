//! Each example is run as its reader would run it, and what it says is compared.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test ends there")]

use axum::Router;
use axum::http::header::SET_COOKIE;
use axum::response::Html;
use axum::routing::get;
use baton_playground::{Site, TestNode};
use baton_testing::skip;
use regex::Regex;
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

const CLIENT: &str = env!("CARGO_BIN_EXE_client");
const SESSION_FILE: &str = env!("CARGO_BIN_EXE_session_file");
const BOARD: &str = env!("CARGO_BIN_EXE_board");

/// What a run said, without what differs from run to run: on standard output, then beside it.
fn said(run: &Output, folder: &Path) -> String {
    let text = [&run.stdout, &run.stderr].map(|text| String::from_utf8(text.clone()).unwrap());
    let mut text = text.concat().replace(folder.to_str().unwrap(), "FOLDER");
    for (pattern, name) in [
        (r"127\.0\.0\.1:\d+", "127.0.0.1:PORT"),
        (r"task-[a-z0-9]{6}", "task-******"),
        (r"\d{4}-\d\d-\d\dT[\d:.]+Z", "TIME"),
        (r"\d+ parts, \d+ bytes", "so many parts and bytes"),
    ] {
        text = Regex::new(pattern).unwrap().replace_all(&text, name).into_owned();
    }
    text
}

/// The program of the node. It is another package's, and cargo tells where those are to nobody: it lies beside
/// the examples.
fn baton() -> Option<PathBuf> {
    Some(Path::new(CLIENT).with_file_name("baton")).filter(|beside| beside.exists())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_client_opens_captures_and_closes_a_session() {
    let Some(baton) = baton() else {
        skip!("expected baton beside the examples, found none: cargo build makes it");
    };
    let page = async || {
        let page = "<title>Shop</title><script>localStorage.setItem('theme', 'dark')</script>";
        ([(SET_COOKIE, "sid=e5c1; HttpOnly")], Html(page))
    };
    let site = Site::start(Router::new().route("/", get(page))).await.unwrap();
    let mut test_node = TestNode::build(baton).unwrap();
    let data = test_node.data().path().to_owned();
    let client = async |url: &str| {
        let mut command = tokio::process::Command::new(CLIENT);
        said(&command.arg(&data).arg(url).output().await.unwrap(), &data)
    };
    let address = site.url("/?ticket=e5c1").unwrap();

    insta::assert_snapshot!(client(address.as_str()).await, @"
    error: expected a node of FOLDER, found none
    baton serve starts one
    ");
    test_node.start_node().await.unwrap();
    insta::assert_snapshot!(client(address.as_str()).await, @"
    sessions of the node at http://127.0.0.1:PORT/: 0
    opened example, active
    captured so many parts and bytes
      tab: Shop (http://127.0.0.1:PORT/?ticket=[redacted])
      cookie: 127.0.0.1/ sid = [redacted: 4 characters]
      local storage: http://127.0.0.1:PORT/ theme = [redacted: 4 characters]
    closed example, closed
    ");
    // The node says why it does not do something, and what it did stays.
    insta::assert_snapshot!(client("ftp://example.org/").await, @"
    sessions of the node at http://127.0.0.1:PORT/: 1
      example, closed
    error: the node refused (invalid_request): expected urls to be http, https or about addresses, found ftp:
    ");
    test_node.clear().await.unwrap();
}

/// A login that lasts, one that is over, what measures visitors, and a cookie that is none.
const STORAGE_STATE: &str = r#"{
  "cookies": [
    {"name": "sid", "value": "e5c1", "domain": "shop.test", "path": "/", "expires": -1,
     "httpOnly": true, "secure": true, "sameSite": "Lax"},
    {"name": "session", "value": "9b1c", "domain": "news.test", "path": "/", "expires": 1700000000,
     "httpOnly": true, "secure": true, "sameSite": "Lax"},
    {"name": "_ga", "value": "GA1.1", "domain": "blog.test", "path": "/", "expires": -1,
     "httpOnly": false, "secure": false, "sameSite": "Lax"},
    {"name": "lost", "domain": "shop.test", "path": "/"}
  ],
  "origins": [
    {"origin": "https://shop.test", "localStorage": [{"name": "theme", "value": "dark"}],
     "sessionStorage": [{"name": "step", "value": "2"}]}
  ]
}"#;

/// A session file as it may be written by hand.
const SESSION_FILE_TEXT: &str = r#"{
  "name": "shop",
  "state": {
    "url": "https://shop.test/basket",
    "cookies": [{"name": "sid", "value": "e5c1", "domain": "shop.test", "path": "/"}],
    "localStorage": {"theme": "dark"}
  }
}"#;

#[test]
fn a_file_says_what_it_is_and_becomes_a_storage_state() {
    let folder = tempfile::tempdir().unwrap();
    let (from, to) = (folder.path().join("shop.json"), folder.path().join("state.json"));
    fs::write(&from, STORAGE_STATE).unwrap();
    let run = |arguments: &[&Path]| {
        said(&Command::new(SESSION_FILE).args(arguments).output().unwrap(), folder.path())
    };

    insta::assert_snapshot!(run(&[&from, &to]), @"
    FOLDER/shop.json is a storageState file
      logged in at https://shop.test
      no longer logged in at https://news.test
      cannot be used: cookie, cookies[3] lost: expected a value that is valid Unicode
      lost or changed in a storageState: tab, tab 0, https://shop.test/: left out: the format has no tabs
      lost or changed in a storageState: session storage, tab 0, https://shop.test/: left out: the format has no sessionStorage (of https://shop.test/)
    ");
    assert_eq!(fs::metadata(&to).unwrap().permissions().mode() & 0o777, 0o600);
    // What was written is read again, and nothing that is there is written over.
    insta::assert_snapshot!(run(&[&to]), @r#"
    {
      "cookies": [
        {
          "name": "_ga",
          "value": "GA1.1",
          "domain": "blog.test",
          "path": "/",
          "expires": -1,
          "httpOnly": false,
          "secure": false,
          "sameSite": "Lax"
        },
        {
          "name": "session",
          "value": "9b1c",
          "domain": "news.test",
          "path": "/",
          "expires": 1700000000,
          "httpOnly": true,
          "secure": true,
          "sameSite": "Lax"
        },
        {
          "name": "sid",
          "value": "e5c1",
          "domain": "shop.test",
          "path": "/",
          "expires": -1,
          "httpOnly": true,
          "secure": true,
          "sameSite": "Lax"
        }
      ],
      "origins": [
        {
          "origin": "https://shop.test",
          "localStorage": [
            {
              "name": "theme",
              "value": "dark"
            }
          ]
        }
      ]
    }
    FOLDER/state.json is a storageState file
      logged in at https://shop.test
      no longer logged in at https://news.test
    "#);
    insta::assert_snapshot!(run(&[&from, &to]), @"
    FOLDER/shop.json is a storageState file
      logged in at https://shop.test
      no longer logged in at https://news.test
      cannot be used: cookie, cookies[3] lost: expected a value that is valid Unicode
      lost or changed in a storageState: tab, tab 0, https://shop.test/: left out: the format has no tabs
      lost or changed in a storageState: session storage, tab 0, https://shop.test/: left out: the format has no sessionStorage (of https://shop.test/)
    error: could not write FOLDER/state.json: File exists (os error 17)
    ");
    fs::write(&from, SESSION_FILE_TEXT).unwrap();
    insta::assert_snapshot!(run(&[&from, &folder.path().join("other.json")]), @"
    FOLDER/shop.json is a session file
      its session is called shop
      logged in at https://shop.test
      lost or changed in a storageState: cookie, shop.test/ sid: its unspecified SameSite becomes Lax
      lost or changed in a storageState: tab, tab 0, https://shop.test/basket: left out: the format has no tabs
    ");
    fs::write(&from, "<html></html>").unwrap();
    insta::assert_snapshot!(run(&[&from]), @"error: this is a page in HTML or XML; expected a session file, a Playwright storageState, a list of cookies in JSON, or a cookies.txt");
}

#[test]
fn a_task_of_the_board_is_one_agents() {
    let folder = tempfile::tempdir().unwrap();
    let run = || {
        let board = folder.path().join("board");
        said(&Command::new(BOARD).arg(&board).output().unwrap(), folder.path())
    };

    insta::assert_snapshot!(run(), @"
    kimi adds task-******
    kimi claims it, with the fence 1
    codex is refused it (Conflict): expected task-****** to be free, but kimi holds it with the number 1, seen at TIME
    it can be taken when kimi was silent for 900 s
    kimi completes it
    the board after 4 operations:
      kimi is there
      task-****** (high): write the docs, completed by kimi
    ");
    // The next task gets a larger number.
    let again = run();
    assert!(again.contains("kimi claims it, with the fence 2"), "{again}");
}
