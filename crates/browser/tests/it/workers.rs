//! What workers write is kept, also when no page of their site is open.

use crate::fixture::{attach, evaluate, eventually, shows};
use crate::site::{Page, Site};
use crate::story::{Running, key_of, profile};
use baton_browser::cdp::CdpSession;
use baton_session::value::Node;
use baton_session::{Database, State};
use serde_json::json;
use std::collections::BTreeMap;
use std::path::Path;

const PAGE: &str = "<script>
    const ports = {
        dedicated: new Worker('/dedicated.js'),
        shared: new SharedWorker('/shared.js').port,
    };
    navigator.serviceWorker.register('/service.js')
        .then(() => navigator.serviceWorker.ready)
        .then(({ active }) => { ports.service = active; document.title = 'ready' });
    const ask = (name, value) => new Promise((done) => {
        const channel = new MessageChannel();
        channel.port1.onmessage = ({ data }) => done(data);
        ports[name].postMessage(value, [channel.port2]);
    });
    </script>";

/// A worker that puts what it is told and answers when it is on disk.
fn worker(name: &str, on_message: &str) -> Page {
    let put = include_str!("pages/put.js");
    let answer = "const answer = ({ data, ports: [port] }) =>";
    let answer = format!("{answer} put('{name}', data).then((done) => port.postMessage(done));");
    Page::script(format!("{put}\n{answer}\n{on_message}"))
}

async fn site() -> Site {
    Site::builder()
        .page("/", Page::html(PAGE))
        .page("/elsewhere", Page::html("elsewhere"))
        .page("/dedicated.js", worker("dedicated", "onmessage = answer"))
        .page(
            "/shared.js",
            worker("shared", "onconnect = ({ ports }) => ports[0].onmessage = answer"),
        )
        .page("/service.js", worker("service", "onmessage = answer"))
        .start()
        .await
}

/// The databases of a page's storage key, each with its one value.
fn written(state: &State, url: &str) -> BTreeMap<String, Node> {
    let databases = state.origins.get(&key_of(url)).map(|origin| origin.databases.as_slice());
    let one = |database: &Database| {
        let value = &database.stores[0].records[0].value;
        (database.name.to_lossy(), value.root.clone())
    };
    databases.unwrap_or_default().iter().map(one).collect()
}

fn all(values: [(&str, &str); 3]) -> BTreeMap<String, Node> {
    values.map(|(name, value)| (name.to_owned(), Node::String(value.into()))).into()
}

/// A browser with the page in front, whose workers have written once.
async fn start(profile: &Path, url: &str) -> (Running, CdpSession) {
    let running = Running::start(profile).await;
    let page = running.open(url).await;
    shows(&page, "document.title", "ready").await;
    for name in ["dedicated", "shared", "service"] {
        assert_eq!(evaluate(&page, &format!("ask('{name}', 'first')")).await, "done", "{name}");
    }
    (running, page)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_workers_write_comes_back() {
    let ((_folder, profile), site) = (profile(), site().await);
    let url = site.url("a", "/");
    let (running, page) = start(&profile, &url).await;
    let first = all([("dedicated", "first"), ("service", "first"), ("shared", "first")]);
    eventually("it is captured", async || written(&running.changed().await, &url) == first).await;
    for name in ["dedicated", "shared", "service"] {
        evaluate(&page, &format!("ask('{name}', 'second')")).await;
    }
    let second = all([("dedicated", "second"), ("service", "second"), ("shared", "second")]);
    eventually("so are changes", async || written(&running.changed().await, &url) == second).await;
    let state = running.capture().await;
    running.crash().await;
    let (running, _) = Running::resume(&profile, &state).await;
    assert_eq!(written(&running.capture().await, &url), second);
    running.crash().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_worker_that_writes_after_its_pages_have_left_is_heard() {
    let ((_folder, profile), site) = (profile(), site().await);
    let url = site.url("a", "/");
    let (running, page) = start(&profile, &url).await;
    page.call("Page.navigate", json!({ "url": site.url("b", "/elsewhere") })).await.unwrap();
    eventually("the page has left", async || {
        let state = running.changed().await;
        state.tabs.first().is_some_and(|tab| tab.url.ends_with("/elsewhere"))
    })
    .await;
    let worker = service_worker(&running).await;
    assert_eq!(evaluate(&worker, "put('service', 'alone')").await, "done");
    let alone = all([("dedicated", "first"), ("service", "alone"), ("shared", "first")]);
    eventually("it is captured", async || written(&running.changed().await, &url) == alone).await;
    assert_eq!(written(&running.capture().await, &url), alone);
    running.crash().await;
}

/// An agent's hand on the service worker.
async fn service_worker(running: &Running) -> CdpSession {
    let browser = running.agent.connection.browser();
    let filter = json!({ "filter": [{ "type": "service_worker" }] });
    let found = browser.call("Target.getTargets", filter).await.unwrap();
    attach(&browser, found["targetInfos"][0]["targetId"].as_str().unwrap()).await
}
