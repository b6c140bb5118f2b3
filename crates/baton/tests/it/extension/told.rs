//! What is told of a tab, in lines that stories compare.

use super::busy::Busy;
use super::scene::Scene;
use crate::notes::{LIMIT, eventually};
use serde_json::Value;
use std::fmt::Write as _;
use tokio::time::Instant;

/// The requests and the lines of a tab.
pub(super) struct TabReport {
    pub(super) requests: Vec<Value>,
    pub(super) lines: Vec<Value>,
    pub(super) gaps: Vec<Value>,
}

impl TabReport {
    /// All that is told of a tab now. The lines are asked for first: once a page says that it is
    /// done, all that it asked for is among the requests that come after.
    pub(super) fn now(scene: &Scene, token: &str) -> Self {
        let console = scene.asks(&["debug", "console", token]);
        let network = scene.asks(&["debug", "network", token, "--bodies"]);
        let list = |of: &Value| of.as_array().cloned().unwrap_or_default();
        Self {
            requests: list(&network["requests"]),
            lines: list(&console["entries"]),
            gaps: list(&network["gaps"]),
        }
    }

    /// All that is told of a tab, once that is whole; or what is told in the end, when it never is.
    pub(super) async fn once(scene: &Scene, token: &str, is_whole: impl Fn(&Self) -> bool) -> Self {
        let mut told = None;
        let end = Instant::now() + LIMIT / 2;
        let is_done = async || {
            let now = Self::now(scene, token);
            let is_done = is_whole(&now) || Instant::now() >= end;
            told = Some(now);
            is_done
        };
        eventually("the page is done", is_done).await;
        told.unwrap()
    }

    /// Whether the page has said so many times that it is done.
    pub(super) fn is_done(&self, times: usize) -> bool {
        self.lines.iter().filter(|line| line["message"] == "done").count() == times
    }

    /// Whether all requests have ended.
    pub(super) fn has_ended(&self) -> bool {
        self.requests.iter().all(|request| request["ended"] == true)
    }

    /// What came after another look.
    pub(super) fn after(mut self, before: &Self) -> Self {
        let last = before.requests.last().map_or(0, |request| request["number"].as_u64().unwrap());
        let said = before.lines.last().map_or(0, |line| line["seq"].as_u64().unwrap());
        self.requests.retain(|request| request["number"].as_u64().unwrap() > last);
        self.lines.retain(|line| line["seq"].as_u64().unwrap() > said);
        self
    }

    /// The requests, a line each, in the order of the alphabet.
    pub(super) fn network(&self, busy: &Busy, seen_at: &str) -> String {
        let plain = |it: &Value| busy.plain(&request(it), seen_at);
        let mut lines: Vec<String> = self.requests.iter().map(plain).collect();
        lines.sort();
        lines.join("\n")
    }

    /// How the requests went: method, address without its query, and status or error.
    pub(super) fn ways(&self, busy: &Busy, seen_at: &str) -> Vec<String> {
        let way = |it: &Value| {
            let url = it["url"].as_str().unwrap().split('?').next().unwrap_or_default();
            let end = match (it["error"].as_str(), it["status"].as_u64()) {
                (Some(error), _) => error.to_owned(),
                (None, Some(status)) => status.to_string(),
                (None, None) => "without an end".to_owned(),
            };
            busy.plain(&format!("{} {url} {end}", it["method"].as_str().unwrap()), seen_at)
        };
        let mut ways: Vec<String> = self.requests.iter().map(way).collect();
        ways.sort();
        ways
    }

    /// The lines of the console, in their order.
    pub(super) fn console(&self, busy: &Busy, seen_at: &str) -> String {
        let lines: Vec<String> = self.lines.iter().map(line).collect();
        busy.plain(&lines.join("\n"), seen_at)
    }
}

/// How a request went, and what came.
fn request(it: &Value) -> String {
    let word = |name: &str| it[name].as_str().unwrap_or("?");
    let mut line = format!("{} {} {}", word("resource_type"), word("method"), word("url"));
    line.push_str(&place(it));
    if let Some(body) = it["request_body"].as_str() {
        let _ = write!(line, " {body:?}");
    }
    if let Some(status) = it["status"].as_u64() {
        let _ = write!(line, " → {status}");
    }
    if let Some(error) = it["error"].as_str() {
        let _ = write!(line, " ✗ {error}");
    }
    if let Some(body) = it["response_body"].as_str() {
        let _ = write!(line, " {:?}", body.chars().take(20).collect::<String>());
    }
    if it["response_body_truncated"] == true {
        line.push_str(" cut");
    }
    for message in it["messages"].as_array().into_iter().flatten() {
        let way = if message["direction"] == "sent" { "↑" } else { "↓" };
        let _ = write!(line, " {way}{}", message["payload"].as_str().unwrap_or("?"));
    }
    if it["ended"] == true {
        line.push('.');
    }
    line
}

fn line(it: &Value) -> String {
    let message = it["message"].as_str().unwrap().lines().next().unwrap_or_default();
    format!("{} {message}{}", it["level"].as_str().unwrap(), place(it))
}

/// The frame or the worker that it belongs to.
fn place(it: &Value) -> String {
    let place = |name: &str| it[name].as_str().map(|url| format!(" {name} {url}"));
    ["frame", "worker"].into_iter().filter_map(place).collect()
}
