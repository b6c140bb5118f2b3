//! What a story needs: a service behind the proxy of a node, and a paired browser with the extension.

use super::browser::Browser;
use super::wire::Wire;
use crate::notes::eventually;
use crate::test_nodes;
use baton_playground::tools::Extension;
use baton_playground::{Site, TestNode};
use serde_json::Value;
use std::process::Command;
use tokio::net::TcpListener;
use url::Url;

/// A test node in front of a service, and the browser of a person who looks at it.
pub(super) struct Scene {
    pub(super) test_node: TestNode,
    pub(super) browser: Browser,
    /// Where the service's pages are.
    pub(super) pages: Url,
    extension: Extension,
}

impl Scene {
    /// Puts a node in front of a service, and pairs a browser with it.
    pub(super) async fn open(service: &Site) -> Self {
        Self::open_with(service, "").await
    }

    /// The same with these settings.
    pub(super) async fn open_with(service: &Site, settings: &str) -> Self {
        let scene = Self::unpaired(service, settings).await;
        let paired = scene.asks(&["debug", "pair"]);
        let word = |name: &str| paired[name].as_str().unwrap();
        scene.browser.pair(word("address"), word("code")).await;
        scene
    }

    /// The same, but the browser reaches the node by a wire.
    pub(super) async fn open_by_wire(service: &Site) -> (Self, Wire) {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let host = listener.local_addr().unwrap();
        let settings = format!("[server]\nallowed_hosts = [\"{host}\"]\n");
        let scene = Self::unpaired(service, &settings).await;
        let node = scene.test_node.client().unwrap().base().socket_addrs(|| None).unwrap();
        let wire = Wire::lay(listener, node[0]);
        let paired = scene.asks(&["debug", "pair"]);
        scene.browser.pair(wire.url().as_str(), paired["code"].as_str().unwrap()).await;
        (scene, wire)
    }

    async fn unpaired(service: &Site, settings: &str) -> Self {
        let (extension, test_node) =
            tokio::join!(Extension::unpack(), test_node(service, settings));
        let extension = extension.unwrap();
        let browser = Browser::start(&extension.build().await.unwrap()).await;
        let pages = pages(&test_node);
        Self { test_node, browser, pages, extension }
    }

    /// What a command says, as JSON.
    pub(super) fn asks(&self, arguments: &[&str]) -> Value {
        asks(&self.test_node, arguments)
    }

    /// What a command says for people.
    pub(super) fn says(&self, arguments: &[&str]) -> String {
        let ended = baton(&self.test_node, arguments).output().unwrap();
        assert!(ended.status.success(), "{arguments:?}: {ended:?}");
        String::from_utf8(ended.stdout).unwrap()
    }

    /// Why a command fails.
    pub(super) fn fails(&self, arguments: &[&str]) -> String {
        let ended = baton(&self.test_node, arguments).output().unwrap();
        assert!(!ended.status.success(), "{arguments:?}: {ended:?}");
        String::from_utf8(ended.stderr).unwrap()
    }

    /// The token of the tab that shows this address, once it is listed.
    pub(super) async fn tab(&self, address: &str) -> String {
        self.tab_with("url", address).await
    }

    /// The token of the tab that has this in a field, once it is listed.
    pub(super) async fn tab_with(&self, field: &str, value: &str) -> String {
        let mut found = None;
        eventually(&format!("a tab has the {field} {value}"), async || {
            found = self.tabs().into_iter().find(|tab| tab[field] == value);
            found.is_some()
        })
        .await;
        found.unwrap()["token"].as_str().unwrap().to_owned()
    }

    /// Waits until a line was written, so many times and no more.
    pub(super) async fn hears_line(&self, token: &str, line: &str, times: usize) {
        eventually(&format!("{line} is told {times} times"), async || {
            let console = self.asks(&["debug", "console", token]);
            let lines = console["entries"].as_array().unwrap().iter();
            lines.filter(|entry| entry["message"] == line).count() == times
        })
        .await;
    }

    /// Waits until a request whose address has this in it was answered.
    pub(super) async fn hears_request(&self, token: &str, part: &str) {
        eventually(&format!("a request with {part} is told"), async || {
            let found = self.asks(&["debug", "network", token, "--url-pattern", part]);
            let requests = found["requests"].as_array().unwrap();
            requests.iter().any(|request| request["status"] == 200)
        })
        .await;
    }

    /// Why something is missing of a tab's requests, in order.
    pub(super) fn gaps(&self, token: &str) -> Vec<String> {
        let network = self.asks(&["debug", "network", token]);
        let gaps = network["gaps"].as_array().into_iter().flatten();
        gaps.map(|gap| gap["reason"].as_str().unwrap().to_owned()).collect()
    }

    /// Ends the node; the next one listens where this one did, and so does its proxy.
    pub(super) async fn stop_node(&mut self, is_killed: bool) {
        let settings = self.test_node.data().settings();
        let now = std::fs::read_to_string(&settings).unwrap();
        let port = self.pages.port().unwrap();
        std::fs::write(&settings, now.replace("127.0.0.1:0\"", &format!("127.0.0.1:{port}\"")))
            .unwrap();
        self.test_node.keep_address().unwrap();
        if is_killed {
            self.test_node.kill_node().await.unwrap();
        } else {
            self.test_node.stop_node().await.unwrap();
        }
    }

    /// The tabs that are listed.
    pub(super) fn tabs(&self) -> Vec<Value> {
        self.asks(&["debug", "list-tabs"])["items"].as_array().unwrap().clone()
    }

    /// Ends everybody.
    pub(super) async fn clear(self) {
        self.browser.close().await;
        self.test_node.clear().await.unwrap();
        self.extension.clear().await.unwrap();
    }
}

/// A test node whose node stands in front of the service, with these settings besides.
async fn test_node(service: &Site, more: &str) -> TestNode {
    let test_node = test_nodes::build();
    test_node.data().create().unwrap();
    let upstream = service.url("/").unwrap();
    let settings = format!(
        "{more}[proxy]\nlisten = \"127.0.0.1:0\"\n[[cocoons]]\nid = \"shop\"\nname = \"The shop\"\nupstream = \"{upstream}\"\n"
    );
    std::fs::write(test_node.data().settings(), settings).unwrap();
    test_nodes::start(test_node).await
}

/// Where the pages of its service are, on a host of their own.
fn pages(test_node: &TestNode) -> Url {
    let services = asks(test_node, &["cocoons", "list"]);
    services["items"][0]["urls"][0].as_str().unwrap().parse().unwrap()
}

fn asks(test_node: &TestNode, arguments: &[&str]) -> Value {
    let ended = baton(test_node, arguments).arg("--json").output().unwrap();
    assert!(ended.status.success(), "{arguments:?}: {ended:?}");
    serde_json::from_slice(&ended.stdout).unwrap()
}

fn baton(test_node: &TestNode, arguments: &[&str]) -> Command {
    let mut baton = Command::new(env!("CARGO_BIN_EXE_baton"));
    baton.arg("--data").arg(test_node.data().path()).args(arguments);
    baton
}
