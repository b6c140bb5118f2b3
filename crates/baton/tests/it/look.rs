//! Agents and people look into the tabs of a session: all that a page does is there, its secrets are not.

use crate::mcp::{agent, call};
use crate::notes::{LIMIT, eventually};
use crate::test_nodes;
use axum::Router;
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{Html, IntoResponse};
use axum::routing::{get, post};
use baton_api::debug::{ConsoleFilters, GapReason, NetworkFilters, TabToken, Wait};
use baton_api::{Client, CreateKey, ErrorCode, OpenSession, Scope, SwitchDebug};
use baton_playground::{Page, Site, TestNode};
use serde_json::{Value, json};
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};
use tokio::io::{AsyncBufReadExt, BufReader};
use tokio::time::timeout;

/// What the page says, sends and gets that nobody may read.
const SECRETS: [&str; 6] = [
    "Zq7-session-cookie",
    "Zq7-query-token",
    "Zq7-password",
    "Zq7-api-key",
    "Zq7-bearer",
    "Zq7-console-token",
];

const PAGE: &str = "<title>shop</title><link rel=icon href='data:,'><script>
    console.log('hello %s', 'world', {cart: 3});
    const token = 'Zq7-console-token';
    console.log('token', token);
    (async () => {
      await (await fetch('/items?access_token=Zq7-query-token')).json();
      await fetch('/login', {
        method: 'POST', headers: {authorization: 'Bearer Zq7-bearer'},
        body: new URLSearchParams({user: 'ada', password: 'Zq7-password'}),
      });
      await fetch('/missing');
      console.error(new TypeError('out of stock'));
      console.info('done');
    })();
    </script>";

async fn shop() -> Site {
    let page = async || ([(header::SET_COOKIE, "sid=Zq7-session-cookie")], Html(PAGE));
    let items = async || axum::Json(json!({"items": ["a", "b"], "api_key": "Zq7-api-key"}));
    let log_in = async |headers: HeaderMap| {
        let cookie = headers.get(header::COOKIE).unwrap().to_str().unwrap().to_owned();
        (StatusCode::ACCEPTED, format!("welcome, {cookie}")).into_response()
    };
    let pages = Router::new()
        .route("/", get(page))
        .route("/items", get(items))
        .route("/login", post(log_in));
    Site::start(pages).await.unwrap()
}

/// A command line in the test node.
fn baton(test_node: &TestNode, args: &[&str]) -> Command {
    let mut baton = Command::new(env!("CARGO_BIN_EXE_baton"));
    baton.arg("--data").arg(test_node.data().path()).args(args);
    baton.env("TZ", "UTC").env("FEDERATION_DIR", test_node.board());
    baton
}

/// What a command says; it has to be done.
fn says(test_node: &TestNode, args: &[&str]) -> String {
    let ended = baton(test_node, args).output().unwrap();
    assert!(ended.status.success(), "{args:?}: {ended:?}");
    String::from_utf8(ended.stdout).unwrap()
}

/// The token of the only tab.
async fn token(test_node: &TestNode) -> TabToken {
    let mut tabs = test_node.client().unwrap().list_tabs().await.unwrap().items;
    assert_eq!(tabs.len(), 1, "{tabs:?}");
    tabs.remove(0).token
}

/// Waits until the page has said that it is done.
async fn done(test_node: &TestNode, token: &TabToken) {
    let filters =
        ConsoleFilters { message_pattern: Some("^done$".to_owned()), ..ConsoleFilters::default() };
    let client = test_node.client().unwrap();
    let found = timeout(LIMIT, client.get_console(token, &filters, Duration::from_secs(20)));
    assert_eq!(found.await.unwrap().unwrap().entries.len(), 1);
}

/// Without what differs from run to run: instants, durations, sizes, ports.
fn plain(text: &str, site: &Site) -> String {
    let home = site.url("/").unwrap().to_string();
    let mut text = text.replace(home.trim_end_matches('/'), "http://shop");
    for (pattern, instead) in [
        (r"\d\d:\d\d:\d\d\.\d{3}", "TIME"),
        (r"\b[\d.]+(ms|s|B|kB)\b", ""),
        (r":\d+:\d+", ""),
        (r"after=\d+", "after=N"),
        (" +", " "),
    ] {
        text = regex::Regex::new(pattern).unwrap().replace_all(&text, instead).into_owned();
    }
    text
}

/// A table whose cells go on in no next line: where they break depends on how long a request took.
fn in_one_line_each(table: &str) -> String {
    let mut whole = String::new();
    for line in table.lines() {
        match line.strip_prefix("  ") {
            Some(rest) => whole.push_str(rest.trim()),
            None => whole.extend(["\n", line.trim_end()]),
        }
    }
    whole
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn all_that_a_page_does_is_there_from_the_first_byte_on_and_no_secret_is() {
    let mut test_node = test_nodes::build();
    test_node.start_node().await.unwrap();
    let site = shop().await;
    let url = site.url("/").unwrap();
    let mut said = says(&test_node, &["open", url.as_str(), "--name", "shop", "--debug"]);
    let token = token(&test_node).await;
    done(&test_node, &token).await;
    let tab = token.as_str();

    let network = says(&test_node, &["debug", "network", tab]);
    insta::assert_snapshot!(plain(&in_one_line_each(&network), &site), @"
    # TIME METHOD STATUS TOOK SIZE TYPE ADDRESS
    1 TIME GET 200 document http://shop/
    2 TIME GET 200 fetch http://shop/items?access_token=[redacted]
    3 TIME POST 202 fetch http://shop/login
    4 TIME GET 404 fetch http://shop/missing
    ");
    let console = says(&test_node, &["debug", "console", tab]);
    insta::assert_snapshot!(plain(&console, &site), @r"
    TIME #1 log hello world {cart: 3}
    TIME #2 log token [redacted]
    TIME #3 error Failed to load resource: the server responded with a status of 404 (Not Found)
    TIME #4 error TypeError: out of stock at http://shop/
    TIME #5 info done
    ");
    let failed = says(&test_node, &["debug", "network", tab, "--status-min", "400", "--json"]);
    let failed: Value = serde_json::from_str(&failed).unwrap();
    assert!(failed["requests"].as_array().unwrap().iter().all(|one| one["status"] == 404));

    // What came is there without its secrets, in every form.
    let bodies = says(&test_node, &["debug", "network", tab, "--bodies", "--json"]);
    for body in
        [r#"{\"api_key\":\"[redacted]\",\"items\":[\"a\",\"b\"]}"#, "user=ada&password=[redacted]"]
    {
        assert!(bodies.contains(body), "{body} in {bodies}");
    }
    let archive = test_node.data().path().join("shop.har");
    says(&test_node, &["debug", "har", tab, "-o", archive.to_str().unwrap()]);
    let archive = std::fs::read_to_string(archive).unwrap();
    let har: Value = serde_json::from_str(&archive).unwrap();
    assert_eq!(
        (&har["log"]["version"], &har["log"]["pages"][0]["title"]),
        (&json!("1.2"), &json!("shop"))
    );

    // A model reads the same in few words.
    let model = agent(&test_node).await;
    let listed = call(&model, "browser_debug_list_tabs", json!({})).await;
    assert_eq!(listed, format!("1 tab\n{tab} shop {url} shop"));
    let requests = call(&model, "browser_debug_get_network", json!({"token": tab})).await;
    insta::assert_snapshot!(plain(&requests, &site), @r"
    4 requests, newest first; paths are of http://shop
    #4 GET 404 fetch /missing
    #3 POST 202 fetch /login
    #2 GET 200 fetch /items?access_token=[redacted]
    #1 GET 200 document /
    id=NUMBER shows one with headers and body.
    after=N lists what is new from here on.
    ");
    let one = json!({"token": tab, "id": 3});
    let one = call(&model, "browser_debug_get_network", one).await;
    let errors = json!({"token": tab, "level": ["error"], "message_pattern": "stock"});
    let errors = call(&model, "browser_debug_get_console", errors).await;
    insta::assert_snapshot!(plain(&errors, &site), @r"
    1 line:
    #4 error 127.0.0.1:15 TypeError: out of stock at http://shop/
    id=NUMBER shows one in full, with its stack.
    after=N lists what is new from here on.
    ");
    let lines = [json!(4), json!("4")].map(|id| json!({"token": tab, "id": id}));
    let [by_number, by_text] = lines.map(|line| call(&model, "browser_debug_get_console", line));
    assert_eq!(by_number.await, by_text.await);
    let bomb = json!({"token": tab, "url_pattern": "(((a{99}){99}){99}){99}"});
    let bomb = call(&model, "browser_debug_get_network", bomb).await;
    assert!(bomb.starts_with("error: expected a regular expression in url_pattern"), "{bomb}");

    for text in [network, console, bodies, archive, listed, requests, one, errors, test_node.log()]
    {
        said.push_str(&text);
    }
    for id in 1..=5 {
        said.push_str(&says(&test_node, &["debug", "console", tab, "--id", &id.to_string()]));
    }
    for secret in SECRETS {
        assert!(!said.contains(secret), "{secret} came out");
    }
    model.close().await.unwrap();
    test_node.clear().await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_session_is_recorded_later_and_no_longer_and_by_the_next_node() {
    let mut test_node = test_nodes::build();
    test_node.start_node().await.unwrap();
    let site = shop().await;
    let id = test_node.open("shop", [site.url("/").unwrap()]).await.unwrap();
    let client = test_node.client().unwrap().clone();
    assert!(client.list_tabs().await.unwrap().items.is_empty());
    let none = says(&test_node, &["debug", "list-tabs"]);
    assert_eq!(none.trim(), "no tabs; baton debug on ID records those of a session");

    says(&test_node, &["debug", "on", "shop"]);
    eventually("the tab is listed", async || {
        client.list_tabs().await.unwrap().items.first().is_some_and(|tab| tab.title == "shop")
    })
    .await;
    let tab = token(&test_node).await;
    let found = client.get_network(&tab, &NetworkFilters::default(), Duration::ZERO).await.unwrap();
    assert_eq!(found.gaps[0].reason, GapReason::FirstLoad);
    let page =
        Page::attach(&test_node.keeper_socket(id), site.url("/").unwrap().as_str()).await.unwrap();
    page.evaluate::<bool>("fetch('/items?page=2'); true").await.unwrap();
    let filters = NetworkFilters {
        url_pattern: Some("page=2".to_owned()),
        status_min: Some(200),
        ..NetworkFilters::default()
    };
    let found = client.get_network(&tab, &filters, Duration::from_secs(20)).await.unwrap();
    assert_eq!(found.requests.len(), 1);

    // What was recorded was in that node's memory; the next one goes on recording by itself.
    test_node.kill_node().await.unwrap();
    test_node.start_node().await.unwrap();
    let client = test_node.client().unwrap().clone();
    eventually("the tab is listed again", async || {
        client.list_tabs().await.unwrap().items.len() == 1
    })
    .await;
    let gone = client.get_network(&tab, &filters, Duration::ZERO).await.unwrap_err();
    assert_eq!(gone.code(), Some(ErrorCode::TabGone));

    let again = token(&test_node).await;
    let off = client.switch_debug("shop", SwitchDebug { on: false, reveal: false }).await.unwrap();
    assert!(!off.session.debug);
    let gone = client.get_har(&again, false).await.unwrap_err();
    assert_eq!(gone.code(), Some(ErrorCode::TabGone));
    test_node.clear().await.unwrap();
}

/// How often the node was asked for the console of a tab, as its log says.
fn heard(test_node: &TestNode) -> usize {
    let log = test_node.log();
    let begun = log.lines().filter(|line| line.contains("started processing request"));
    begun.filter(|line| line.contains("/console")).count()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_node_that_ends_lets_nobody_wait() {
    let mut test_node = test_nodes::build().with("BATON_LOG", "info,tower_http=debug");
    test_node.start_node().await.unwrap();
    let site = shop().await;
    says(&test_node, &["open", site.url("/").unwrap().as_str(), "--name", "shop", "--debug"]);
    let token = token(&test_node).await;
    done(&test_node, &token).await;
    let client = test_node.client().unwrap().clone();
    let all = ConsoleFilters::default();
    let cursor = client.get_console(&token, &all, Duration::ZERO).await.unwrap().cursor;
    let filters = ConsoleFilters { after: Some(cursor), ..all };
    let (asking, before) = (client.clone(), heard(&test_node));
    let waiting =
        tokio::spawn(
            async move { asking.get_console(&token, &filters, Duration::from_secs(20)).await },
        );
    // The node hears of it before it is told to end.
    eventually("the node is asked", async || heard(&test_node) > before).await;

    let begun = Instant::now();
    test_node.stop_node().await.unwrap();
    assert!(waiting.await.unwrap().unwrap().entries.is_empty());
    assert!(begun.elapsed() < Duration::from_secs(15), "{:?}", begun.elapsed());
    test_node.start_node().await.unwrap();
    test_node.clear().await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_tab_is_followed_until_it_is_closed() {
    let mut test_node = test_nodes::build();
    test_node.start_node().await.unwrap();
    let site = shop().await;
    let url = site.url("/").unwrap();
    let mut request = OpenSession::new("shop".parse().unwrap(), [url.clone()]);
    request.debug = true;
    let client = test_node.client().unwrap().clone();
    let id = client.open_session(&request).await.unwrap().session.id;
    let token = token(&test_node).await;
    done(&test_node, &token).await;

    let args = ["debug", "console", token.as_str(), "--follow", "--message-pattern", "^tick"];
    let mut follower = tokio::process::Command::from(baton(&test_node, &args));
    let mut follower = follower.stdout(Stdio::piped()).kill_on_drop(true).spawn().unwrap();
    let mut lines = BufReader::new(follower.stdout.take().unwrap()).lines();
    let page = Page::attach(&test_node.keeper_socket(id), url.as_str()).await.unwrap();
    for number in 1..=3 {
        let write = format!("console.log('tick {number}'); true");
        page.evaluate::<bool>(&write).await.unwrap();
        let line = timeout(LIMIT, lines.next_line()).await.unwrap().unwrap().unwrap();
        assert!(line.ends_with(&format!("log   tick {number}")), "{line}");
    }
    // Its last words, and then the end.
    client.close_session("shop").await.unwrap();
    assert_eq!(timeout(LIMIT, lines.next_line()).await.unwrap().unwrap(), None);
    assert!(timeout(LIMIT, follower.wait()).await.unwrap().unwrap().success());
    let ended: Output = baton(&test_node, &["debug", "network", token.as_str()]).output().unwrap();
    assert_eq!(ended.status.code(), Some(3), "{ended:?}");
    test_node.clear().await.unwrap();
}

/// What the page says and sends that is told with its secrets, to whom they are shown.
const SHOWN: [&str; 5] =
    ["Zq7-query-token", "Zq7-password", "Zq7-api-key", "Zq7-bearer", "Zq7-console-token"];

/// All of a tab in every form, for whoever asks for its secrets or does not.
fn everything(test_node: &TestNode, tab: &str, more: &[&str]) -> String {
    let asks: [&[&str]; 3] = [
        &["debug", "network", tab, "--bodies", "--json"],
        &["debug", "console", tab],
        &["debug", "har", tab],
    ];
    asks.map(|ask| says(test_node, &[ask, more].concat())).concat()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn secrets_are_shown_to_who_asks_once_they_are_kept_and_to_nobody_else() {
    let mut test_node = test_nodes::build();
    test_node.start_node().await.unwrap();
    let site = shop().await;
    let url = site.url("/").unwrap();
    says(&test_node, &["open", url.as_str(), "--name", "shop", "--debug"]);
    let token = token(&test_node).await;
    done(&test_node, &token).await;
    let tab = token.as_str();
    let refused = baton(&test_node, &["debug", "network", tab, "--reveal"]).output().unwrap();
    assert_eq!(refused.status.code(), Some(4), "{refused:?}");

    says(&test_node, &["debug", "on", "shop", "--reveal"]);
    assert!(says(&test_node, &["debug", "list-tabs"]).contains("(secrets kept)"));
    let client = test_node.client().unwrap().clone();
    let id = client.fetch_session("shop").await.unwrap().session.id;
    let page = Page::attach(&test_node.keeper_socket(id), url.as_str()).await.unwrap();
    page.evaluate::<bool>("location.reload(); true").await.unwrap();
    eventually("the page is done once more", async || {
        let message_pattern = Some("^done$".to_owned());
        let filters = ConsoleFilters { message_pattern, ..ConsoleFilters::default() };
        client.get_console(&token, &filters, Duration::ZERO).await.unwrap().entries.len() == 2
    })
    .await;
    let revealed = everything(&test_node, tab, &["--reveal"]);
    for secret in SHOWN {
        assert!(revealed.contains(secret), "{secret} in {revealed}");
    }

    let mut said =
        everything(&test_node, tab, &[]) + &says(&test_node, &["debug", "list-tabs", "--json"]);
    let model = agent(&test_node).await;
    said += &call(&model, "browser_debug_get_network", json!({"token": tab})).await;
    for id in 1..=8 {
        let one = json!({"token": tab, "id": id});
        said += &call(&model, "browser_debug_get_network", one).await;
    }
    said += &call(&model, "browser_debug_get_console", json!({"token": tab})).await;
    model.close().await.unwrap();

    // It ends with whoever wants it no longer, at once.
    client.switch_debug("shop", SwitchDebug { on: true, reveal: false }).await.unwrap();
    let gone = client.get_har(&token, true).await.unwrap_err();
    assert_eq!(gone.code(), Some(ErrorCode::Conflict));
    for text in [said, says(&test_node, &["audit", "--json"]), test_node.log()] {
        for secret in SECRETS {
            assert!(!text.contains(secret), "{secret} came out");
        }
    }
    test_node.clear().await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn secrets_are_kept_from_the_first_byte_on_as_long_as_that_browser_runs() {
    let mut test_node = test_nodes::build();
    test_node.start_node().await.unwrap();
    let site = shop().await;
    let url = site.url("/").unwrap();
    says(&test_node, &["open", url.as_str(), "--name", "shop", "--debug", "--reveal"]);
    let first = token(&test_node).await;
    done(&test_node, &first).await;
    let revealed = everything(&test_node, first.as_str(), &["--reveal"]);
    for secret in SHOWN {
        assert!(revealed.contains(secret), "{secret} in {revealed}");
    }
    let client = test_node.client().unwrap().clone();
    client.close_session("shop").await.unwrap();
    let switch = SwitchDebug { on: true, reveal: true };
    let closed = client.switch_debug("shop", switch).await.unwrap_err();
    assert_eq!(closed.code(), Some(ErrorCode::WrongState));
    client.resume_session("shop").await.unwrap();
    let again = token(&test_node).await;
    let hidden = client.get_har(&again, true).await.unwrap_err();
    assert_eq!(hidden.code(), Some(ErrorCode::Conflict));
    test_node.clear().await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn who_may_not_see_secrets_is_refused_and_whoever_sees_them_is_noted() {
    let mut test_node = test_nodes::build();
    test_node.start_node().await.unwrap();
    let site = shop().await;
    says(&test_node, &["open", site.url("/").unwrap().as_str(), "--name", "shop", "--debug"]);
    let token = token(&test_node).await;
    done(&test_node, &token).await;
    let client = test_node.client().unwrap().clone();
    let as_key = async |name: &str, scopes: &[Scope]| {
        let scopes = scopes.iter().copied().collect();
        let request = CreateKey { name: name.to_owned(), owner: None, scopes, for_node: None };
        let secret = client.create_key(&request).await.unwrap().secret;
        Client::new(client.base().clone(), secret.into()).unwrap()
    };
    let drives = as_key("drives", &[Scope::Drive, Scope::Debug]).await;
    let switch = SwitchDebug { on: true, reveal: true };
    let denied = drives.switch_debug("shop", switch).await.unwrap_err();
    assert_eq!(denied.code(), Some(ErrorCode::Forbidden));
    let mut open = OpenSession::new("other".parse().unwrap(), []);
    (open.debug, open.reveal) = (true, true);
    let denied = drives.open_session(&open).await.unwrap_err();
    assert_eq!(denied.code(), Some(ErrorCode::Forbidden));

    client.switch_debug("shop", switch).await.unwrap();
    let (all, lines) = (NetworkFilters::default(), ConsoleFilters::default());
    let how = Wait { wait: None, reveal: true };
    let looks = as_key("looks", &[Scope::Debug]).await;
    let codes = [
        looks.get_network(&token, &all, how.clone()).await.unwrap_err().code(),
        looks.get_console(&token, &lines, how.clone()).await.unwrap_err().code(),
        looks.get_har(&token, true).await.unwrap_err().code(),
    ];
    assert_eq!(codes, [Some(ErrorCode::Forbidden); 3]);
    assert!(!looks.get_har(&token, false).await.unwrap().is_empty());
    let sees = as_key("sees", &[Scope::Debug, Scope::Reveal]).await;
    assert!(!sees.get_network(&token, &all, how.clone()).await.unwrap().requests.is_empty());
    // An answer with nothing in it shows nothing.
    let none = NetworkFilters { url_pattern: Some("nowhere".to_owned()), ..all };
    assert!(sees.get_network(&token, &none, how).await.unwrap().requests.is_empty());

    let log: Value = serde_json::from_str(&says(&test_node, &["audit", "--json"])).unwrap();
    let mut noted: Vec<String> = log["items"].as_array().unwrap().iter().map(noted).collect();
    noted.retain(|line| line.contains("debug") || line.contains("open"));
    noted.reverse();
    insta::assert_snapshot!(noted.join("\n"), @r"
    local-admin session.open done
    drives session.debug denied reveal
    drives session.open denied reveal
    local-admin session.debug done reveal
    looks debug.reveal denied network
    looks debug.reveal denied console
    looks debug.reveal denied har
    sees debug.reveal done network
    ");
    test_node.clear().await.unwrap();
}

/// An entry of the audit log in a line.
fn noted(entry: &Value) -> String {
    let word = |name: &str| entry[name].as_str().unwrap().split(' ').next().unwrap().to_owned();
    let mut words = vec![word("actor"), word("action"), word("outcome")];
    words.extend(entry["detail"].get("reveal").map(|_| "reveal".to_owned()));
    words.extend(entry["detail"]["what"].as_str().map(ToOwned::to_owned));
    words.join(" ")
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn of_a_body_as_much_is_kept_as_the_settings_say() {
    let folder = tempfile::tempdir().unwrap();
    let settings = folder.path().join("baton.toml");
    std::fs::write(&settings, "[proxy.browser_debug]\nresponse_body_max_size = 100\n").unwrap();
    let mut test_node = test_nodes::build().with("BATON_CONFIG", settings);
    test_node.start_node().await.unwrap();
    let page = "<title>long</title><script>
        fetch('/long').then((answer) => answer.text()).then(() => console.info('done'));
        </script>";
    let pages = Router::new()
        .route("/", get(async move || Html(page)))
        .route("/long", get(async || "a".repeat(5000)));
    let site = Site::start(pages).await.unwrap();
    let url = site.url("/").unwrap();
    says(&test_node, &["open", url.as_str(), "--name", "shop", "--debug"]);
    let token = token(&test_node).await;
    done(&test_node, &token).await;
    let filters = NetworkFilters {
        url_pattern: Some("/long$".to_owned()),
        bodies: true,
        ..NetworkFilters::default()
    };
    let client = test_node.client().unwrap();
    let found = client.get_network(&token, &filters, Duration::ZERO).await.unwrap();
    let [long] = &found.requests[..] else { panic!("{found:?}") };
    assert_eq!(long.response_body.as_deref(), Some("a".repeat(100).as_str()));
    assert!(long.response_body_truncated);
    client.close_session("shop").await.unwrap();
    test_node.clear().await.unwrap();
}
