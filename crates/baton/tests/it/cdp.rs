//! Other tools drive a session's browser at its `cdp_url`, beside each other and beside the node.

use crate::test_nodes;
use axum::Router;
use axum::response::Html;
use axum::routing::get;
use baton_api::{CdpAccess, CreateKey, ErrorCode, ListAudit, OpenCdp, Problem, Scope};
use baton_browser::cdp::{self, CdpSession, Connection};
use baton_playground::{Site, TestNode};
use baton_session::{AuditOutcome, SessionId};
use serde_json::{Value, json};
use std::time::Duration;
use tokio::io::AsyncReadExt;
use tokio::time::timeout;
use url::Url;

/// How long an end may take to be noticed.
const LIMIT: Duration = Duration::from_mins(1);

const ONCE: OpenCdp = OpenCdp { reusable: false };
const REUSABLE: OpenCdp = OpenCdp { reusable: true };

/// A test node with a session on a site of its own.
struct Scene {
    test_node: TestNode,
    _site: Site,
    id: SessionId,
}

impl Scene {
    async fn set() -> Self {
        let mut test_node = test_nodes::build();
        test_node.start_node().await.unwrap();
        let page = async || Html("<title>shop</title><p>Welcome</p>");
        let site = Site::start(Router::new().route("/", get(page))).await.unwrap();
        let id = test_node.open("shop", [site.url("/").unwrap()]).await.unwrap();
        Self { test_node, _site: site, id }
    }

    async fn access(&self, request: &OpenCdp) -> CdpAccess {
        self.test_node.client().unwrap().open_cdp("shop", request).await.unwrap()
    }

    async fn strike(self) {
        self.test_node.clear().await.unwrap();
    }
}

/// A tool that is connected.
pub(crate) struct Tool {
    pub(crate) connection: Connection,
    pub(crate) page: CdpSession,
}

impl Tool {
    /// Connects, and attaches to the only page that it sees.
    pub(crate) async fn connect(url: &Url) -> Self {
        let transport = cdp::connect(url.as_str()).await.unwrap();
        let (connection, _events) = Connection::start(transport);
        let browser = connection.browser();
        let found = browser.call("Target.getTargets", json!({})).await.unwrap();
        let found = found["targetInfos"].as_array().unwrap().iter();
        let pages: Vec<&Value> = found.filter(|target| target["type"] == "page").collect();
        assert_eq!(pages.len(), 1, "nothing but the tab of the session is seen: {pages:?}");
        let params = json!({ "targetId": pages[0]["targetId"], "flatten": true });
        let attached = browser.call("Target.attachToTarget", params).await.unwrap();
        let page = connection.session(attached["sessionId"].as_str().unwrap().to_owned().into());
        Self { connection, page }
    }

    pub(crate) async fn evaluate(&self, expression: &str) -> Value {
        let params = json!({ "expression": expression, "returnByValue": true });
        let answer = self.page.call("Runtime.evaluate", params).await.unwrap();
        answer["result"]["value"].clone()
    }
}

/// Asks for a WebSocket.
async fn ask(url: &Url, extra: &[(&str, &str)]) -> reqwest::Response {
    let mut url = url.clone();
    url.set_scheme("http").unwrap();
    let mut request = reqwest::Client::new()
        .get(url)
        .header("connection", "Upgrade")
        .header("upgrade", "websocket")
        .header("sec-websocket-version", "13")
        .header("sec-websocket-key", "dGhlIHNhbXBsZSBub25jZQ==");
    for (name, value) in extra {
        request = request.header(*name, *value);
    }
    request.send().await.unwrap()
}

/// Asks for a WebSocket, and says why there is none.
async fn refused(url: &Url, extra: &[(&str, &str)]) -> Problem {
    let answer = ask(url, extra).await;
    assert_ne!(answer.status(), 101, "expected a refusal");
    answer.json().await.unwrap()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn two_tools_drive_one_browser_and_one_that_leaves_disturbs_nobody() {
    let scene = Scene::set().await;
    let first = Tool::connect(&scene.access(&ONCE).await.cdp_url).await;
    let second = Tool::connect(&scene.access(&ONCE).await.cdp_url).await;
    first.evaluate("document.title = 'changed'").await;
    assert_eq!(second.evaluate("document.title").await, "changed");
    drop(first);
    assert_eq!(second.evaluate("document.querySelector('p').textContent").await, "Welcome");
    let client = scene.test_node.client().unwrap();
    assert!(client.capture_session("shop").await.unwrap().parts > 0);
    assert_eq!(client.fetch_session("shop").await.unwrap().tabs[0].title, "changed");
    scene.strike().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_address_stays_the_same_over_a_resume_and_a_ticket_opens_as_often_as_it_says() {
    let scene = Scene::set().await;
    let client = scene.test_node.client().unwrap().clone();
    let stable = client.fetch_session("shop").await.unwrap().cdp_url.unwrap();
    assert_eq!(stable.path(), format!("/sessions/{}/cdp", scene.id));

    let once = scene.access(&ONCE).await.cdp_url;
    let tool = Tool::connect(&once).await;
    let problem = refused(&once, &[]).await;
    assert_eq!(problem.code, ErrorCode::Unauthenticated);
    insta::assert_snapshot!(problem.detail, @"expected a ticket that opens this session, found one that was used already");

    let many = scene.access(&REUSABLE).await.cdp_url;
    drop(Tool::connect(&many).await);
    client.capture_session("shop").await.unwrap();
    for (_, pid) in scene.test_node.holders(scene.id).await.unwrap() {
        baton_playground::victims::kill_all(&[("holder", pid)]).await.unwrap();
    }
    timeout(LIMIT, tool.connection.closed()).await.unwrap();
    let gone = refused(&many, &[]).await;
    assert_eq!(gone.code, ErrorCode::WrongState, "{gone:?}");
    let resumed = loop {
        match client.resume_session("shop").await {
            Ok(resumed) => break resumed,
            Err(error) => assert_eq!(error.code(), Some(ErrorCode::WrongState), "{error}"),
        }
    };
    assert_eq!(resumed.session.cdp_url, Some(stable));
    let again = Tool::connect(&many).await;
    assert_eq!(again.evaluate("document.querySelector('p').textContent").await, "Welcome");
    scene.strike().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn whoever_has_no_right_to_the_browser_learns_nothing() {
    let scene = Scene::set().await;
    let client = scene.test_node.client().unwrap();
    let url = client.fetch_session("shop").await.unwrap().cdp_url.unwrap();
    let key = |name: &str, owner: Option<&str>, scope| CreateKey {
        name: name.into(),
        owner: owner.map(|owner| owner.parse().unwrap()),
        scopes: [scope].into(),
        for_node: None,
    };
    let reader = client.create_key(&key("reader", None, Scope::Read)).await.unwrap().secret;
    let other = client.create_key(&key("other", Some("bob"), Scope::Drive)).await.unwrap().secret;
    let bearer = |key: &str| format!("Bearer {key}");
    let with = |ticket: &str| {
        let mut url = url.clone();
        url.set_query(Some(&format!("ticket={ticket}")));
        url
    };
    let ticket = scene.access(&ONCE).await.cdp_url;
    let said = [
        refused(&url, &[]).await,
        refused(&with("AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"), &[]).await,
        refused(&with(""), &[]).await,
        refused(&url, &[("authorization", &bearer(&reader))]).await,
        refused(&url, &[("authorization", &bearer(&other))]).await,
        refused(&ticket, &[("origin", "https://evil.example")]).await,
        refused(&ticket, &[("host", "evil.example")]).await,
    ];
    let said = said.map(|problem| format!("{}: {}", problem.code.as_str(), problem.detail));
    let port = url.port().unwrap();
    let said = said.join("\n").replace(&format!("localhost:{port}"), "NODE");
    let said = said.replace(&scene.id.to_string(), "ID");
    insta::assert_snapshot!(said, @r#"
    unauthenticated: expected "Authorization: Bearer KEY" with a valid key, found no such header
    unauthenticated: expected a ticket that opens this session, found an unknown one
    unauthenticated: expected a ticket that opens this session, found an unknown one
    forbidden: expected a key with the scope drive, found one with read
    session_not_found: no session "ID"
    foreign_origin: expected the header Origin to name NODE, found "https://evil.example"
    foreign_origin: expected the header Host to name NODE, found "evil.example"
    "#);
    // None of that has used the ticket.
    Tool::connect(&ticket).await;
    scene.strike().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_connection_ends_with_the_key_behind_it() {
    let scene = Scene::set().await;
    let client = scene.test_node.client().unwrap();
    let scopes = [Scope::Drive].into();
    let request = CreateKey { name: "agent".into(), owner: None, scopes, for_node: None };
    let secret = client.create_key(&request).await.unwrap().secret;
    let agent = baton_api::Client::new(client.base().clone(), secret.into()).unwrap();
    let access = agent.open_cdp("shop", &REUSABLE).await.unwrap();
    let tool = Tool::connect(&access.cdp_url).await;
    client.revoke_key("agent", None).await.unwrap();
    timeout(LIMIT, tool.connection.closed()).await.unwrap();
    let problem = refused(&access.cdp_url, &[]).await;
    insta::assert_snapshot!(problem.detail, @"expected a ticket that opens this session, found one whose key was revoked");
    let log = client.list_audit(&ListAudit::default()).await.unwrap();
    let connected = log.items.iter().filter(|entry| entry.action == "session.connect").count();
    assert_eq!(connected, 1, "{log:?}");
    assert!(!format!("{log:?} {}", scene.test_node.log()).contains("ticket="), "no secret");
    scene.strike().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn of_two_that_use_one_ticket_at_once_one_is_connected() {
    let scene = Scene::set().await;
    let url = scene.access(&ONCE).await.cdp_url;
    let (one, other) = tokio::join!(ask(&url, &[]), ask(&url, &[]));
    let mut statuses = [one.status().as_u16(), other.status().as_u16()];
    statuses.sort_unstable();
    assert_eq!(statuses, [101, 401]);
    let client = scene.test_node.client().unwrap();
    let log = client.list_audit(&ListAudit::default()).await.unwrap().items;
    let connected = log
        .iter()
        .filter(|entry| entry.action == "session.connect" && entry.outcome == AuditOutcome::Done);
    assert_eq!(connected.count(), 1, "{log:?}");
    scene.strike().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_tool_is_told_that_the_node_ends() {
    let mut scene = Scene::set().await;
    let url = scene.access(&ONCE).await.cdp_url;
    let mut socket = ask(&url, &[]).await.upgrade().await.unwrap();
    scene.test_node.stop_node().await.unwrap();
    let mut heard = Vec::new();
    timeout(LIMIT, socket.read_to_end(&mut heard)).await.unwrap().unwrap();
    // A close frame that is not masked: its length, and `1001`.
    let farewell = b"the node ends, and the browser goes on";
    let length = 2 + u8::try_from(farewell.len()).unwrap();
    let frame = [&[0x88, length, 0x03, 0xe9], &farewell[..]].concat();
    assert!(heard.ends_with(&frame), "{:?}", String::from_utf8_lossy(&heard));
    scene.test_node.start_node().await.unwrap();
    scene.strike().await;
}
