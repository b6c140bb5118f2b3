//! How keepers and browsers end, together or one without the other.

use crate::fixture::{Kept, eventually, open_page, options, spec};
use baton_browser::cdp;
use baton_browser::keeper::{
    self, BootInstant, BrowserSpec, KeeperError, KeeperLink, KeeperSpec, Role,
};
use baton_browser::launch::{self, LockState};
use baton_testing::freeze;
use rustix::process::{Pid, Signal, kill_process};
use serde_json::json;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

fn lives(pid: u32) -> bool {
    Path::new(&format!("/proc/{pid}")).exists()
}

#[tokio::test]
async fn a_keeper_ends_with_its_browser() {
    let kept = Kept::new().await;
    let client = kept.connect(Role::Client).await;
    let pid = kept.ready.browser_pid.unwrap();
    kill_process(Pid::from_raw(i32::try_from(pid).unwrap()).unwrap(), Signal::KILL).unwrap();
    client.connection.closed().await;
    let socket = kept.spec.socket.clone();
    let absent = keeper::connect(&socket, Role::Node).await.unwrap_err();
    assert!(matches!(absent, KeeperError::NotRunning { .. }), "{absent}");
    kept.joined().await;
}

#[tokio::test]
async fn a_closed_session_leaves_neither_browser_nor_lock() {
    let kept = Kept::new().await;
    let (pid, profile) = (kept.ready.browser_pid.unwrap(), kept.folder.path().join("profile"));
    let node = kept.connect(Role::Node).await;
    open_page(&node.connection.browser(), "about:blank").await;
    keeper::close(&node.connection).await.unwrap();
    assert!(!lives(pid));
    assert_eq!(launch::lock::check(&profile).unwrap(), LockState::Free);
    kept.joined().await;
}

#[tokio::test]
async fn a_killed_session_leaves_no_browser_and_a_lock_that_is_dead() {
    let kept = Kept::new().await;
    let (pid, profile) = (kept.ready.browser_pid.unwrap(), kept.folder.path().join("profile"));
    let node = kept.connect(Role::Node).await;
    keeper::kill(&node.connection).await.unwrap();
    assert!(!lives(pid));
    assert_eq!(launch::lock::check(&profile).unwrap(), LockState::DeadSameHost);
    kept.joined().await;
}

#[tokio::test]
async fn a_browser_that_its_node_no_longer_holds_ends() {
    let kept = Kept::new().await;
    let pid = kept.ready.browser_pid.unwrap();
    let node = kept.connect(Role::Node).await;
    let client = kept.connect(Role::Client).await;
    keeper::hold(&node.connection, BootInstant::now()).await.ok();
    client.connection.closed().await;
    kept.joined().await;
    assert!(!lives(pid));
}

#[tokio::test]
async fn a_node_that_holds_on_keeps_its_browser() {
    let folder = tempfile::tempdir().unwrap();
    let browser = BrowserSpec::Launch(Box::new(options(&folder.path().join("profile"))));
    let hold_until = Some(BootInstant::now().after(Duration::from_hours(1)));
    let spec = KeeperSpec { hold_until, ..spec(folder.path(), browser) };
    let kept = Kept::start(folder, spec).await.unwrap();
    let node = kept.connect(Role::Node).await;
    for time in [Duration::from_mins(1), Duration::MAX, Duration::from_mins(1)] {
        keeper::hold(&node.connection, BootInstant::now().after(time)).await.unwrap();
    }
    open_page(&node.connection.browser(), "about:blank").await;
    let client = kept.connect(Role::Client).await;
    let refused = keeper::hold(&client.connection, BootInstant::now()).await;
    assert!(refused.is_err(), "only the node may say so");
    kept.close().await;
}

/// A browser that has stopped to read while a client goes on calling it: more calls wait than the keeper
/// passes on at once.
async fn stopped() -> (Kept, KeeperLink, KeeperLink) {
    let kept = Kept::new().await;
    let node = kept.connect(Role::Node).await;
    let client = kept.connect(Role::Client).await;
    freeze(kept.ready.browser_pid.unwrap()).unwrap();
    for _ in 0..1000 {
        let page = "x".repeat(4096);
        client.connection.browser().post("Browser.getVersion", json!({ "of": page }));
    }
    eventually("calls wait for the browser", async || {
        let status = node.connection.browser().call("Baton.status", ()).await;
        status.is_ok_and(|status| status["waiting_calls"].as_u64() > Some(300))
    })
    .await;
    (kept, node, client)
}

#[tokio::test]
async fn a_browser_that_does_not_read_is_killed_when_its_node_says_so() {
    let (kept, node, _client) = stopped().await;
    let pid = kept.ready.browser_pid.unwrap();
    keeper::kill(&node.connection).await.unwrap();
    assert!(!lives(pid));
    kept.joined().await;
}

#[tokio::test]
async fn a_browser_that_does_not_read_lives_no_longer_than_its_node_holds_it() {
    let (kept, node, client) = stopped().await;
    let pid = kept.ready.browser_pid.unwrap();
    let later = BootInstant::now().after(Duration::from_hours(1));
    keeper::hold(&node.connection, later).await.unwrap();
    keeper::hold(&node.connection, BootInstant::now()).await.ok();
    client.connection.closed().await;
    kept.joined().await;
    assert!(!lives(pid));
}

/// A browser that somebody else started, with a debugging port.
struct Foreign {
    child: Child,
    address: String,
}

impl Foreign {
    async fn start(profile: &Path) -> Self {
        let mut command = Command::new(options(profile).program);
        command
            .args(["--headless=new", "--disable-gpu", "--no-first-run", "--no-sandbox"])
            .args(["--disable-background-networking", "--remote-debugging-port=0", "about:blank"])
            .arg(format!("--user-data-dir={}", profile.display()))
            .stderr(Stdio::null());
        let child = command.spawn().unwrap();
        let file = profile.join("DevToolsActivePort");
        eventually("the port is open", async || {
            std::fs::read_to_string(&file).is_ok_and(|text| text.lines().count() == 2)
        })
        .await;
        let text = std::fs::read_to_string(&file).unwrap();
        let address = format!("http://127.0.0.1:{}", text.lines().next().unwrap());
        Self { child, address }
    }
}

impl Drop for Foreign {
    fn drop(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }
}

#[tokio::test]
async fn an_attached_browser_is_left_running() {
    let profile = tempfile::tempdir().unwrap();
    let foreign = Foreign::start(profile.path()).await;
    let folder = tempfile::tempdir().unwrap();
    let spec = spec(folder.path(), BrowserSpec::Attach { url: foreign.address.clone() });
    let kept = Kept::start(folder, spec).await.unwrap();
    let client = kept.connect(Role::Client).await;
    assert!(client.welcome.attached && client.welcome.browser_pid.is_none());
    open_page(&client.connection.browser(), "about:blank").await;
    kept.close().await;
    cdp::connect(&foreign.address).await.unwrap();
}

#[tokio::test]
async fn a_keeper_of_an_attached_browser_ends_when_that_goes() {
    let profile = tempfile::tempdir().unwrap();
    let foreign = Foreign::start(profile.path()).await;
    let folder = tempfile::tempdir().unwrap();
    let spec = spec(folder.path(), BrowserSpec::Attach { url: foreign.address.clone() });
    let kept = Kept::start(folder, spec).await.unwrap();
    let client = kept.connect(Role::Client).await;
    drop(foreign);
    client.connection.closed().await;
    kept.joined().await;
}

#[tokio::test]
async fn an_address_without_a_browser_is_reported() {
    let folder = tempfile::tempdir().unwrap();
    let url = "http://127.0.0.1:1".to_owned();
    let spec = spec(folder.path(), BrowserSpec::Attach { url });
    let socket = spec.socket.clone();
    let reason = Kept::start(folder, spec).await.err().unwrap();
    let expected = "unreachable: expected a DevTools endpoint at http://127.0.0.1:1/json/version, \
                    found Connection refused (os error 111)";
    assert_eq!(reason, expected);
    assert!(!socket.exists());
}
