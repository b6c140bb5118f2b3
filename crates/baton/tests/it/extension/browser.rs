//! A person's browser with the extension in it, driven over a pipe.
//!
//! It attaches to the tabs of a story and to nothing else: whoever attaches to the extension's worker
//! keeps it awake, and a worker that falls asleep is what some of the stories are about.

use crate::notes::{LIMIT, eventually};
use baton_browser::cdp::{CdpSession, CdpSessionId, Connection};
use baton_browser::launch::{self, Folder, LaunchOptions};
use baton_server::EXTENSION_ID;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use std::path::Path;
use std::time::Duration;
use tempfile::TempDir;
use tokio::process::Child;
use tokio::time::timeout;

/// The browser; it ends when this is dropped.
pub(super) struct Browser {
    connection: Connection,
    process: Child,
    _profile: TempDir,
}

impl Browser {
    /// Starts one, on a profile of its own, with the extension that was built into a folder.
    pub(super) async fn start(extension: &Path) -> Self {
        let profile = tempfile::Builder::new().prefix("browser-").tempdir().unwrap();
        let path = std::env::var_os("PATH");
        let places = launch::BrowserPlaces::on_path(path.as_deref());
        let program = launch::find_browser(None, &places).unwrap();
        let options = LaunchOptions {
            folders: vec![Folder { path: extension.to_owned(), writable: false }],
            extra_args: vec![
                "--enable-unsafe-extension-debugging".to_owned(),
                "--silent-debugger-extension-api".to_owned(),
                "--disable-dev-shm-usage".to_owned(),
            ],
            inherited: [("HOME".to_owned(), profile.path().display().to_string())].into(),
            ..LaunchOptions::new(program, profile.path().join("profile"))
        };
        let mut launched = launch::start(&options).unwrap();
        let mut said = launched.stderr.take().unwrap();
        tokio::spawn(async move { tokio::io::copy(&mut said, &mut tokio::io::sink()).await });
        let (connection, mut events) = Connection::start(launched.transport);
        tokio::spawn(async move { while events.next().await.is_some() {} });
        let browser = Self { connection, process: launched.child, _profile: profile };
        let loaded = browser.call("Extensions.loadUnpacked", json!({ "path": extension })).await;
        assert_eq!(loaded["id"], EXTENSION_ID);
        eventually("the extension's worker runs", async || browser.worker().await.is_some()).await;
        browser
    }

    /// Opens a tab.
    pub(super) async fn open(&self, url: &str) -> Tab {
        let tab = self.call("Target.createTarget", json!({ "url": "about:blank" })).await;
        let target = tab["targetId"].as_str().unwrap().to_owned();
        let params = json!({ "targetId": target, "flatten": true });
        let attached = self.call("Target.attachToTarget", params).await;
        let id = CdpSessionId::from(attached["sessionId"].as_str().unwrap());
        let tab = Tab { session: self.connection.session(id), target };
        tab.goto(url).await;
        tab
    }

    /// Types the address of a node and a code into the extension's popup, as a person does, and waits
    /// until it says that it is connected.
    pub(super) async fn pair(&self, address: &str, code: &str) {
        let popup = self.popup().await;
        let is_ready = "!document.getElementById('pairing').hidden";
        popup.wait_for(is_ready).await;
        popup.type_into("address", address).await;
        popup.type_into("code", code).await;
        popup.evaluate::<Value>("document.querySelector('#pairing button').click()").await;
        let status = "document.getElementById('status').innerText";
        popup.wait_for(&format!("{status}.startsWith('Connected since')")).await;
        self.close_tab(popup).await;
    }

    /// Opens the page of the popup.
    pub(super) async fn popup(&self) -> Tab {
        self.open(&format!("chrome-extension://{EXTENSION_ID}/popup.html")).await
    }

    /// Ends the extension's worker, as the browser does when nothing happens for a while.
    pub(super) async fn stop_worker(&self) {
        let worker = self.worker().await.expect("the worker runs");
        self.call("Target.closeTarget", json!({ "targetId": worker })).await;
        let is_gone = async || self.worker().await.as_ref() != Some(&worker);
        eventually("the extension's worker ended", is_gone).await;
    }

    /// The extension's worker, while it runs.
    async fn worker(&self) -> Option<String> {
        let targets = self.call("Target.getTargets", json!({})).await;
        let home = format!("chrome-extension://{EXTENSION_ID}/");
        let mut targets = targets["targetInfos"].as_array()?.iter();
        let worker = targets.find(|it| {
            it["type"] == "service_worker" && it["url"].as_str().unwrap().starts_with(&home)
        })?;
        Some(worker["targetId"].as_str()?.to_owned())
    }

    pub(super) async fn close_tab(&self, tab: Tab) {
        self.call("Target.closeTarget", json!({ "targetId": tab.target })).await;
    }

    /// Ends it as its user does.
    pub(super) async fn close(mut self) {
        self.call("Browser.close", json!({})).await;
        timeout(LIMIT, self.process.wait()).await.expect("the browser ends").unwrap();
    }

    async fn call(&self, method: &'static str, params: Value) -> Value {
        self.connection.browser().call_within(LIMIT, method, params).await.unwrap()
    }
}

/// A tab that a person opened.
pub(super) struct Tab {
    session: CdpSession,
    target: String,
}

impl Tab {
    /// Goes to an address.
    pub(super) async fn goto(&self, url: &str) {
        self.call("Page.navigate", json!({ "url": url })).await;
    }

    /// Loads its page once more.
    pub(super) async fn reload(&self) {
        self.call("Page.reload", json!({})).await;
    }

    /// What an expression gives, or what its promise resolves to.
    pub(super) async fn evaluate<T: DeserializeOwned + Default>(&self, expression: &str) -> T {
        let params =
            json!({ "expression": expression, "returnByValue": true, "awaitPromise": true });
        let mut answer = self.call("Runtime.evaluate", params).await;
        assert!(answer.get("exceptionDetails").is_none(), "{expression}: {answer}");
        serde_json::from_value(answer["result"]["value"].take()).unwrap_or_default()
    }

    /// Waits until an expression is true; a page that is being replaced by the next cannot say so.
    pub(super) async fn wait_for(&self, condition: &str) {
        let is_so = async || {
            let params = json!({ "expression": condition, "returnByValue": true });
            let answer =
                self.session.call_within(Duration::from_secs(5), "Runtime.evaluate", params);
            answer.await.is_ok_and(|answer| answer["result"]["value"] == true)
        };
        eventually(condition, is_so).await;
    }

    /// Types into a field.
    async fn type_into(&self, field: &str, text: &str) {
        let select = format!("document.getElementById({}).select()", json!(field));
        self.evaluate::<Value>(&select).await;
        self.call("Input.insertText", json!({ "text": text })).await;
    }

    async fn call(&self, method: &'static str, params: Value) -> Value {
        self.session.call_within(LIMIT, method, params).await.unwrap()
    }
}
