//! What the stories need: a keeper on a thread of its own, a small web site, a few gestures.

use baton_browser::cdp::{CdpSession, CdpSessionId};
use baton_browser::keeper::{
    self, BrowserSpec, KeeperError, KeeperLink, KeeperSpec, PreludeCall, Ready, Report, Role,
    Signals,
};
use baton_browser::launch::{BrowserPlaces, LaunchOptions, find_browser};
use baton_session::SessionId;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::time::Duration;
use tempfile::TempDir;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;

/// How long a condition may take to become true.
const LIMIT: Duration = Duration::from_mins(2);

/// A keeper in this process, in a temp folder.
pub(crate) struct Kept {
    pub(crate) folder: TempDir,
    pub(crate) spec: KeeperSpec,
    pub(crate) ready: Ready,
    thread: std::thread::JoinHandle<Result<(), KeeperError>>,
}

impl Kept {
    /// A keeper with a headless browser of its own.
    pub(crate) async fn new() -> Self {
        Self::with_prelude(vec![]).await
    }

    pub(crate) async fn with_prelude(prelude: Vec<PreludeCall>) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let browser = BrowserSpec::Launch(Box::new(options(&folder.path().join("profile"))));
        let spec = KeeperSpec { prelude, ..spec(folder.path(), browser) };
        Self::start(folder, spec).await.unwrap()
    }

    /// A keeper as `spec` says, or what it reports instead.
    pub(crate) async fn start(folder: TempDir, spec: KeeperSpec) -> Result<Self, String> {
        Self::start_told(folder, spec, std::io::empty()).await
    }

    /// The same, which hears the beats of its node from `beats`.
    pub(crate) async fn start_told(
        folder: TempDir,
        spec: KeeperSpec,
        beats: impl BufRead + Send + 'static,
    ) -> Result<Self, String> {
        let (reader, writer) = std::io::pipe().unwrap();
        let told = spec.clone();
        let thread = std::thread::spawn(move || keeper::run(&told, beats, writer, Signals::Theirs));
        let line = tokio::task::spawn_blocking(move || {
            let mut line = String::new();
            BufReader::new(reader).read_line(&mut line).map(|_| line)
        });
        match serde_json::from_str(&line.await.unwrap().unwrap()).unwrap() {
            Report::Ready(ready) => Ok(Self { folder, spec, ready, thread }),
            Report::Error(reason) => {
                assert_eq!(thread.join().unwrap().unwrap_err().to_string(), reason);
                Err(reason)
            }
        }
    }

    pub(crate) async fn connect(&self, role: Role) -> KeeperLink {
        keeper::connect(&self.spec.socket, role).await.unwrap()
    }

    /// Ends the browser gently, and checks that the keeper leaves nothing behind.
    pub(crate) async fn close(self) {
        let node = self.connect(Role::Node).await;
        keeper::close(&node.connection).await.unwrap();
        self.joined().await;
    }

    /// Waits for the keeper's end.
    pub(crate) async fn joined(self) {
        let Self { thread, spec, folder, .. } = self;
        tokio::task::spawn_blocking(move || thread.join().unwrap().unwrap()).await.unwrap();
        assert!(!spec.socket.exists());
        drop(folder);
    }
}

/// How a headless browser on `profile` is started.
pub(crate) fn options(profile: &Path) -> LaunchOptions {
    let path = std::env::var_os("PATH");
    let inherited = ["HOME", "PATH", "TMPDIR"];
    let inherited: BTreeMap<String, String> = inherited
        .into_iter()
        .filter_map(|name| Some((name.to_owned(), std::env::var(name).ok()?)))
        .collect();
    let program = find_browser(None, &BrowserPlaces::on_path(path.as_deref())).unwrap();
    LaunchOptions { inherited, ..LaunchOptions::new(program, profile.to_owned()) }
}

/// What a keeper in `folder` is told.
pub(crate) fn spec(folder: &Path, browser: BrowserSpec) -> KeeperSpec {
    KeeperSpec {
        session: SessionId::new(jiff::Timestamp::UNIX_EPOCH, [7; 10]),
        socket: folder.join("run/keeper.sock"),
        browser,
        log: folder.join("keeper.log"),
        hold_until: None,
        prelude: vec![],
        egress: None,
    }
}

/// Opens a page and attaches to it.
pub(crate) async fn open_page(browser: &CdpSession, url: &str) -> (String, CdpSession) {
    let made = browser.call("Target.createTarget", json!({"url": url})).await.unwrap();
    let target = made["targetId"].as_str().unwrap().to_owned();
    let page = attach(browser, &target).await;
    let loaded = format!("document.readyState === 'complete' && location.href === '{url}'");
    shows(&page, &loaded, true).await;
    (target, page)
}

pub(crate) async fn attach(browser: &CdpSession, target: &str) -> CdpSession {
    let params = json!({"targetId": target, "flatten": true});
    let attached = browser.call("Target.attachToTarget", params).await.unwrap();
    let id = CdpSessionId::from(attached["sessionId"].as_str().unwrap());
    browser.connection().session(id)
}

/// The value of an expression, or what it resolves to.
pub(crate) async fn evaluate(page: &CdpSession, expression: &str) -> Value {
    let mut answer = page.call("Runtime.evaluate", asks(expression)).await.unwrap();
    answer["result"]["value"].take()
}

/// Waits until an expression has this value. A page between two documents has none.
pub(crate) async fn shows(page: &CdpSession, expression: &str, expected: impl Into<Value>) {
    let (params, expected) = (asks(expression), expected.into());
    eventually(&format!("{expression} is {expected}"), async || {
        let answer = page.call("Runtime.evaluate", params.clone()).await;
        answer.is_ok_and(|answer| answer["result"]["value"] == expected)
    })
    .await;
}

fn asks(expression: &str) -> Value {
    json!({"expression": expression, "awaitPromise": true, "returnByValue": true})
}

/// The ids of all targets that this client sees, tabs included, without the browser's own parts.
pub(crate) async fn targets(browser: &CdpSession) -> Vec<String> {
    let all = browser.call("Target.getTargets", json!({"filter": [{}]})).await.unwrap();
    let shown = |info: &&Value| matches!(info["type"].as_str(), Some("page" | "tab" | "other"));
    let ids = all["targetInfos"].as_array().unwrap().iter().filter(shown);
    ids.map(|info| info["targetId"].as_str().unwrap().to_owned()).collect()
}

/// Waits for a condition.
pub(crate) async fn eventually(what: &str, mut condition: impl AsyncFnMut() -> bool) {
    nothing_left(what, async || (!condition().await).then(String::new)).await;
}

/// Waits until nothing stands in the way any more, or says what did so last.
pub(crate) async fn nothing_left(what: &str, mut left: impl AsyncFnMut() -> Option<String>) {
    let mut last = String::new();
    let waiting = async {
        while let Some(found) = left().await {
            last = found;
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    };
    let is_over = tokio::time::timeout(LIMIT, waiting).await.is_ok();
    assert!(is_over, "never: {what}\n{last}");
}

/// A web site on a free port: answers every request with `body`, and sets one session cookie.
pub(crate) async fn site(body: &'static str) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            tokio::spawn(async move {
                let mut request = [0; 4096];
                let _ = stream.read(&mut request).await;
                let answer = format!(
                    "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: {}\r\n\
                     Set-Cookie: login=kept; HttpOnly\r\nConnection: close\r\n\r\n{body}",
                    body.len()
                );
                let _ = stream.write_all(answer.as_bytes()).await;
            });
        }
    });
    format!("http://{address}/")
}
