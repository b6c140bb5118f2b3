//! Whoever drives a browser over CDP, and wants the files of the machine that it runs on.
//!
//! With a ticket of a key that may drive and nothing else, of another owner than the node's user; as root
//! and as an ordinary user with Chromium's sandbox on; under Landlock and under bubblewrap.

use super::ways;
use crate::test_nodes;
use axum::Router;
use axum::http::StatusCode;
use axum::http::header::LOCATION;
use axum::response::Html;
use axum::routing::get;
use baton_api::{Client, CreateKey, ErrorCode, OpenCdp, OpenSession, Scope};
use baton_browser::cdp::{self, CdpSession, Connection};
use baton_playground::{Site, TestNode};
use baton_session::{Confinement, SessionId};
use baton_testing::{asked_rounds, skip};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::{chown, symlink};
use std::path::{Path, PathBuf};
use std::time::Duration;
use tempfile::NamedTempFile;
use tokio::time::timeout;

const SECRET: &str = "a-planted-secret-0d9f";
/// Of the master key in the environment of the node: 32 bytes in base64.
const MASTER_KEY: &str = "cGxhbnRlZC1wbGFudGVkLXBsYW50ZWQtcGxhbnRlZCE=";
const NOBODY: u32 = 65534;
/// How long one attempt may take; one that hangs has read nothing.
const LIMIT: Duration = Duration::from_secs(5);

/// A machine with secrets in all its corners, and somebody who drives a browser on it.
struct Machine {
    test_node: TestNode,
    _site: Site,
    temporary: NamedTempFile,
    id: SessionId,
    page_url: String,
    connection: Connection,
}

impl Machine {
    async fn new(rules: Confinement, user: Option<u32>) -> Self {
        let mut test_node = test_nodes::build()
            .with("BATON_BROWSER_CONFINEMENT", rules.as_str())
            .with("BATON_MASTER_KEY", MASTER_KEY);
        let home = test_node.folder().join("home");
        fs::create_dir(&home).unwrap();
        test_node = test_node.with("HOME", &home);
        let mut temporary = NamedTempFile::new().unwrap();
        std::io::Write::write_all(&mut temporary, SECRET.as_bytes()).unwrap();
        plant(&home.join("secret"), user);
        for path in [home.as_path(), temporary.path()] {
            chown(path, user, user).unwrap();
        }
        if let Some(user) = user {
            test_node = test_node.of_user(user).unwrap();
        }
        test_node.start_node().await.unwrap();
        let page = async || Html("<title>a</title><p>a</p>");
        let lead = async |at: axum::extract::Path<String>| {
            (StatusCode::FOUND, [(LOCATION, format!("file:///{}", at.0))])
        };
        let routes = Router::new().route("/", get(page)).route("/led/{*at}", get(lead));
        let site = Site::start(routes).await.unwrap();
        let url = site.url("/").unwrap();
        let victim = test_node.open("victim", [url.clone()]).await.unwrap();
        for folder in [test_node.data().profile(victim), test_node.data().files_of(victim)] {
            plant(&folder.join("secret"), user);
        }
        let bob = key_of_bob(&test_node).await;
        let request = OpenSession::new("own".parse().unwrap(), [url.clone()]);
        let view = bob.open_session(&request).await.unwrap();
        assert_eq!(view.session.confinement, Some(rules));
        let access = bob.open_cdp("own", &OpenCdp { reusable: false }).await.unwrap();
        let transport = cdp::connect(access.cdp_url.as_str()).await.unwrap();
        let (connection, mut events) = Connection::start(transport);
        tokio::spawn(async move { while events.next().await.is_some() {} });
        let id = view.session.id;
        Self { test_node, _site: site, temporary, id, page_url: url.to_string(), connection }
    }

    /// What nobody who drives may read.
    async fn secrets(&self) -> Vec<PathBuf> {
        let data = self.test_node.data();
        let victim =
            self.test_node.client().unwrap().fetch_session("victim").await.unwrap().session.id;
        let node = self.test_node.node_pid().unwrap();
        let [(_, keeper), _] = self.test_node.holders(self.id).await.unwrap();
        let key = data.admin_key();
        vec![
            key.clone(),
            data.profile(victim).join("secret"),
            format!("/proc/{node}/environ").into(),
            self.test_node.folder().join("home/secret"),
            self.temporary.path().to_owned(),
            data.files_of(victim).join("secret"),
            format!("/proc/{keeper}/environ").into(),
            format!("/proc/{node}/root{}", key.display()).into(),
            format!("/proc/{keeper}/cwd/../../../../../..{}", key.display()).into(),
            "/etc/shadow".into(),
        ]
    }

    async fn page(&self) -> Page {
        let browser = self.connection.browser();
        let params = json!({ "url": self.page_url });
        let target = browser.call("Target.createTarget", params).await.unwrap();
        let target = target["targetId"].as_str().unwrap().to_owned();
        let session = attach(&browser, &target).await.unwrap();
        session.call("Page.enable", json!({})).await.unwrap();
        let page = Page { target, session };
        page.until("document.readyState === 'complete' && location.protocol === 'http:'").await;
        page
    }

    /// Whether a text gives anything away.
    fn expect_nothing(&self, of: &str, text: &str) {
        let admin = fs::read_to_string(self.test_node.data().admin_key()).unwrap();
        for secret in [SECRET, MASTER_KEY, admin.trim(), "root:x:", "root:*:", "BATON_"] {
            assert!(!text.contains(secret), "{of} gave {secret} away: {text}");
        }
    }

    /// What every page that there is shows by now.
    async fn all_pages(&self) -> String {
        let browser = self.connection.browser();
        let targets = browser.call("Target.getTargets", json!({})).await.unwrap();
        let mut texts = Vec::new();
        for target in targets["targetInfos"].as_array().unwrap() {
            let Some(session) = attach(&browser, target["targetId"].as_str().unwrap()).await else {
                continue;
            };
            let text = "document.documentElement.textContent";
            texts.push(ask(&session, "Runtime.evaluate", json!({ "expression": text })).await);
        }
        texts.join("\n")
    }

    /// Every file of the machine's that is not of the driven session, by name.
    fn others(&self) -> BTreeSet<PathBuf> {
        let data = self.test_node.data();
        let own = [data.files_of(self.id), data.session(self.id)];
        let mut found = BTreeSet::new();
        let mut folders = vec![self.test_node.folder().to_owned()];
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(&folder).into_iter().flatten().flatten() {
                let path = entry.path();
                // Chromium's own, of the other session, come and go.
                let noise = path.starts_with(data.sessions()) || path.ends_with(".tmp");
                if own.contains(&path) || noise {
                    continue;
                }
                if path.is_dir() && !path.is_symlink() {
                    folders.push(path.clone());
                }
                found.insert(path);
            }
        }
        found
    }
}

struct Page {
    target: String,
    session: CdpSession,
}

impl Page {
    async fn evaluate(&self, expression: &str) -> String {
        let params = json!({
            "expression": expression, "awaitPromise": true, "returnByValue": true,
            "userGesture": true,
        });
        ask(&self.session, "Runtime.evaluate", params).await
    }

    async fn until(&self, condition: &str) {
        let holds = async { while !self.evaluate(condition).await.contains("true") {} };
        timeout(LIMIT, holds).await.unwrap();
    }
}

fn plant(path: &Path, user: Option<u32>) {
    fs::write(path, SECRET).unwrap();
    chown(path, user, user).unwrap();
}

async fn key_of_bob(test_node: &TestNode) -> Client {
    let client = test_node.client().unwrap();
    let wanted = CreateKey {
        name: "bob".to_owned(),
        owner: Some("bob".parse().unwrap()),
        scopes: [Scope::Drive].into(),
        for_node: None,
    };
    let key = client.create_key(&wanted).await.unwrap();
    Client::new(client.base().clone(), key.secret.into()).unwrap()
}

async fn attach(browser: &CdpSession, target: &str) -> Option<CdpSession> {
    let params = json!({ "targetId": target, "flatten": true });
    let attached = browser.call("Target.attachToTarget", params).await.ok()?;
    Some(browser.connection().session(attached["sessionId"].as_str()?.to_owned().into()))
}

/// What a call answers, or why it does not.
async fn ask(session: &CdpSession, method: &'static str, params: Value) -> String {
    match timeout(LIMIT, session.call(method, params)).await {
        Ok(Ok(answer)) => answer.to_string(),
        Ok(Err(error)) => error.to_string(),
        Err(_) => "no answer".to_owned(),
    }
}

/// The method of a call that stands in a table.
fn call(text: &str, page: &Page, path: &Path) -> (&'static str, Value) {
    let path = path.to_str().unwrap();
    let text = text.replace("$TARGET", &page.target);
    let text = text.replace("$URL", &format!("file://{path}")).replace("$PATH", path);
    let call: Value = serde_json::from_str(&text).unwrap();
    (call[0].as_str().unwrap().to_owned().leak(), call[1].clone())
}

async fn nothing_is_read_and_nothing_written(rules: Confinement, user: Option<u32>) {
    let machine = Machine::new(rules, user).await;
    let data = machine.test_node.data().clone();
    let before = machine.others();
    // A few corners in a quick run, all of them in a long one.
    let corners = if asked_rounds().is_some() { usize::MAX } else { 3 };
    for secret in machine.secrets().await.into_iter().take(corners) {
        let path = secret.to_str().unwrap();
        let url = format!("file://{path}");
        let fill = |text: &str| text.replace("$URL", &url).replace("$PATH", path);
        let page = machine.page().await;
        for (way, script) in ways::SCRIPTS {
            page.evaluate(&fill(ways::FRAMED)).await;
            let read = page.evaluate(&fill(script)).await;
            machine.expect_nothing(&format!("{way} of {path}"), &read);
        }
        let page = machine.page().await;
        for (method, url) in ways::GO_TO {
            let url = fill(url);
            let params = if method.starts_with("Network.") {
                json!({ "url": url, "frameId": page.target, "options": { "disableCache": true, "includeCredentials": false } })
            } else {
                json!({ "url": url })
            };
            let session = if method.starts_with("Target.") {
                machine.connection.browser()
            } else {
                page.session.clone()
            };
            let told = ask(&session, method, params).await;
            machine.expect_nothing(&format!("{method} to {url}"), &told);
        }
        for text in ways::ANSWERS {
            let (method, params) = call(text, &page, &secret);
            let told = ask(&page.session, method, params).await;
            if method != "Storage.getCookies" {
                machine.expect_nothing(&format!("{method} of {path}"), &told);
            }
        }
        uploads(&machine, &secret).await;
        machine.expect_nothing(&format!("a page after {path}"), &machine.all_pages().await);
    }
    let page = machine.page().await;
    for text in ways::REFUSED {
        let (method, params) = call(text, &page, &data.admin_key());
        let told = ask(&machine.connection.browser(), method, params).await;
        assert!(told.contains("is not for clients"), "{method}: {told}");
    }
    for address in ways::PAGES {
        let told = ask(&page.session, "Page.navigate", json!({ "url": address })).await;
        assert!(told.contains("expected an address of the web"), "{address}: {told}");
    }
    redirects(&machine).await;
    downloads(&machine).await;
    let written: Vec<_> = machine.others().difference(&before).cloned().collect();
    assert!(written.is_empty(), "written beyond the session: {written:?}");
    machine.test_node.clear().await.unwrap();
}

/// Every way in which a page is given a file: by node, by object, by a chooser that is caught, by a drag,
/// by links among the session's own files and in the profile.
async fn uploads(machine: &Machine, secret: &Path) {
    let page = machine.page().await;
    let input = "document.body.append(Object.assign(document.createElement('input'), \
                 { type: 'file', id: 'i', multiple: true, onchange() {} })); 'made'";
    page.evaluate(input).await;
    let params = json!({ "expression": "document.getElementById('i')" });
    let object = page.session.call("Runtime.evaluate", params).await.unwrap();
    let object = object["result"]["objectId"].clone();
    let params = json!({ "objectId": object });
    let node = page.session.call("DOM.describeNode", params).await.unwrap();
    let backend = node["node"]["backendNodeId"].clone();
    page.session.call("DOM.getDocument", json!({})).await.unwrap();
    let node = page.session.call("DOM.requestNode", json!({ "objectId": object })).await.unwrap();
    let own = machine.test_node.data().files_of(machine.id);
    let link = own.join("link");
    let profile = machine.test_node.data().profile(machine.id).join("link");
    for link in [&link, &profile] {
        let _ = fs::remove_file(link);
        symlink(secret, link).unwrap();
    }
    let around = own.join("..").join("..").join(secret.strip_prefix("/").unwrap());
    for path in [secret, &link, &profile, &around] {
        for by in [
            json!({ "objectId": object }),
            json!({ "backendNodeId": backend }),
            json!({ "nodeId": node["nodeId"] }),
        ] {
            let mut params = by;
            params["files"] = json!([path]);
            let told = ask(&page.session, "DOM.setFileInputFiles", params).await;
            assert!(told.contains("baton sessions files put"), "{}: {told}", path.display());
            let read = "Promise.all([...document.getElementById('i').files].map(f => f.text())) \
                        .then(texts => texts.join())";
            machine.expect_nothing("an upload", &page.evaluate(read).await);
        }
        let dragged = "document.body.ondragover = e => e.preventDefault(); \
                       document.body.ondrop = e => { e.preventDefault(); globalThis.dropped = \
                       Promise.all([...e.dataTransfer.files].map(f => f.text())) }; 'listens'";
        page.evaluate(dragged).await;
        for kind in ["dragEnter", "dragOver", "drop"] {
            let data = json!({ "items": [], "files": [path], "dragOperationsMask": 1 });
            let params = json!({ "type": kind, "x": 5, "y": 5, "data": data });
            let told = ask(&page.session, "Input.dispatchDragEvent", params).await;
            assert!(told.contains("baton sessions files put"), "{}: {told}", path.display());
        }
        machine.expect_nothing("a drag", &page.evaluate("globalThis.dropped").await);
    }
    let caught = json!({ "enabled": true });
    page.session.call("Page.setInterceptFileChooserDialog", caught).await.unwrap();
    page.evaluate("document.getElementById('i').click()").await;
    let params = json!({ "files": [secret], "backendNodeId": backend });
    let told = ask(&page.session, "DOM.setFileInputFiles", params).await;
    assert!(told.contains("baton sessions files put"), "{told}");
}

/// A request that is led to a file: by its site, and by a client that changes it.
async fn redirects(machine: &Machine) {
    let secret = machine.test_node.data().admin_key();
    let page = machine.page().await;
    let led = format!("{}led{}", machine.page_url, secret.display());
    let told = ask(&page.session, "Page.navigate", json!({ "url": led })).await;
    machine.expect_nothing("a site that leads on", &told);
    let fetched = page.evaluate(&format!("fetch('{led}').then(a => a.text())")).await;
    machine.expect_nothing("a request that is led on", &fetched);
    let params = json!({ "requestId": "1", "url": format!("file://{}", secret.display()) });
    let told = ask(&page.session, "Fetch.continueRequest", params).await;
    assert!(told.contains("baton sessions files put"), "{told}");
    machine.expect_nothing("a page that was led on", &machine.all_pages().await);
}

/// Downloads to wherever a client wants them, under names of its choice.
async fn downloads(machine: &Machine) {
    let data = machine.test_node.data();
    let browser = machine.connection.browser();
    let made = browser.call("Target.createBrowserContext", json!({})).await.unwrap();
    let context = made["browserContextId"].clone();
    let folders = [
        data.path().to_owned(),
        data.sessions(),
        machine.test_node.folder().join("home"),
        "/tmp".into(),
    ];
    for folder in &folders {
        for params in [
            json!({ "behavior": "allow", "downloadPath": folder }),
            json!({ "behavior": "allowAndName", "downloadPath": folder }),
            json!({ "behavior": "allow", "downloadPath": folder, "browserContextId": context }),
        ] {
            browser.call("Browser.setDownloadBehavior", params).await.unwrap();
            let page = machine.page().await;
            let params = json!({ "behavior": "allow", "downloadPath": folder });
            ask(&page.session, "Page.setDownloadBehavior", params).await;
            for name in ["baton.toml", "../baton.toml", "..\\\\baton.toml", "/tmp/baton.toml"] {
                let click = format!(
                    "(Object.assign(document.createElement('a'), {{ download: '{name}', \
                     href: URL.createObjectURL(new Blob(['planted'])) }}).click(), 'clicked')"
                );
                page.evaluate(&click).await;
            }
        }
    }
    // The last one of all is there: so are those before it.
    let behavior = json!({ "behavior": "allow", "downloadPath": data.path() });
    browser.call("Browser.setDownloadBehavior", behavior).await.unwrap();
    let page = machine.page().await;
    let last = "(Object.assign(document.createElement('a'), { download: 'last.txt', \
                href: 'data:text/plain,hello' }).click(), 'clicked')";
    page.evaluate(last).await;
    let path = data.files_of(machine.id).join("last.txt");
    let there = async {
        while fs::read_to_string(&path).ok().as_deref() != Some("hello") {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    };
    timeout(LIMIT, there).await.expect("a download is among the session's files");
    for folder in folders {
        assert!(!folder.join("baton.toml").exists(), "{}", folder.display());
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn who_drives_has_no_file_of_the_machine_by_landlock() {
    nothing_is_read_and_nothing_written(Confinement::Landlock, None).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn who_drives_has_no_file_of_the_machine_by_bubblewrap() {
    nothing_is_read_and_nothing_written(Confinement::Bubblewrap, None).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn who_drives_has_no_file_of_an_ordinary_user_by_landlock() {
    if !rustix::process::geteuid().is_root() {
        skip!("only root can start a node as somebody else");
    }
    nothing_is_read_and_nothing_written(Confinement::Landlock, Some(NOBODY)).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn who_drives_has_no_file_of_an_ordinary_user_by_bubblewrap() {
    if !rustix::process::geteuid().is_root() {
        skip!("only root can start a node as somebody else");
    }
    nothing_is_read_and_nothing_written(Confinement::Bubblewrap, Some(NOBODY)).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_browser_without_rules_is_driven_by_the_owner_of_the_node_alone() {
    let mut test_node = test_nodes::build().with("BATON_BROWSER_CONFINEMENT", "off");
    test_node.start_node().await.unwrap();
    let bob = key_of_bob(&test_node).await;
    let view = bob.open_session(&OpenSession::new("own".parse().unwrap(), [])).await.unwrap();
    assert_eq!(view.session.confinement, Some(Confinement::Off));
    let refused = bob.open_cdp("own", &OpenCdp { reusable: false }).await.unwrap_err();
    assert_eq!(refused.code(), Some(ErrorCode::NotConfined));
    insta::assert_snapshot!(refused, @"expected session own to have a browser that is kept from the files of this machine, found one that was started without");
    test_node.open("mine", []).await.unwrap();
    let client = test_node.client().unwrap();
    client.open_cdp("mine", &OpenCdp { reusable: false }).await.unwrap();
    test_node.clear().await.unwrap();
}
