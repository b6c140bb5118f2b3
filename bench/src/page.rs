//! What it takes to open the page of a node that has many sessions: how soon the first of them stand there, and how
//! much memory the node needs for it.
//!
//! The page is opened as a person does, by a browser of which the node knows nothing: each time in a context of its
//! own, which has nothing of an earlier one. When its rows stood there the page says itself, by its own clock.

use crate::report::{Figure, Section, median, percentile};
use crate::{process, thousand};
use anyhow::{Context as _, Result, bail, ensure};
use baton_browser::cdp::{CdpSession, CdpSessionId, Connection};
use baton_browser::launch::{self, BrowserPlaces, Confine, LaunchOptions, find_browser};
use baton_playground::TestNode;
use serde_json::{Value, json};
use std::path::Path;
use std::time::Duration;
use tempfile::TempDir;
use tokio::process::Child;
use tokio::time::{Instant, sleep, timeout};
use url::Url;

/// How many sessions the node has.
const SESSIONS: u32 = 1000;
/// How often the page is opened for its time.
const OPENINGS: usize = 20;
/// The viewport of the page, in CSS pixels.
const SCREEN: (u32, u32) = (1280, 800);
/// How long the node comes to rest before its memory is read.
const SETTLE: Duration = Duration::from_secs(10);
/// How long a page may take, and how often it is asked meanwhile.
const LIMIT: Duration = Duration::from_secs(30);
const PAUSE: Duration = Duration::from_millis(20);
/// Within how many milliseconds the first rows should stand there.
const SOON: f64 = 300.0;
/// How many megabytes more the node should take at most.
const MORE: f64 = 3.0;

/// Notes when the first rows were drawn, in milliseconds since the navigation began.
const WATCH: &str = "
new MutationObserver((_, watch) => {
    if (document.querySelector('.sessions .windowed .row .name a') === null) return;
    watch.disconnect();
    requestAnimationFrame(() => setTimeout(() => (globalThis.stood = performance.now())));
}).observe(document, { childList: true, subtree: true });";

/// What was measured at a node.
struct Openings {
    /// How long each took, in milliseconds.
    times: Vec<f64>,
    /// The memory of the node before the first page, with it, and after the last, in megabytes.
    memory: [f64; 3],
}

/// Opens the page once for the node's memory, and then again and again for the time.
pub async fn measure(baton: &Path) -> Result<Section> {
    let mut test_node = thousand::fill(TestNode::build(baton)?, SESSIONS).await?;
    test_node.start_node().await?;
    let node = test_node.node_pid()?;
    let browser = PersonsBrowser::start()?;
    let memory = async || -> Result<f64> {
        sleep(SETTLE).await;
        process::memory(node)
    };
    let before = memory().await?;
    let page = browser.open(&address(&test_node).await?).await?;
    let opened = memory().await?;
    browser.close(&page).await?;
    let mut times = Vec::with_capacity(OPENINGS);
    for opening in 0..OPENINGS {
        let page = browser.open(&address(&test_node).await?).await?;
        println!("opening {} of {OPENINGS}: {:.0} ms", opening + 1, page.took);
        times.push(page.took);
        browser.close(&page).await?;
    }
    let afterwards = memory().await?;
    browser.end().await?;
    test_node.clear().await?;
    Ok(section(&Openings { times, memory: [before, opened, afterwards] }))
}

/// What opens the page once.
async fn address(test_node: &TestNode) -> Result<Url> {
    Ok(test_node.client()?.open_page().await?.url)
}

fn section(openings: &Openings) -> Section {
    let Openings { times, memory: [before, opened, afterwards] } = openings;
    let figure = |what: &str, found, aim, unit| Figure { what: what.to_owned(), found, aim, unit };
    Section {
        title: "The page of a node with a thousand sessions",
        method: format!(
            "A node of {SESSIONS} sessions, none of which has a picture, on this machine. A headless Chromium that runs \
             already opens the address that works once, in a context of its own each time, {OPENINGS} times. It takes from \
             the begin of the navigation until the first rows were drawn, by the clock of the page; all sessions are known \
             by then. The first opening of all is not counted: before it and with its page open, {} s later, the memory of \
             the node (PSS) is read from `/proc/PID/smaps_rollup`. Absolute, not a ratio.",
            SETTLE.as_secs()
        ),
        comparisons: Vec::new(),
        figures: vec![
            figure("until the first rows stand there, median", median(times.clone()), SOON, "ms"),
            figure("until the first rows stand there, p95", percentile(times, 95), SOON, "ms"),
            figure("memory of the node, more with the page open", opened - before, MORE, "MB"),
        ],
        medians: vec![
            ("memory of the node before the first page".to_owned(), format!("{before:.1} MB")),
            ("and after the last one was closed".to_owned(), format!("{afterwards:.1} MB")),
        ],
        tables: Vec::new(),
    }
}

/// A browser that a person has, with a profile of its own.
struct PersonsBrowser {
    connection: Connection,
    child: Child,
    _folder: TempDir,
}

/// The node's page, open in a context of its own.
struct NodesPage {
    /// Which context that is.
    context: Value,
    /// How many milliseconds it took until its first rows stood there.
    took: f64,
}

impl PersonsBrowser {
    fn start() -> Result<Self> {
        let folder = TempDir::new()?;
        let path = std::env::var_os("PATH");
        let program = find_browser(None, &BrowserPlaces::on_path(path.as_deref()))?;
        let inherited = ["HOME", "PATH"]
            .into_iter()
            .filter_map(|name| Some((name.to_owned(), std::env::var(name).ok()?)));
        let options = LaunchOptions {
            confine: Confine::Off,
            inherited: inherited.collect(),
            ..LaunchOptions::new(program, folder.path().join("profile"))
        };
        let mut launched = launch::start(&options)?;
        if let Some(mut said) = launched.stderr.take() {
            tokio::spawn(async move { tokio::io::copy(&mut said, &mut tokio::io::sink()).await });
        }
        let (connection, mut events) = Connection::start(launched.transport);
        tokio::spawn(async move { while events.next().await.is_some() {} });
        Ok(Self { connection, child: launched.child, _folder: folder })
    }

    /// Opens the page, and waits until its first rows stand there.
    async fn open(&self, url: &Url) -> Result<NodesPage> {
        let browser = self.connection.browser();
        let made = browser.call("Target.createBrowserContext", json!({})).await?;
        let context = made["browserContextId"].clone();
        let blank = json!({ "url": "about:blank", "browserContextId": context });
        let made = browser.call("Target.createTarget", blank).await?;
        let params = json!({ "targetId": made["targetId"], "flatten": true });
        let attached = browser.call("Target.attachToTarget", params).await?;
        let id: CdpSessionId = serde_json::from_value(attached["sessionId"].clone())?;
        let page = self.connection.session(id);
        let (width, height) = SCREEN;
        let screen =
            json!({ "width": width, "height": height, "deviceScaleFactor": 1, "mobile": false });
        page.call("Emulation.setDeviceMetricsOverride", screen).await?;
        // A page at which nobody looks asks for nothing.
        page.call("Emulation.setFocusEmulationEnabled", json!({ "enabled": true })).await?;
        page.call("Page.enable", json!({})).await?;
        page.call("Page.addScriptToEvaluateOnNewDocument", json!({ "source": WATCH })).await?;
        page.call_within(LIMIT, "Page.navigate", json!({ "url": url })).await?;
        let took = stood(&page).await?;
        let number = "document.querySelector('.chips .number').textContent.replace(/\\D/g, '')";
        let told = evaluate(&page, &format!("Number({number})")).await?;
        ensure!(told == SESSIONS, "expected the page to tell of {SESSIONS} sessions, found {told}");
        Ok(NodesPage { context, took })
    }

    /// Closes the page with its context, and all that this kept.
    async fn close(&self, page: &NodesPage) -> Result<()> {
        let params = json!({ "browserContextId": page.context });
        self.connection.browser().call("Target.disposeBrowserContext", params).await?;
        Ok(())
    }

    async fn end(mut self) -> Result<()> {
        self.connection.browser().call("Browser.close", json!({})).await?;
        timeout(LIMIT, self.child.wait()).await.context("expected the browser to end")??;
        Ok(())
    }
}

/// When the first rows stood there, as the page notes it.
async fn stood(page: &CdpSession) -> Result<f64> {
    let end = Instant::now() + LIMIT;
    loop {
        // A page that is just taking the place of the blank one cannot answer, which is no failure.
        let stood = evaluate(page, "globalThis.stood ?? null").await.unwrap_or_default();
        if let Some(stood) = stood.as_f64() {
            return Ok(stood);
        }
        if Instant::now() >= end {
            let text = evaluate(page, "document.body.innerText").await.unwrap_or_default();
            bail!("expected rows within {LIMIT:?}, found a page that says {text}");
        }
        sleep(PAUSE).await;
    }
}

async fn evaluate(page: &CdpSession, expression: &str) -> Result<Value> {
    let params = json!({ "expression": expression, "returnByValue": true });
    let mut answer = page.call("Runtime.evaluate", params).await?;
    Ok(answer["result"]["value"].take())
}
