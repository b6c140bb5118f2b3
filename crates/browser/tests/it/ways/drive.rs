//! The gestures with which all ways are tried in one browser: a page with everything in it, tabs that lead elsewhere,
//! clients, and at last an extension.

use super::calls::{CONTEXTS, HELD, OF_CLIENTS, OF_DIRECT_CONTEXTS, OF_NODES, SECOND_CLIENT};
use super::documents::DOCUMENTS;
use super::packets::END;
use super::spellings::SPELLINGS;
use super::tls::OF_TLS;
use super::way::{LISTED, Way, Ways};
use super::{extension, peers, scripts};
use crate::fixture::{Kept, attach, open_page};
use baton_browser::cdp::{CdpSession, Event};
use baton_browser::keeper::{KeeperLink, Role};
use serde_json::{Value, json};
use std::fmt::Write as _;
use std::fs;
use std::path::Path;
use std::time::Duration;
use tokio::time::timeout;

/// How long one way may take within a page, in milliseconds, and one call of a client.
const IN_PAGE: u64 = 6_000;
const IN_EXTENSION: u64 = 3_000;
const CALL: Duration = Duration::from_secs(5);
/// How long it may take until a request is held that has to be.
const HELD_WITHIN: Duration = Duration::from_mins(1);

/// Who tries.
pub(super) struct Drive<'a> {
    kept: &'a Kept,
    ways: &'a Ways,
    /// A folder of files that the browser may read.
    shown: &'a Path,
    node: KeeperLink,
    client: KeeperLink,
}

impl<'a> Drive<'a> {
    pub(super) async fn new(kept: &'a Kept, ways: &'a Ways, shown: &'a Path) -> Self {
        let node = kept.connect(Role::Node).await;
        let client = kept.connect(Role::Client).await;
        Self { kept, ways, shown, node, client }
    }

    /// Opens a page with everything in it that needs no page of its own, and waits until each way of it has ended.
    pub(super) async fn one_page(&self) {
        let browser = self.client.connection.browser();
        let (_, page) = open_page(&browser, &listed("/")).await;
        let common = format!("{}{}", scripts::COMMON, peers::COMMON);
        let spellings: Vec<_> = SPELLINGS
            .iter()
            .map(|(name, _)| (*name, "return fetch(url, {mode: 'no-cors'})"))
            .collect();
        let all = scripts::SCRIPTS.iter().chain(peers::PEERS).chain(&spellings);
        let told = ask(&page, "Runtime.evaluate", self.tries(&common, all, IN_PAGE)).await;
        println!("{told}");
    }

    /// Opens each page that leads elsewhere in a tab.
    pub(super) async fn tabs(&self) {
        let browser = self.client.connection.browser();
        for (name, ..) in DOCUMENTS {
            let url = listed(&format!("/document/{name}"));
            let told = ask(&browser, "Target.createTarget", json!({ "url": url })).await;
            println!("{name}: {told}");
        }
        for (name, port, _) in OF_TLS {
            let url = format!("https://{}:{port}/", LISTED.0);
            let told = ask(&browser, "Target.createTarget", json!({ "url": url })).await;
            println!("{name}: {told}");
        }
    }

    /// Calls what clients call, and what the node calls.
    pub(super) async fn calls(&self) {
        self.files();
        for (link, all) in [(&self.client, OF_CLIENTS), (&self.node, OF_NODES)] {
            for (name, calls) in all {
                self.call(link, &self.ways.of(name), calls).await;
            }
        }
        let other = self.kept.connect(Role::Client).await;
        let (target, _) = open_page(&self.client.connection.browser(), &listed("/a")).await;
        let page = attach(&other.connection.browser(), &target).await;
        let url = self.ways.of(SECOND_CLIENT).url();
        ask(&page, "Page.navigate", json!({ "url": url })).await;
    }

    async fn call(&self, link: &KeeperLink, way: &Way, calls: &[&str]) {
        let browser = link.connection.browser();
        let made = browser.call("Target.createTarget", json!({ "url": listed("/a") })).await;
        let target = made.unwrap()["targetId"].as_str().unwrap().to_owned();
        let page = attach(&browser, &target).await;
        let shown = self.shown.to_str().unwrap();
        for text in calls {
            let text = text.replace("$FRAME", &target).replace("$SHOWN", shown);
            let (method, params) = read(&way.fill(&text));
            let is_browsers = method.starts_with("Target.")
                || method.starts_with("Browser.")
                || method.starts_with("PWA.");
            let session = if is_browsers { &browser } else { &page };
            println!("{}: {method}: {}", way.name, ask(session, method, params).await);
        }
    }

    /// What a page of the browser's own files asks for.
    fn files(&self) {
        let way = self.ways.of("node-file");
        fs::write(self.shown.join("node-file.html"), way.fill("<img src='$URL'>")).unwrap();
    }

    /// Makes contexts with proxies of their own, and a tab in each.
    pub(super) async fn contexts(&self) {
        let browser = self.client.connection.browser();
        for (name, proxy, bypass, url) in CONTEXTS {
            let way = self.ways.of(name);
            let mut params = json!({ "proxyBypassList": bypass });
            if let Some(proxy) = proxy {
                params["proxyServer"] = way.fill(proxy).into();
            }
            let made = ask(&browser, "Target.createBrowserContext", params).await;
            let Ok(made) = serde_json::from_str::<Value>(&made) else {
                println!("{name}: {made}");
                continue;
            };
            let params =
                json!({ "url": way.fill(url), "browserContextId": made["browserContextId"] });
            println!("{name}: {}", ask(&browser, "Target.createTarget", params).await);
        }
        let params = json!({ "proxyServer": "direct://" });
        let made = browser.call("Target.createBrowserContext", params).await.unwrap();
        let params = json!({ "url": "about:blank", "browserContextId": made["browserContextId"] });
        let made = browser.call("Target.createTarget", params).await.unwrap();
        let page = attach(&browser, made["targetId"].as_str().unwrap()).await;
        let common = format!("{}{}", scripts::COMMON, peers::COMMON);
        let tries = self.tries(&common, OF_DIRECT_CONTEXTS, IN_PAGE);
        println!("without a proxy: {}", ask(&page, "Runtime.evaluate", tries).await);
    }

    /// Holds requests of pages, and lets each of them go elsewhere.
    pub(super) async fn holds(&mut self) {
        let browser = self.client.connection.browser();
        for (name, answer) in HELD {
            let (_, page) = open_page(&browser, &listed("/a")).await;
            let held = json!({ "patterns": [{ "urlPattern": "*" }] });
            page.call("Fetch.enable", held).await.unwrap();
            page.post("Page.navigate", json!({ "url": listed(&format!("/held/{name}")) }));
            let paused = async {
                while let Some(event) = self.client.events.next().await {
                    let Event::Message { session, method, params } = event else { continue };
                    if method == "Fetch.requestPaused" && session.as_ref() == page.id() {
                        return serde_json::from_str::<Value>(params.get()).unwrap();
                    }
                }
                panic!("the browser has gone")
            };
            let paused = timeout(HELD_WITHIN, paused).await.expect("a request is held");
            let request = paused["requestId"].as_str().unwrap();
            let way = self.ways.of(name);
            let (method, params) = read(&way.fill(&answer.replace("$REQUEST", request)));
            println!("{name}: {}", ask(&page, method, params).await);
            ask(&page, "Fetch.disable", json!({})).await;
        }
    }

    /// Loads an extension, whose worker tries at once, and has its page try the rest.
    pub(super) async fn extension(&self) {
        let worker = extension::OF_WORKER.iter();
        let worker: String = worker.map(|(name, text)| self.ways.of(name).fill(text)).collect();
        for (name, text) in [
            ("manifest.json", extension::MANIFEST),
            ("worker.js", &worker),
            ("page.html", extension::PAGE),
            ("page.js", extension::COMMON),
            ("image.html", extension::IMAGE),
            ("image.js", extension::IMAGE_SCRIPT),
        ] {
            fs::write(self.shown.join(name), text).unwrap();
        }
        let browser = self.node.connection.browser();
        let loaded = browser.call("Extensions.loadUnpacked", json!({ "path": self.shown })).await;
        let id = loaded.unwrap()["id"].as_str().unwrap().to_owned();
        let url = format!("chrome-extension://{id}/page.html");
        let (_, page) = open_page(&browser, &url).await;
        for one in extension::SCRIPTS {
            let tries = self.tries("", [one], IN_EXTENSION);
            println!("{}", ask(&page, "Runtime.evaluate", tries).await);
        }
    }

    /// Asks the listed host for the last thing of all.
    pub(super) async fn ends(&self) {
        let browser = self.client.connection.browser();
        open_page(&browser, &listed(END)).await;
    }

    /// What tries some ways at once, and tells what each came to.
    fn tries<'b>(
        &self,
        common: &str,
        scripts: impl IntoIterator<Item = &'b (&'static str, &'static str)>,
        bound: u64,
    ) -> Value {
        let mut all = String::new();
        for (name, body) in scripts {
            let way = self.ways.of(name);
            let values =
                json!([way.url(), way.fill("$TLS"), way.host(), way.address(), way.port()]);
            // Writing to a text cannot fail.
            let _ = writeln!(
                all,
                "tries('{name}', {values}, async (url, tls, host, address, port) => {{ {body} }}),"
            );
        }
        let expression = format!(
            "(async () => {{ {common}
            const tries = async (name, values, way) => {{
                const bound = new Promise((ended) => setTimeout(ended, {bound}, 'no end'));
                const tried = (async () => way(...values))().then(() => 'came', (why) => `${{why}}`);
                return `${{name}}: ${{await Promise.race([tried, bound])}}`;
            }};
            return (await Promise.all([{all}])).join('\\n'); }})()"
        );
        json!({
            "expression": expression, "awaitPromise": true, "returnByValue": true,
            "userGesture": true,
        })
    }
}

/// An address of the listed host.
fn listed(path: &str) -> String {
    format!("http://{}{path}", LISTED.0)
}

/// A call that is written down.
fn read(text: &str) -> (&'static str, Value) {
    let call: Value = serde_json::from_str(text).unwrap();
    (call[0].as_str().unwrap().to_owned().leak(), call[1].clone())
}

/// What a call answers, or why it does not.
async fn ask(session: &CdpSession, method: &'static str, params: Value) -> String {
    let bound =
        if method == "Runtime.evaluate" { CALL + Duration::from_millis(IN_PAGE) } else { CALL };
    match timeout(bound, session.call(method, params)).await {
        Ok(Ok(answer)) => match answer["result"]["value"].as_str() {
            Some(text) => text.to_owned(),
            None => answer.to_string(),
        },
        Ok(Err(error)) => error.to_string(),
        Err(_) => "no answer".to_owned(),
    }
}
