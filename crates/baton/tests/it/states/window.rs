//! The tabs of a session's browser, each known by the number in its address.

use baton_browser::cdp::{CdpSession, CdpSessionId};
use baton_browser::keeper::{self, KeeperLink, Role};
use baton_playground::TestNode;
use baton_session::SessionId;
use serde_json::{Value, json};
use std::time::Duration;
use tokio::time::{Instant, sleep};
use url::Url;

/// How long a page may take until it is what is expected of it.
const LIMIT: Duration = Duration::from_mins(1);
/// How long a page may take until it is scrolled as it was.
const SCROLL_LIMIT: Duration = Duration::from_mins(1);
/// How long a page may take to answer: it writes and reads whole states.
const ANSWER_LIMIT: Duration = Duration::from_mins(2);

/// A browser, as one of its clients sees it.
pub(super) struct Window(KeeperLink);

/// A page of it.
pub(super) struct Tab {
    target: String,
    page: CdpSession,
}

impl Window {
    pub(super) async fn of(test_node: &TestNode, id: SessionId) -> Self {
        Self(keeper::connect(&test_node.keeper_socket(id), Role::Client).await.unwrap())
    }

    /// Asks something of the browser itself.
    pub(super) async fn call(&self, method: &'static str, params: Value) -> Value {
        self.0.connection.browser().call(method, params).await.unwrap()
    }

    /// The tab of this number, when its page is there.
    pub(super) async fn tab(&self, number: usize) -> Tab {
        let tab = self.attach(&self.find(number).await).await;
        tab.settle().await;
        tab
    }

    /// A tab of our own.
    pub(super) async fn open(&self, url: &Url) -> Tab {
        let params = json!({ "url": url.as_str(), "background": true });
        let created = self.call("Target.createTarget", params).await;
        let tab = self.attach(created["targetId"].as_str().unwrap()).await;
        tab.settle().await;
        tab
    }

    pub(super) async fn close(&self, tab: Tab) {
        self.call("Target.closeTarget", json!({ "targetId": tab.target })).await;
    }

    /// Brings a tab to the front.
    pub(super) async fn activate(&self, tab: &Tab) {
        self.call("Target.activateTarget", json!({ "targetId": tab.target })).await;
        tab.wait_for("document.visibilityState === 'visible'").await;
    }

    async fn find(&self, number: usize) -> String {
        let end = Instant::now() + LIMIT;
        loop {
            let targets = self.call("Target.getTargets", json!({})).await;
            let is_it = |target: &&Value| {
                let url = Url::parse(target["url"].as_str().unwrap_or_default());
                let wanted = ("tab".into(), number.to_string().into());
                target["type"] == "page"
                    && url.is_ok_and(|url| url.query_pairs().any(|pair| pair == wanted))
            };
            if let Some(target) = targets["targetInfos"].as_array().unwrap().iter().find(is_it) {
                return target["targetId"].as_str().unwrap().to_owned();
            }
            assert!(Instant::now() < end, "expected tab {number}, found {targets}");
            sleep(Duration::from_millis(25)).await;
        }
    }

    async fn attach(&self, target: &str) -> Tab {
        let params = json!({ "targetId": target, "flatten": true });
        let attached = self.call("Target.attachToTarget", params).await;
        let id: CdpSessionId = serde_json::from_value(attached["sessionId"].clone()).unwrap();
        Tab { target: target.to_owned(), page: self.0.connection.session(id) }
    }
}

impl Tab {
    /// Asks something of the page's own session.
    pub(super) async fn call(&self, method: &'static str, params: Value) -> Value {
        self.page.call(method, params).await.unwrap()
    }

    /// What an expression gives, or what its promise resolves to.
    pub(super) async fn evaluate(&self, expression: &str) -> Value {
        self.try_evaluate(expression).await.unwrap_or_else(|error| panic!("{expression}: {error}"))
    }

    async fn try_evaluate(&self, expression: &str) -> Result<Value, String> {
        let params =
            json!({ "expression": expression, "returnByValue": true, "awaitPromise": true });
        let answer = self.page.call_within(ANSWER_LIMIT, "Runtime.evaluate", params).await;
        let mut answer = answer.map_err(|error| error.to_string())?;
        match answer.get("exceptionDetails") {
            Some(exception) => Err(exception.to_string()),
            None => Ok(answer["result"]["value"].take()),
        }
    }

    /// Waits until an expression is true. A page that is just being replaced by the next one cannot
    /// answer, which is no failure.
    pub(super) async fn wait_for(&self, condition: &str) {
        let came_true = self.comes_true(condition, LIMIT).await;
        let found = "[location.href, document.readyState, document.visibilityState].join(' ')";
        assert!(
            came_true,
            "expected {condition} within {LIMIT:?}, found {:?} at {:?}, tree {:?}",
            self.try_evaluate(found).await,
            self.page.call("Page.getNavigationHistory", json!({})).await,
            self.page.call("Page.getFrameTree", json!({})).await
        );
    }

    /// Whether an expression is true within a limit.
    pub(super) async fn comes_true(&self, condition: &str, limit: Duration) -> bool {
        let end = Instant::now() + limit;
        while self.try_evaluate(condition).await != Ok(Value::Bool(true)) {
            if Instant::now() >= end {
                return false;
            }
            sleep(Duration::from_millis(25)).await;
        }
        true
    }

    /// Waits until the page is there, with its frames.
    pub(super) async fn settle(&self) {
        self.wait_for("document.readyState === 'complete' && typeof look === 'function'").await;
    }

    /// The entries of the tab's history, and at which of them it is; nothing while the tab moves.
    /// The empty page with which a tab may begin is no place to go back to.
    pub(super) async fn history(&self) -> Option<(u64, Vec<Value>)> {
        let mut history = self.page.call("Page.getNavigationHistory", json!({})).await.ok()?;
        let current = history["currentIndex"].as_u64()?;
        let mut entries: Vec<Value> = serde_json::from_value(history["entries"].take()).ok()?;
        let begun = entries.iter().take_while(|entry| entry["url"] == "about:blank").count();
        entries.drain(..begun);
        Some((current.checked_sub(begun as u64)?, entries))
    }

    /// Waits until the tab is at an entry of its history, and the page is there.
    pub(super) async fn arrive(&self, at: u64) {
        let end = Instant::now() + LIMIT;
        while self.history().await.is_none_or(|(current, _)| current != at) {
            assert!(Instant::now() < end, "expected to arrive at entry {at} within {LIMIT:?}");
            sleep(Duration::from_millis(25)).await;
        }
        self.settle().await;
    }

    /// Gives the browser time to scroll; whether it did is for the reader to say.
    pub(super) async fn scroll_settles(&self, scroll: &str) {
        let condition = format!("here().then((found) => found.scroll === '{scroll}')");
        self.comes_true(&condition, SCROLL_LIMIT).await;
    }
}
