//! A browser that somebody else started: watched, left alone, and resumed on a profile of our own.

use crate::login::SENT;
use crate::test_nodes::test_node;
use assert_cmd::cargo::cargo_bin_cmd;
use baton_api::sandbox::{BrowserSession, CreateSandbox};
use baton_api::{AttachSession, ErrorCode};
use baton_browser::launch;
use baton_playground::{Page, Site, TestNode, victims};
use baton_session::Lifecycle;
use baton_session::receipt::{Outcome, ReceiptItem};
use baton_testing::Nobody;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;
use tokio::process::{Child, Command};
use tokio::time::{Instant, sleep};
use url::Url;

/// A browser with a debugging port, as people start them by hand.
pub struct Foreign {
    pub process: Child,
    pub address: Url,
}

impl Foreign {
    pub async fn start(profile: &Path, url: &Url) -> Self {
        Self::start_with(profile, url, &[]).await
    }

    /// The same with these switches more.
    async fn start_with(profile: &Path, url: &Url, switches: &[&str]) -> Self {
        let path = std::env::var_os("PATH");
        let places = launch::BrowserPlaces::on_path(path.as_deref());
        let program = launch::find_browser(None, &places).unwrap();
        let mut command = Command::new(program);
        command.args([
            "--headless=new",
            "--disable-gpu",
            "--no-first-run",
            "--remote-debugging-port=0",
        ]);
        command.args(["--disable-background-networking", "--disable-sync"]).args(switches);
        if rustix::process::geteuid().is_root() {
            command.arg("--no-sandbox");
        }
        command.arg(format!("--user-data-dir={}", profile.display())).arg(url.as_str());
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        let process = command.kill_on_drop(true).spawn().unwrap();
        let port = port(&profile.join("DevToolsActivePort")).await;
        let address = format!("http://127.0.0.1:{port}").parse().unwrap();
        Self { process, address }
    }
}

async fn port(file: &PathBuf) -> u16 {
    let end = Instant::now() + Duration::from_secs(20);
    loop {
        let text = std::fs::read_to_string(file).unwrap_or_default();
        if let Some(port) = text.lines().next().and_then(|line| line.parse().ok()) {
            return port;
        }
        assert!(Instant::now() < end, "the browser did not open its port");
        sleep(Duration::from_millis(20)).await;
    }
}

fn request(name: &str, cdp_url: &Url) -> AttachSession {
    AttachSession { name: name.parse().unwrap(), description: None, cdp_url: cdp_url.clone() }
}

async fn site() -> Site {
    let page = "<title>foreign</title><script>
        if (!localStorage.getItem('first')) {
            const first = String(Math.random());
            for (const name of ['zeta', 'alpha']) document.cookie = `${name}=${first}; max-age=9999`;
            localStorage.setItem('first', first);
        }
        document.cookie = 'kind=session';
    </script>";
    let pages = crate::login::site()
        .route("/", axum::routing::get(move || async move { axum::response::Html(page) }));
    Site::start(pages).await.unwrap()
}

/// Who a page is told that its browser is.
const WHO: &str = "[navigator.userAgent, ...navigator.userAgentData.brands
    .map(({ brand, version }) => `${brand} ${version}`), navigator.platform, navigator.languages,
    devicePixelRatio, navigator.maxTouchPoints, navigator.hardwareConcurrency,
    matchMedia('(prefers-color-scheme: dark)').matches,
    matchMedia('(prefers-reduced-motion: reduce)').matches].join(' | ')";

/// What is no browser's of itself.
const SWITCHES: [&str; 4] = [
    "--lang=de-DE",
    "--accept-lang=de-DE,de",
    "--force-dark-mode",
    "--force-prefers-reduced-motion",
];

/// What a receipt says of who a browser is.
const IDENTITY: [&str; 9] = [
    "user agent",
    "client hints",
    "platform",
    "languages",
    "scale",
    "touch",
    "colour scheme",
    "reduced motion",
    "processors",
];

/// What a person is shown of a session.
fn show(test_node: &TestNode, name: &str) -> String {
    let mut command = cargo_bin_cmd!("baton");
    let run = command.arg("--data").arg(test_node.data().path()).args(["sessions", "show", name]);
    String::from_utf8(run.assert().success().get_output().stdout.clone()).unwrap()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_attached_browser_is_left_alone_and_its_session_outlives_it() {
    let (folder, site) = (tempfile::tempdir().unwrap(), site().await);
    let url = site.url("/").unwrap();
    let mut foreign = Foreign::start_with(folder.path(), &url, &SWITCHES).await;
    let test_node = test_node().await;
    let client = test_node.client().unwrap().clone();
    let attached = client.attach_session(&request("foreign", &foreign.address)).await.unwrap();
    let id = attached.session.id;
    let page = Page::attach(&test_node.keeper_socket(id), url.as_str()).await.unwrap();
    page.wait_for("localStorage.getItem('first') !== null").await.unwrap();
    let first: String = page.evaluate("localStorage.getItem('first')").await.unwrap();
    let sent: String = page.evaluate(SENT).await.unwrap();
    assert_eq!(sent, format!("zeta={first}; alpha={first}; kind=session"));
    let who: String = page.evaluate(WHO).await.unwrap();
    assert!(who.contains(" | de-DE,de | ") && who.ends_with(" | true | true"), "{who}");
    drop(page);
    assert!(attached.attached && attached.egress.is_none(), "{attached:?}");
    let (shown, is_told) = (show(&test_node, "foreign"), "no way out of its own: its browser was");
    assert!(shown.contains(is_told), "{shown}");
    // Handed to a sandbox, its login would be here and there.
    let session = Some(BrowserSession { take: true, ..BrowserSession::reference("foreign") });
    let wanted = CreateSandbox { browser_session: session, ..CreateSandbox::default() };
    let refused = client.create_sandbox(&wanted).await.unwrap_err();
    assert_eq!(refused.code(), Some(ErrorCode::SessionHeld), "{refused}");
    client.close_session("foreign").await.unwrap();
    assert!(foreign.process.try_wait().unwrap().is_none(), "closing the session ended the browser");

    let again = client.attach_session(&request("again", &foreign.address)).await.unwrap();
    victims::kill_all(&[("browser", foreign.process.id().unwrap())]).await.unwrap();
    let end = Instant::now() + Duration::from_secs(15);
    while client.fetch_session("again").await.unwrap().session.state != Lifecycle::Recoverable {
        assert!(Instant::now() < end, "the node did not notice that the browser is gone");
        sleep(Duration::from_millis(20)).await;
    }
    let resumed = client.resume_session("again").await.unwrap();
    assert!(!resumed.session.attached, "it is a browser of the node's own");
    assert!(!show(&test_node, "again").contains(is_told));
    let receipt = resumed.session.receipt.unwrap();
    assert!(!receipt.has_losses(), "{receipt:#?}");
    for place in IDENTITY {
        let is_back = |item: &ReceiptItem| item.place == place && item.outcome == Outcome::Restored;
        assert!(receipt.items.iter().any(is_back), "{place}: {receipt:#?}");
    }
    let page =
        Page::attach(&test_node.keeper_socket(again.session.id), url.as_str()).await.unwrap();
    let found: String = page.evaluate("localStorage.getItem('first')").await.unwrap();
    assert_eq!(found, first);
    assert_eq!(page.evaluate::<String>(SENT).await.unwrap(), sent);
    assert_eq!(page.evaluate::<String>(WHO).await.unwrap(), who, "sites see the same browser");
    drop(page);
    client.close_session("again").await.unwrap();
    test_node.clear().await.unwrap();
}

#[tokio::test]
async fn an_address_where_no_browser_answers_is_told_and_leaves_nothing() {
    let test_node = test_node().await;
    let client = test_node.client().unwrap().clone();
    let refusing = Nobody::listens();
    let nobody = format!("http://{}", refusing.address()).parse().unwrap();
    let error = client.attach_session(&request("nobody", &nobody)).await.unwrap_err();
    assert_eq!(error.code(), Some(ErrorCode::CdpUnreachable), "{error}");
    assert!(error.to_string().contains(nobody.as_str().trim_end_matches('/')), "{error}");
    // The name is free again.
    let again = client.attach_session(&request("nobody", &nobody)).await.unwrap_err();
    assert_eq!(again.code(), Some(ErrorCode::CdpUnreachable), "{again}");
    test_node.clear().await.unwrap();
}
