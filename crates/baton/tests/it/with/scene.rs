//! A test node, a site with a login, and bridges in front of the test node.

use crate::test_nodes;
use axum::Router;
use axum::http::HeaderMap;
use axum::http::header::{COOKIE, SET_COOKIE};
use axum::response::{Html, IntoResponse as _, Redirect, Response};
use axum::routing::{get, post};
use baton_playground::tools::{Npm, Room};
use baton_playground::{McpClient, Site, TestNode};
use serde_json::{Value, json};
use std::time::Duration;
use tokio::process::Command;
use tokio::time::{Instant, sleep};

/// How long something may take that happens by itself.
pub(super) const LIMIT: Duration = Duration::from_mins(1);
/// The version that bridges are spoken to in.
pub(super) const VERSION: &str = "2025-11-25";

/// Where the stories play.
pub(super) struct Scene {
    pub(super) test_node: TestNode,
    pub(super) site: Site,
    pub(super) room: Room,
}

impl Scene {
    /// With the tools from npm at hand.
    pub(super) async fn with_npm() -> Self {
        Self::set(Npm::install().await.unwrap().room().unwrap()).await
    }

    pub(super) async fn set(room: Room) -> Self {
        let test_node = test_nodes::test_node().await;
        Self { test_node, site: Site::start(pages()).await.unwrap(), room }
    }

    /// A bridge with another server, and what it is told besides.
    pub(super) async fn bridge(&self, with: &str, args: &[&str]) -> McpClient {
        let bridge = self.silent_bridge(with, args);
        bridge.initialize(json!({}), VERSION).await.unwrap();
        bridge
    }

    /// The same, before anything was said to it.
    pub(super) fn silent_bridge(&self, with: &str, args: &[&str]) -> McpClient {
        McpClient::spawn(self.command(with, args)).unwrap()
    }

    /// What starts a bridge.
    pub(super) fn command(&self, with: &str, args: &[&str]) -> Command {
        let mut command: Command = self.room.command(env!("CARGO_BIN_EXE_baton")).unwrap();
        command
            .arg("--data")
            .arg(self.test_node.data().path())
            .args(["mcp", "--with", with])
            .args(args);
        command
    }

    pub(super) fn address(&self, path: &str) -> String {
        self.site.url(path).unwrap().into()
    }

    /// The id of the session's newest snapshot.
    pub(super) async fn newest(&self, session: &str) -> String {
        let view = self.test_node.client().unwrap().fetch_session(session).await.unwrap();
        view.snapshot.unwrap().id.to_string()
    }

    /// Waits until the session's newest snapshot is another one.
    pub(super) async fn wait_for_a_snapshot_after(&self, session: &str, before: &str) {
        let end = Instant::now() + LIMIT;
        while self.newest(session).await == before {
            assert!(Instant::now() < end, "expected a snapshot after a call");
            sleep(Duration::from_millis(20)).await;
        }
    }

    /// Waits until the session's newest snapshot holds something.
    pub(super) async fn wait_until_kept(&self, session: &str, what: &str) {
        let end = Instant::now() + LIMIT;
        loop {
            let kept = self.test_node.client().unwrap().fetch_state(session, false).await.unwrap();
            if serde_json::to_string(&kept).unwrap().contains(what) {
                return;
            }
            assert!(Instant::now() < end, "expected {what} in a snapshot");
            sleep(Duration::from_millis(20)).await;
        }
    }

    pub(super) async fn strike(self) {
        self.room.clear().await.unwrap();
        self.test_node.clear().await.unwrap();
    }
}

/// What a tool said, as text.
pub(super) fn text(result: &Value) -> String {
    let blocks = result["content"].as_array().unwrap().iter();
    blocks.filter_map(|block| block["text"].as_str()).collect::<Vec<_>>().join("\n")
}

/// What a tool said that did as it was told.
pub(super) fn done(result: &Value) -> String {
    assert_ne!(result["isError"], true, "{}", text(result));
    text(result)
}

/// The servers that a bridge has started.
pub(super) fn servers(bridge: &McpClient) -> Vec<(&'static str, u32)> {
    let pid = bridge.pid().unwrap();
    let children = std::fs::read_to_string(format!("/proc/{pid}/task/{pid}/children")).unwrap();
    children.split_whitespace().map(|pid| ("server", pid.parse().unwrap())).collect()
}

/// A login that a cookie keeps which ends with the browser.
fn pages() -> Router {
    Router::new().route("/", get(home)).route("/login", post(login))
}

async fn home(headers: HeaderMap) -> Html<&'static str> {
    let cookies = headers.get(COOKIE).and_then(|cookies| cookies.to_str().ok()).unwrap_or_default();
    if cookies.contains("signed_in=ada") {
        return Html("<title>shop</title><h1>Welcome, Ada</h1>");
    }
    Html("<title>login</title><form method=post action=/login><button>Sign in</button></form>")
}

async fn login() -> Response {
    ([(SET_COOKIE, "signed_in=ada; Path=/; HttpOnly")], Redirect::to("/")).into_response()
}
