//! A machine with secrets in all its corners, and somebody who drives a browser on it: with a ticket or a
//! key that may drive and nothing else, of another owner than the node's user.

use crate::notes::eventually;
use crate::test_nodes;
use axum::Router;
use axum::body::Bytes;
use axum::http::StatusCode;
use axum::http::header::{CONTENT_TYPE, LOCATION};
use axum::response::Html;
use axum::routing::{get, post};
use baton_api::{Client, CreateKey, OpenCdp, OpenSession, Scope};
use baton_browser::cdp::{self, CdpSession, Connection, Event, Events, Transport};
use baton_browser::keeper::{self, Role};
use baton_playground::{Site, TestNode};
use baton_session::{Confinement, SessionId};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::os::unix::fs::{chown, symlink};
use std::path::{Path, PathBuf};
use std::time::Duration;
use tempfile::{NamedTempFile, TempDir};
use tokio::sync::mpsc;
use tokio::time::timeout;
use tokio_tungstenite::connect_async;
use tokio_tungstenite::tungstenite::client::IntoClientRequest;
use tokio_tungstenite::tungstenite::http::HeaderValue;

/// What is planted where nobody who drives may read.
pub(super) const SECRET: &str = "a-planted-secret-0d9f";
/// What is in a file that the browser may read: a way that could not give this would prove nothing.
pub(super) const SHOWN: &str = "what-was-shown-77aa";
/// What who drives tries to write; it is in no file of others.
pub(super) const WRITTEN: &str = "written-by-who-drives-3c1e";
/// Of the master key in the environment of the node: 32 bytes in base64.
const MASTER_KEY: &str = "cGxhbnRlZC1wbGFudGVkLXBsYW50ZWQtcGxhbnRlZCE=";
/// What a keeper calls its log of before.
const TURNED_OVER: &str = "keeper.log.old";
/// How a database begins.
const DATABASE: &str = "SQLite format 3";
/// An ordinary user.
pub(super) const NOBODY: u32 = 65534;
/// How long one attempt may take; one that hangs has read nothing.
pub(super) const LIMIT: Duration = Duration::from_secs(5);
/// How long a browser of a machine that has much to do may take for what it has to do, such as a page; what is refused
/// is so at once.
const DUE_LIMIT: Duration = Duration::from_mins(1);
/// How much of a file is looked at for what was written, in bytes.
const LOOKED_AT: u64 = 1 << 20;

/// Takes away what Chromium itself has between pages and files: what is left are the guard of the keeper
/// and the rules of the kernel, and these are what is tried.
const SWITCHES: &str = "--allow-file-access-from-files --disable-popup-blocking \
                        --enable-unsafe-extension-debugging";

/// By what somebody drives.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Pass {
    /// A ticket that works once.
    Ticket,
    /// The key itself.
    Key,
}

/// The machine, and a connection to a browser on it.
pub(super) struct Machine {
    pub(super) test_node: TestNode,
    _site: Site,
    temporary: NamedTempFile,
    /// A folder of the user's in the folder for what is there for a moment.
    pub(super) elsewhere: TempDir,
    pub(super) id: SessionId,
    pub(super) victim: SessionId,
    pub(super) page_url: String,
    pub(super) connection: Connection,
    /// What the browser told by itself that is waited for.
    pub(super) heard: mpsc::Receiver<(String, Value)>,
}

impl Machine {
    pub(super) async fn new(rules: Confinement, user: Option<u32>, pass: Pass) -> Self {
        let site = site().await;
        let url = site.url("/").unwrap();
        let lent = format!("127.0.0.1:{}", url.port().unwrap());
        let mut test_node = test_nodes::build()
            .with("BATON_BROWSER_CONFINEMENT", rules.as_str())
            .with("BATON_BROWSER_PRIVATE_HOSTS", lent)
            .with("BATON_BROWSER_ARGS", SWITCHES)
            .with("BATON_MASTER_KEY", MASTER_KEY);
        let home = test_node.folder().join("home");
        fs::create_dir(&home).unwrap();
        test_node = test_node.with("HOME", &home);
        let mut temporary = NamedTempFile::new().unwrap();
        std::io::Write::write_all(&mut temporary, SECRET.as_bytes()).unwrap();
        let elsewhere = tempfile::tempdir().unwrap();
        plant(&home.join("secret"), SECRET, user);
        plant(&elsewhere.path().join("secret"), SECRET, user);
        for path in [home.as_path(), temporary.path(), elsewhere.path()] {
            chown(path, user, user).unwrap();
        }
        if let Some(user) = user {
            test_node = test_node.of_user(user).unwrap();
        }
        test_node.start_node().await.unwrap();
        let victim = test_node.open("victim", [url.clone()]).await.unwrap();
        for folder in [test_node.data().profile(victim), test_node.data().files_of(victim)] {
            plant(&folder.join("secret"), SECRET, user);
        }
        let (bob, key) = key_of_bob(&test_node).await;
        let request = OpenSession::new("own".parse().unwrap(), [url.clone()]);
        let view = bob.open_session(&request).await.unwrap();
        assert_eq!(view.session.confinement, Some(rules));
        let id = view.session.id;
        let transport = match pass {
            Pass::Ticket => {
                let access = bob.open_cdp("own", &OpenCdp { reusable: false }).await.unwrap();
                cdp::connect(access.cdp_url.as_str()).await.unwrap()
            }
            Pass::Key => by_key(&bob, id, &key).await,
        };
        let (connection, events) = Connection::start(transport);
        let own = test_node.data().files_of(id);
        let shown = own.join("folder");
        fs::create_dir(&shown).unwrap();
        plant(&shown.join("shown"), SHOWN, user);
        plant(&own.join("page.html"), "<title>own</title><p>own</p>", user);
        Self {
            test_node,
            _site: site,
            temporary,
            elsewhere,
            id,
            victim,
            page_url: url.to_string(),
            connection,
            heard: listen(events),
        }
    }

    /// From here on it is the node that asks, to whom nothing is refused: what holds now are the rules of
    /// the kernel alone. The node itself stands still, so that it does not come back for its place.
    pub(super) async fn come_as_the_node(&mut self) {
        baton_testing::freeze(self.test_node.node_pid().unwrap()).unwrap();
        let link = keeper::connect(&self.test_node.keeper_socket(self.id), Role::Node).await;
        let link = link.unwrap();
        self.connection = link.connection;
        self.heard = listen(link.events);
    }

    /// The session's own files.
    pub(super) fn own(&self) -> PathBuf {
        self.test_node.data().files_of(self.id)
    }

    /// A file that the browser may read.
    pub(super) fn shown(&self) -> PathBuf {
        self.own().join("folder/shown")
    }

    /// What nobody who drives may read.
    pub(super) async fn secrets(&self) -> Vec<PathBuf> {
        let data = self.test_node.data();
        let victim = self.victim;
        let node = self.test_node.node_pid().unwrap();
        let [(_, keeper), _] = self.test_node.holders(self.id).await.unwrap();
        let [_, (_, other)] = self.test_node.holders(victim).await.unwrap();
        let key = data.admin_key();
        let open = fs::read_dir(format!("/proc/{node}/fd")).unwrap().flatten();
        let is_database = |path: &PathBuf| path.read_link().is_ok_and(|at| at == data.database());
        let database = open.map(|one| one.path()).find(is_database).unwrap();
        vec![
            key.clone(),
            data.profile(victim).join("secret"),
            format!("/proc/{node}/environ").into(),
            self.test_node.folder().join("home/secret"),
            self.temporary.path().to_owned(),
            self.elsewhere.path().join("secret"),
            data.files_of(victim).join("secret"),
            data.database(),
            database,
            format!("/proc/{keeper}/environ").into(),
            format!("/proc/{node}/root{}", key.display()).into(),
            format!("/proc/{keeper}/cwd/../../../../../..{}", key.display()).into(),
            format!("/proc/{other}/cwd/secret").into(),
            format!("/proc/{other}/root{}", data.profile(victim).join("secret").display()).into(),
            "/etc/shadow".into(),
        ]
    }

    /// A page at this address, which may be one that is not shown.
    pub(super) async fn page_at(&self, url: &str) -> Option<Page> {
        self.page_in(None, url).await
    }

    /// The same in a context.
    pub(super) async fn page_in(&self, context: Option<&Value>, url: &str) -> Option<Page> {
        let browser = self.connection.browser();
        let mut params = json!({ "url": url });
        if let Some(context) = context {
            params["browserContextId"] = context.clone();
        }
        let made = timeout(DUE_LIMIT, browser.call("Target.createTarget", params)).await;
        let target = made.ok()?.ok()?;
        let target = target["targetId"].as_str().unwrap().to_owned();
        let session = attach(&browser, &target).await?;
        session.call("Page.enable", json!({})).await.ok()?;
        Some(Page { target, session })
    }

    /// A page of the web.
    pub(super) async fn page(&self) -> Page {
        let page = self.page_at(&self.page_url).await.unwrap();
        page.until("document.readyState === 'complete' && document.title === 'a'").await;
        page
    }

    /// A page of the session's own files.
    pub(super) async fn own_page(&self) -> Page {
        let url = format!("file://{}/page.html", self.own().display());
        let page = self.page_at(&url).await.unwrap();
        page.until("document.readyState === 'complete' && document.title === 'own'").await;
        page
    }

    /// Whether a text gives anything away.
    pub(super) fn expect_nothing(&self, of: &str, text: &str) {
        let admin = fs::read_to_string(self.test_node.data().admin_key()).unwrap();
        let texts = [SECRET, MASTER_KEY, DATABASE, admin.trim(), "root:x:", "root:*:", "BATON_"];
        for secret in texts {
            assert!(!text.contains(secret), "{of} gave {secret} away: {text}");
        }
    }

    /// What every page that there is shows by now, with all frames in it.
    pub(super) async fn all_pages(&self) -> String {
        let browser = self.connection.browser();
        let targets = browser.call("Target.getTargets", json!({})).await.unwrap();
        let mut texts = Vec::new();
        let shows = |target: &&Value| matches!(target["type"].as_str(), Some("page" | "iframe"));
        for target in targets["targetInfos"].as_array().unwrap().iter().filter(shows) {
            let Some(session) = attach(&browser, target["targetId"].as_str().unwrap()).await else {
                continue;
            };
            texts.push(shown_by(&session).await);
            ask(&browser, "Target.detachFromTarget", json!({ "sessionId": session.id() })).await;
        }
        texts.join("\n")
    }

    /// The pages that there are.
    pub(super) async fn pages(&self) -> BTreeSet<String> {
        let browser = self.connection.browser();
        let targets = browser.call("Target.getTargets", json!({})).await.unwrap();
        let pages = targets["targetInfos"].as_array().unwrap().iter();
        let pages = pages.filter(|target| target["type"] == "page");
        pages.map(|target| target["targetId"].as_str().unwrap().to_owned()).collect()
    }

    /// Closes all pages but these.
    pub(super) async fn close_pages(&self, but: &BTreeSet<String>) {
        let browser = self.connection.browser();
        for target in self.pages().await.difference(but) {
            ask(&browser, "Target.closeTarget", json!({ "targetId": target })).await;
        }
    }

    /// Waits for something that the browser tells by itself.
    pub(super) async fn hears(&mut self, method: &str) -> Value {
        let heard = async {
            loop {
                let (told, params) = self.heard.recv().await.expect("the browser is there");
                if told == method {
                    return params;
                }
            }
        };
        timeout(DUE_LIMIT, heard).await.unwrap_or_else(|_| panic!("{method} is told"))
    }

    /// Every file of the machine's that is not of the driven session, with what is in it where no process
    /// of its own writes there meanwhile.
    pub(super) fn others(&self) -> BTreeMap<PathBuf, Option<Vec<u8>>> {
        let data = self.test_node.data();
        let own = [self.own(), data.profile(self.id)];
        let mut found = BTreeMap::new();
        let mut folders =
            vec![self.test_node.folder().to_owned(), self.elsewhere.path().to_owned()];
        let temporary = self.temporary.path();
        found.insert(temporary.to_owned(), fs::read(temporary).ok());
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(&folder).into_iter().flatten().flatten() {
                let path = entry.path();
                // A keeper that has much to tell turns its log over.
                if own.contains(&path) || path.ends_with(".tmp") || path.ends_with(TURNED_OVER) {
                    continue;
                }
                if path.is_dir() && !path.is_symlink() {
                    folders.push(path.clone());
                }
                // Chromium's own, of the other session, come and go, but for what was planted there.
                if path.starts_with(data.profile(self.victim)) && !path.ends_with("secret") {
                    continue;
                }
                found.insert(path.clone(), self.is_still(&path).then(|| digest(&path)));
            }
        }
        found
    }

    /// Whether the node and the keepers write nothing to this file while somebody drives.
    fn is_still(&self, path: &Path) -> bool {
        let data = self.test_node.data();
        let name = path.file_name().unwrap().to_string_lossy();
        let grows = path.starts_with(data.run())
            || path.starts_with(data.sessions())
            || name.ends_with(".log")
            || name.starts_with("baton.db");
        let is_planted = path.ends_with("secret");
        path.is_file() && (is_planted || !grows)
    }

    /// Looks whether anything was written beyond the session, since `before`.
    pub(super) fn expect_untouched(&self, before: &BTreeMap<PathBuf, Option<Vec<u8>>>) {
        let after = self.others();
        let changed = after.iter().filter(|(path, bytes)| before.get(*path) != Some(*bytes));
        let gone = before.keys().filter(|path| !after.contains_key(*path));
        let changed: Vec<_> = changed.map(|(path, _)| path).chain(gone).collect();
        assert!(changed.is_empty(), "written beyond the session: {changed:?}");
        // What its own processes change meanwhile has nothing of who drives in it.
        let data = self.test_node.data();
        let own = [self.own(), data.profile(self.id)];
        let mut folders = vec![data.path().to_owned(), self.elsewhere.path().to_owned()];
        let top = fs::read_dir(std::env::temp_dir()).unwrap().flatten();
        let mut files: Vec<_> = top.map(|entry| entry.path()).collect();
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(&folder).into_iter().flatten().flatten() {
                let path = entry.path();
                match path.is_dir() && !path.is_symlink() {
                    true if !own.contains(&path) => folders.push(path),
                    true => {}
                    false => files.push(path),
                }
            }
        }
        let is_small = |path: &PathBuf| {
            fs::symlink_metadata(path).is_ok_and(|found| found.is_file() && found.len() < LOOKED_AT)
        };
        for path in files.into_iter().filter(is_small) {
            let bytes = fs::read(&path).unwrap_or_default();
            let is_written = String::from_utf8_lossy(&bytes).contains(WRITTEN);
            assert!(!is_written, "written beyond the session: {}", path.display());
        }
    }

    /// Looks whether the browser copied anything to where it may write.
    pub(super) fn expect_nothing_copied(&self) {
        let mut folders = vec![self.own()];
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(&folder).into_iter().flatten().flatten() {
                let path = entry.path();
                if path.is_symlink() {
                    continue;
                }
                if path.is_dir() {
                    folders.push(path);
                } else if let Ok(text) = fs::read(&path) {
                    let text = String::from_utf8_lossy(&text);
                    self.expect_nothing(&path.display().to_string(), &text);
                }
            }
        }
    }

    /// Links to a file among the session's own files and in its profile.
    pub(super) fn link(&self, secret: &Path) -> [PathBuf; 2] {
        let links = [self.own(), self.test_node.data().profile(self.id)];
        links.map(|folder| {
            let link = folder.join("link");
            let _ = fs::remove_file(&link);
            symlink(secret, &link).unwrap();
            link
        })
    }
}

fn digest(path: &Path) -> Vec<u8> {
    Sha256::digest(fs::read(path).unwrap_or_default()).to_vec()
}

/// A page, and the session of who drives it.
pub(super) struct Page {
    pub(super) target: String,
    pub(super) session: CdpSession,
}

impl Page {
    pub(super) async fn evaluate(&self, expression: &str) -> String {
        let params = json!({
            "expression": expression, "awaitPromise": true, "returnByValue": true,
            "userGesture": true,
        });
        ask(&self.session, "Runtime.evaluate", params).await
    }

    /// The id of an object of the page.
    pub(super) async fn object(&self, expression: &str) -> Value {
        let params = json!({ "expression": expression });
        let object = self.session.call("Runtime.evaluate", params).await.unwrap();
        object["result"]["objectId"].clone()
    }

    pub(super) async fn until(&self, condition: &str) {
        eventually(condition, async || self.evaluate(condition).await.contains("true")).await;
    }
}

/// What a page shows, with all frames in it.
pub(super) async fn shown_by(session: &CdpSession) -> String {
    ask(session, "DOM.getDocument", json!({ "depth": -1, "pierce": true })).await
}

/// A site that leads to files, and says what it was sent.
async fn site() -> Site {
    let page = async || Html("<title>a</title><p>a</p>");
    let lead = async |at: axum::extract::Path<String>| {
        (StatusCode::FOUND, [(LOCATION, format!("file:///{}", at.0))])
    };
    let echo = async |body: Bytes| ([(CONTENT_TYPE, "text/plain")], body);
    let routes = Router::new()
        .route("/", get(page))
        .route("/echo", post(echo))
        .route("/led/{*at}", get(lead));
    Site::start(routes).await.unwrap()
}

/// A file, of the user's.
pub(super) fn plant(path: &Path, text: &str, user: Option<u32>) {
    fs::write(path, text).unwrap();
    chown(path, user, user).unwrap();
}

/// A client with a key of another owner's that may drive, and the key.
pub(super) async fn key_of_bob(test_node: &TestNode) -> (Client, String) {
    let client = test_node.client().unwrap();
    let wanted = CreateKey {
        name: "bob".to_owned(),
        owner: Some("bob".parse().unwrap()),
        scopes: [Scope::Drive].into(),
        for_node: None,
    };
    let key = client.create_key(&wanted).await.unwrap().secret;
    (Client::new(client.base().clone(), key.clone().into()).unwrap(), key)
}

/// A way to the browser by the key itself.
async fn by_key(bob: &Client, id: SessionId, key: &str) -> Transport {
    let mut url = bob.base().join(&format!("/sessions/{id}/cdp")).unwrap();
    url.set_scheme("ws").unwrap();
    let mut request = url.as_str().into_client_request().unwrap();
    let bearer = HeaderValue::from_str(&format!("Bearer {key}")).unwrap();
    request.headers_mut().insert("authorization", bearer);
    Transport::websocket(connect_async(request).await.unwrap().0)
}

/// What is waited for of what the browser tells by itself.
fn listen(mut events: Events) -> mpsc::Receiver<(String, Value)> {
    let (told, heard) = mpsc::channel(64);
    tokio::spawn(async move {
        while let Some(event) = events.next().await {
            let Event::Message { method, params, .. } = event else { continue };
            if matches!(method.as_str(), "Tracing.tracingComplete" | "Page.fileChooserOpened") {
                let params = serde_json::from_str(params.get()).unwrap_or_default();
                if told.send((method, params)).await.is_err() {
                    return;
                }
            }
        }
    });
    heard
}

pub(super) async fn attach(browser: &CdpSession, target: &str) -> Option<CdpSession> {
    let params = json!({ "targetId": target, "flatten": true });
    let attached = browser.call("Target.attachToTarget", params).await.ok()?;
    Some(browser.connection().session(attached["sessionId"].as_str()?.to_owned().into()))
}

/// What a call answers, or why it does not.
pub(super) async fn ask(session: &CdpSession, method: &'static str, params: Value) -> String {
    match timeout(LIMIT, session.call(method, params)).await {
        Ok(Ok(answer)) => answer.to_string(),
        Ok(Err(error)) => error.to_string(),
        Err(_) => "no answer".to_owned(),
    }
}
