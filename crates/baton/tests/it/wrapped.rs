//! A browser in a wrapper, spoken to as if it were the browser itself.

use crate::sandboxes::browser as program;
use assert_cmd::cargo::cargo_bin;
use axum::Router;
use axum::http::header::CONTENT_TYPE;
use axum::response::Html;
use axum::routing::get;
use baton_browser::cdp::{self, CdpSession, Connection};
use baton_playground::Site;
use reqwest::header::{HOST, ORIGIN};
use serde_json::{Value, json};
use std::path::Path;
use std::process::Stdio;
use std::time::Duration;
use tokio::io::{AsyncBufReadExt, BufReader};
use tokio::process::{Child, Command};
use tokio::time::timeout;
use url::Url;

const LIMIT: Duration = Duration::from_secs(40);
const AGENT: &str = "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 \
                     (KHTML, like Gecko) Chrome/147.0.0.0 Safari/537.36";

/// Starts one in a folder; where it says that it listens.
async fn start(folder: &Path, words: &[&str]) -> (Child, String) {
    let spec = json!({ "program": program(), "environment": { "userAgent": AGENT } });
    start_as(&spec, folder, words).await
}

/// The same, of a specification.
async fn start_as(spec: &Value, folder: &Path, words: &[&str]) -> (Child, String) {
    let path = folder.join("browser.json");
    std::fs::write(&path, spec.to_string()).unwrap();
    let mut command = Command::new(cargo_bin!("baton"));
    command.arg("browser-wrapper").arg(path).args(["--", "--headless=new", "--no-sandbox"]);
    command.arg(format!("--user-data-dir={}", folder.join("profile").display())).args(words);
    // What it shows first by itself is elsewhere.
    command.arg("about:blank");
    let mut child = command.stderr(Stdio::piped()).kill_on_drop(true).spawn().unwrap();
    let mut lines = BufReader::new(child.stderr.take().unwrap()).lines();
    let said = async {
        loop {
            let line =
                lines.next_line().await.unwrap().expect("expected an address, found the end");
            if let Some((_, url)) = line.split_once("DevTools listening on ") {
                return url.to_owned();
            }
        }
    };
    let url = timeout(LIMIT, said).await.unwrap();
    // What it says later is read, or it would wait.
    tokio::spawn(async move { while let Ok(Some(_)) = lines.next_line().await {} });
    (child, url)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn its_port_is_that_of_a_browser_and_no_page_of_the_web_comes_in() {
    let folder = tempfile::tempdir().unwrap();
    let (mut child, url) = start(folder.path(), &["--remote-debugging-port=0"]).await;
    let note = std::fs::read_to_string(folder.path().join("profile/DevToolsActivePort")).unwrap();
    let (port, path) = note.split_once('\n').unwrap();
    assert_eq!(url, format!("ws://127.0.0.1:{port}{path}"));

    let http = reqwest::Client::builder().no_proxy().build().unwrap();
    let get = |path: &str| http.get(format!("http://127.0.0.1:{port}{path}"));
    let version: Value = get("/json/version").send().await.unwrap().json().await.unwrap();
    assert_eq!(version["webSocketDebuggerUrl"], url.as_str());
    let pages: Value = get("/json/list").send().await.unwrap().json().await.unwrap();
    let pages = pages.as_array().unwrap();
    let told: Vec<_> = pages.iter().map(|page| (&page["type"], &page["url"])).collect();
    assert_eq!(told, [(&json!("page"), &json!("about:blank"))]);
    for (name, value, status) in [
        (HOST, "localhost:1", 200),
        (HOST, "[::1]:9222", 200),
        (HOST, "evil.test", 500),
        (HOST, "127.0.0.1.evil.test:80", 500),
        (ORIGIN, "http://evil.test", 403),
        (ORIGIN, "null", 403),
    ] {
        let answer = get("/json/version").header(&name, value).send().await.unwrap();
        assert_eq!(answer.status(), status, "{name}: {value}");
    }
    assert_eq!(get("/devtools/page/none").send().await.unwrap().status(), 404);
    assert_eq!(get(path).send().await.unwrap().status(), 400, "no WebSocket");

    // Two clients at once, of which each may end the browser: it is theirs.
    let (first, _) = Connection::start(cdp::connect(&url).await.unwrap());
    let (second, _) = Connection::start(cdp::connect(&url).await.unwrap());
    let told = first.browser().call("Browser.getVersion", json!({})).await.unwrap();
    assert!(told["product"].as_str().unwrap().starts_with("Chrome/"), "{told}");
    second.browser().call("Browser.close", json!({})).await.unwrap();
    assert_eq!(timeout(LIMIT, child.wait()).await.unwrap().unwrap().code(), Some(0));
    timeout(LIMIT, first.closed()).await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_origin_that_was_named_comes_in_and_a_port_that_is_taken_is_said() {
    let folder = tempfile::tempdir().unwrap();
    let words = ["--remote-debugging-port=0", "--remote-allow-origins=http://tools.test"];
    let (mut child, url) = start(folder.path(), &words).await;
    let address = url.replace("ws://", "http://");
    let (base, _) = address.split_once("/devtools").unwrap();
    let http = reqwest::Client::builder().no_proxy().build().unwrap();
    let ask = http.get(format!("{base}/json/version")).header(ORIGIN, "http://tools.test");
    assert_eq!(ask.send().await.unwrap().status(), 200);

    let other = tempfile::tempdir().unwrap();
    let port = base.rsplit(':').next().unwrap();
    let spec = folder.path().join("browser.json");
    let mut command = Command::new(cargo_bin!("baton"));
    command
        .arg("browser-wrapper")
        .arg(spec)
        .arg("--")
        .arg(format!("--remote-debugging-port={port}"));
    command.arg(format!("--user-data-dir={}", other.path().display())).kill_on_drop(true);
    let refused = timeout(LIMIT, command.output()).await.unwrap().unwrap();
    let said = String::from_utf8(refused.stderr).unwrap();
    assert!(!refused.status.success() && said.contains("to be free"), "{said}");
    child.kill().await.unwrap();
}

/// What the network has at the site: what registers the worker, which answers from the next page on.
const WORKERS: &str = "<!doctype html><script>
    navigator.serviceWorker.register('/worker.js');
    navigator.serviceWorker.ready.then(() => document.title = 'registered');
</script>";

/// A worker that answers pages itself: who is signed in. At `/out` somebody signs out before anything else is done,
/// and comes again at once.
const WORKER: &str = r"
const page = `<!doctype html><script>
    if (location.pathname === '/out' && sessionStorage.user) {
        sessionStorage.clear();
        location.reload();
    } else {
        document.title = sessionStorage.user ?? 'nobody';
    }
</script>`;
addEventListener('install', () => skipWaiting());
addEventListener('activate', (event) => event.waitUntil(clients.claim()));
addEventListener('fetch', (event) => {
    const answer = () => new Response(page, { headers: { 'content-type': 'text/html' } });
    if (event.request.mode === 'navigate') event.respondWith(answer());
});
";

/// The browser at an address, and its first page.
async fn first_page(url: &str) -> (Connection, CdpSession) {
    let (browser, _) = Connection::start(cdp::connect(url).await.unwrap());
    let targets = browser.browser().call("Target.getTargets", json!({})).await.unwrap();
    let targets = targets["targetInfos"].as_array().unwrap();
    let page = targets.iter().find(|target| target["type"] == "page").unwrap();
    let attach = json!({ "targetId": page["targetId"], "flatten": true });
    let attached = browser.browser().call("Target.attachToTarget", attach).await.unwrap();
    let session = browser.session(attached["sessionId"].as_str().unwrap().into());
    (browser, session)
}

/// Goes to an address; the title that its page has once it has one.
async fn title(page: &CdpSession, url: &Url) -> String {
    const WAIT: &str = "new Promise((done) => {
        const look = () => document.title ? done(document.title) : setTimeout(look, 5);
        look();
    })";
    page.call("Page.navigate", json!({ "url": url.as_str() })).await.unwrap();
    let ask = json!({ "expression": WAIT, "awaitPromise": true, "returnByValue": true });
    let told = async {
        loop {
            // A page that loads anew takes the question with it.
            if let Ok(told) = page.call("Runtime.evaluate", &ask).await
                && let Some(title) = told["result"]["value"].as_str()
            {
                return title.to_owned();
            }
        }
    };
    timeout(LIMIT, told).await.unwrap()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_page_that_a_service_worker_answers_is_handed_its_own_once() {
    let script = || async { ([(CONTENT_TYPE, "text/javascript")], WORKER) };
    let pages = Router::new().route("/worker.js", get(script)).fallback(|| async { Html(WORKERS) });
    let site = Site::start(pages).await.unwrap();
    let url = |path| site.url(path).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let port = "--remote-debugging-port=0";
    let close = async |browser: Connection, mut child: Child| {
        browser.browser().call("Browser.close", json!({})).await.unwrap();
        timeout(LIMIT, child.wait()).await.unwrap().unwrap();
    };

    let (child, address) = start(folder.path(), &[port]).await;
    let (browser, page) = first_page(&address).await;
    assert_eq!(title(&page, &url("/")).await, "registered");
    assert_eq!(title(&page, &url("/")).await, "nobody", "the worker answers");
    close(browser, child).await;

    let origin = url("/").origin().ascii_serialization();
    let notes = folder.path().join("handed");
    let stored = json!({ format!("{origin}/"): [["user", "Ada"]] });
    let spec = json!({
        "program": program(), "environment": {}, "notes": notes, "workers": [origin],
        "tabs": [{ "url": url("/"), "active": true, "sessionStorage": stored }],
    });
    let (child, address) = start_as(&spec, folder.path(), &[port]).await;
    let (browser, page) = first_page(&address).await;
    assert_eq!(title(&page, &url("/inbox")).await, "Ada");
    assert_eq!(title(&page, &url("/out")).await, "nobody");
    close(browser, child).await;

    // Who signs out in the very first page stays signed out.
    std::fs::remove_file(&notes).unwrap();
    let (child, address) = start_as(&spec, folder.path(), &[port]).await;
    let (browser, page) = first_page(&address).await;
    assert_eq!(title(&page, &url("/out")).await, "nobody");
    close(browser, child).await;
    // And in a browser that starts afterwards.
    let (child, address) = start_as(&spec, folder.path(), &[port]).await;
    let (browser, page) = first_page(&address).await;
    assert_eq!(title(&page, &url("/inbox")).await, "nobody");
    close(browser, child).await;
}
