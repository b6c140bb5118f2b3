//! Profiles that are made before somebody asks for them: for whom, until when, and what is left of it.

use super::scene::{Scene, cookie, reference};
use crate::test_nodes::build;
use baton_api::sandbox::{BrowserSession, CreateSandbox};
use baton_playground::{Page, victims};
use baton_session::receipt::{ItemKind, ReceiptItem};
use serde_json::{Value, json};
use std::fs;
use std::time::Duration;
use tokio::time::{Instant, sleep};

const ALWAYS: &str = "prepare = \"always\"\n";
const LIMIT: Duration = Duration::from_mins(1);

/// A login with so many letters in localStorage that they are worth keeping.
fn large(seed: &str) -> Value {
    json!({
        "cookies": [cookie("refresh", "1", 4_000_000_000)],
        "origins": [{
            "origin": "https://app.test",
            "localStorage": [{"name": "a", "value": seed.repeat(600_000)}],
        }],
    })
}

/// How often a session was prepared, as the node says.
fn prepared(scene: &Scene, session: &str) -> usize {
    let log = scene.test_node.log();
    let lines = log.lines().filter(|line| line.contains("prepared a session for a sandbox"));
    lines.filter(|line| line.contains(session)).count()
}

async fn until(what: &str, scene: &Scene, is_so: impl Fn() -> bool) {
    let end = Instant::now() + LIMIT;
    while !is_so() {
        assert!(Instant::now() < end, "expected {what}: {}", scene.test_node.log());
        sleep(Duration::from_millis(20)).await;
    }
}

/// How many profiles the node keeps in memory.
fn kept(scene: &Scene) -> usize {
    let pid = scene.test_node.node_pid().unwrap();
    let open = fs::read_dir(format!("/proc/{pid}/fd")).unwrap().flatten();
    let names = open.filter_map(|entry| fs::read_link(entry.path()).ok());
    names.filter(|name| name.to_string_lossy().contains("memfd:profile")).count()
}

/// How long the only text of a session is in a sandbox.
async fn handed(scene: &Scene, session: &str) -> String {
    const LOOK: &str = "python3 - <<'END'
import sqlite3
stored = sqlite3.connect('/workspace/.browser-profile/Default/LocalStorage')
print(stored.execute('select length(value) from map_entries').fetchone()[0])
END";
    let sandbox = scene.sandbox_of(session).await;
    let receipt = &sandbox.browser_session.as_ref().unwrap().receipt;
    let is_in =
        |line: &ReceiptItem| !matches!(line.kind, ItemKind::Cookie | ItemKind::LocalStorage);
    assert!(receipt.losses().all(is_in), "{receipt:?}");
    let found = scene.says(&sandbox, LOOK).await;
    let ended = scene.end(&sandbox).await.browser_session.unwrap();
    assert_eq!((ended.shrunk, ended.reason), (false, None));
    found
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn sessions_are_prepared_from_the_first_sandbox_on_and_after_a_restart() {
    let mut scene = Scene::set().await;
    let before = scene.session_of("before", &large("x")).await;
    assert_eq!((kept(&scene), prepared(&scene, &before)), (0, 0), "nobody wants sandboxes yet");
    let sandbox = scene.sandbox().await;
    scene.end(&sandbox).await;
    until("the one that was there", &scene, || prepared(&scene, &before) == 1).await;
    let after = scene.session_of("after", &large("y")).await;
    until("the one that came", &scene, || prepared(&scene, &after) == 1).await;
    assert_eq!(kept(&scene), 2);
    assert_eq!(handed(&scene, "after").await, "600001");
    // What came back is as it was: there is nothing to make anew.
    assert_eq!(handed(&scene, "after").await, "600001");
    assert_eq!(kept(&scene), 2);

    scene.test_node.stop_node().await.unwrap();
    scene.test_node.start_node().await.unwrap();
    until("both after a restart", &scene, || {
        prepared(&scene, &before) == 2 && prepared(&scene, &after) == 2
    })
    .await;
    assert_eq!(handed(&scene, "before").await, "600001");
    scene.strike().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_only_pages_make_is_made_ahead_and_no_browser_starts_for_a_sandbox() {
    let scene = Scene::set_with(ALWAYS).await;
    let mut state = scene.state();
    state["origins"][0]["indexedDB"] = json!([{"name": "auth", "version": 1, "stores": [{
        "name": "users", "autoIncrement": false, "indexes": [],
        "records": [{"key": "user", "value": "Ada"}],
    }]}]);
    let session = scene.session_of("shop", &state).await;
    until("it is prepared", &scene, || prepared(&scene, &session) == 1).await;
    let started = || scene.test_node.log().matches("started a browser of no session").count();
    assert_eq!(started(), 1);
    for _ in 0..2 {
        let request = CreateSandbox {
            browser_session: Some(BrowserSession { shared: true, ..reference("shop") }),
            ..CreateSandbox::default()
        };
        let sandbox = scene.client().create_sandbox(&request).await.unwrap();
        let receipt = &sandbox.browser_session.as_ref().unwrap().receipt;
        assert!(!receipt.has_losses(), "{receipt:#?}");
        let databases = "ls /workspace/.browser-profile/Default/IndexedDB";
        let found = scene.says(&sandbox, databases).await;
        assert!(found.starts_with("http_host_"), "{found}");
        scene.end(&sandbox).await;
    }
    assert_eq!(started(), 1, "nothing of a copy is read back");
    scene.strike().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nothing_is_kept_of_a_session_that_changed_or_is_deleted() {
    let scene = Scene::set_with(ALWAYS).await;
    let shop = scene.session_of("shop", &large("x")).await;
    until("a profile", &scene, || kept(&scene) == 1 && prepared(&scene, &shop) == 1).await;
    let sandbox = scene.sandbox_of("shop").await;
    let change = "python3 - <<'END'
import sqlite3
stored = sqlite3.connect('/workspace/.browser-profile/Default/LocalStorage')
stored.execute(\"update map_entries set value = value || 'z'\")
stored.commit()
END";
    scene.says(&sandbox, change).await;
    scene.end(&sandbox).await;
    until("another profile", &scene, || prepared(&scene, &shop) == 2).await;
    assert_eq!(kept(&scene), 1, "the one before has gone");
    assert_eq!(handed(&scene, "shop").await, "600002");
    scene.client().delete_session("shop").await.unwrap();
    until("no profile", &scene, || kept(&scene) == 0).await;
    scene.strike().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_session_that_runs_is_prepared_once_it_is_closed() {
    let scene = Scene::set_with(ALWAYS).await;
    let url = scene.site.url("/").unwrap();
    let session = scene.test_node.open("shop", [url.clone()]).await.unwrap();
    let page = Page::attach(&scene.test_node.keeper_socket(session), url.as_str()).await.unwrap();
    page.evaluate::<Value>("localStorage.setItem('a', 'x'.repeat(600000))").await.unwrap();
    scene.client().capture_session("shop").await.unwrap();
    drop(page);
    assert_eq!(kept(&scene), 0);
    scene.client().close_session("shop").await.unwrap();
    until("a profile", &scene, || prepared(&scene, &session.to_string()) == 1).await;
    assert_eq!(kept(&scene), 1);
    assert_eq!(handed(&scene, "shop").await, "600001");
    scene.strike().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_node_that_is_told_to_prepares_nothing() {
    let scene = Scene::set_with("prepare = \"never\"\n").await;
    let first = scene.session_of("first", &large("x")).await;
    assert_eq!(handed(&scene, "first").await, "600001");
    let other = scene.session_of("other", &large("y")).await;
    // What somebody asked for is kept, as ever.
    assert_eq!(handed(&scene, "first").await, "600001");
    assert_eq!(kept(&scene), 1);
    assert_eq!([&first, &other].map(|session| prepared(&scene, session)), [0, 0]);
    scene.client().delete_session("first").await.unwrap();
    until("nothing of a session that is gone", &scene, || kept(&scene) == 0).await;
    scene.strike().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_browser_that_a_killed_node_had_begun_ends_when_the_next_one_begins() {
    let mut scene = Scene::set_with(ALWAYS).await;
    let folder = scene.test_node.data().sandboxes();
    let mut state = scene.state();
    let records: Vec<_> =
        (0..2000).map(|at| json!({"key": at, "value": format!("{at}").repeat(500)})).collect();
    state["origins"][0]["indexedDB"] = json!([{"name": "auth", "version": 1, "stores": [{
        "name": "users", "autoIncrement": false, "indexes": [], "records": records,
    }]}]);
    let session = scene.session_of("shop", &state).await;
    let started = || scene.test_node.log().matches("started a browser of no session").count();
    until("a hidden browser", &scene, || started() == 1).await;
    scene.test_node.kill_node().await.unwrap();
    let hidden: Vec<_> =
        victims::naming(&folder).into_iter().map(|pid| ("hidden browser", pid)).collect();
    assert!(!hidden.is_empty(), "it had ended before the node was killed");
    scene.test_node.start_node().await.unwrap();
    // By itself it would end three minutes after it began.
    victims::are_gone(&hidden).await.unwrap();
    until("it to be made anew", &scene, || prepared(&scene, &session) == 1).await;
    scene.strike().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_node_that_makes_no_sandboxes_prepares_nothing() {
    let test_node = build();
    test_node.data().create().unwrap();
    let programs = test_node.data().path().join("programs");
    fs::create_dir(&programs).unwrap();
    let settings = format!("[sandboxes]\n{ALWAYS}");
    let scene = Scene::set_in(test_node.with("PATH", programs), &settings).await;
    let shop = scene.session_of("shop", &large("x")).await;
    let refused = scene.client().create_sandbox(&CreateSandbox::default()).await;
    assert!(refused.is_err());
    assert_eq!((kept(&scene), prepared(&scene, &shop)), (0, 0));
    scene.strike().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_node_that_is_killed_while_it_prepares_leaves_nothing() {
    let mut scene = Scene::set_with(ALWAYS).await;
    let folder = scene.test_node.data().sandboxes();
    let names = || -> Vec<_> {
        let found = fs::read_dir(&folder).into_iter().flatten().flatten();
        found.map(|entry| entry.file_name()).collect()
    };
    let sites = (0..40).map(|site| {
        let text = format!("{site}").repeat(200_000);
        json!({"origin": format!("https://app{site}.test"), "localStorage": [{"name": "a", "value": text}]})
    });
    let state = json!({
        "cookies": [cookie("refresh", "1", 4_000_000_000)],
        "origins": sites.collect::<Vec<_>>(),
    });
    let shop = scene.session_of("shop", &state).await;
    // Killed in the midst of it: not a moment later than its files are seen.
    let end = Instant::now() + LIMIT;
    while names().is_empty() {
        assert!(Instant::now() < end && prepared(&scene, &shop) == 0, "expected to be in time");
        tokio::task::yield_now().await;
    }
    scene.test_node.kill_node().await.unwrap();
    let left = names();
    assert_eq!(left.len(), 1);
    scene.test_node.start_node().await.unwrap();
    until("it to be made anew", &scene, || prepared(&scene, &shop) == 1).await;
    assert_eq!(names(), [""; 0], "{left:?} was left");
    let sandbox = scene.sandbox_of("shop").await;
    assert!(!sandbox.browser_session.as_ref().unwrap().receipt.has_losses());
    scene.end(&sandbox).await;
    scene.strike().await;
}
