//! How sandboxes end: by their time, with their node, and after a crash of it.

use super::scene::{Scene, refused};
use crate::notes::eventually;
use baton_api::sandbox::{BrowserSession, CreateSandbox, SandboxView};
use baton_api::sync::SaveSession;
use baton_api::{ListHistory, SnapshotReason, SnapshotView};
use baton_playground::victims;

/// Changes a cookie in a sandbox's profile, as a browser would.
const ROTATE: &str = "python3 - <<'END'
import sqlite3
db = sqlite3.connect('/workspace/.browser-profile/Default/Cookies')
db.execute(\"update cookies set value = '7', encrypted_value = x'' where name = 'refresh'\")
db.commit()
END";

/// A process that does not end when it is asked to, so that the end of its sandbox takes seconds.
const STUBBORN: &str = "nohup sh -c 'trap \"\" TERM; while :; do sleep 1; done' > /dev/null 2>&1 &";

/// The cookie that [`ROTATE`] makes.
fn rotated() -> (String, String) {
    ("refresh".to_owned(), "7".to_owned())
}

/// A sandbox with the session, whose time has come soon.
async fn short(scene: &Scene) -> SandboxView {
    let request = CreateSandbox {
        ttl: Some(3),
        browser_session: Some(super::scene::reference("shop")),
        ..CreateSandbox::default()
    };
    scene.client().create_sandbox(&request).await.unwrap()
}

async fn until_free(scene: &Scene) {
    let is_free = async || scene.client().fetch_session("shop").await.unwrap().sandbox.is_none();
    eventually("the sandbox ends", is_free).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_sandbox_ends_when_its_time_has_come_and_writes_back() {
    let scene = Scene::set().await;
    scene.session("shop").await;
    let sandbox = short(&scene).await;
    scene.says(&sandbox, ROTATE).await;
    until_free(&scene).await;
    assert!(scene.cookies("shop").await.contains(&rotated()));
    assert!(scene.client().list_sandboxes().await.unwrap().items.is_empty());
    scene.strike().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_node_that_ends_writes_back_what_its_sandboxes_have() {
    let mut scene = Scene::set().await;
    scene.session("shop").await;
    let sandbox = scene.sandbox_of("shop").await;
    scene.says(&sandbox, ROTATE).await;
    scene.test_node.stop_node().await.unwrap();
    scene.test_node.start_node().await.unwrap();
    let shown = scene.client().fetch_session("shop").await.unwrap();
    assert_eq!(shown.session.state.as_str(), "recoverable");
    assert_eq!(shown.snapshot.unwrap().reason, SnapshotReason::Sandbox);
    assert!(scene.cookies("shop").await.contains(&rotated()));
    scene.strike().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_node_that_ends_waits_for_sandboxes_that_end_already() {
    let mut scene = Scene::set().await;
    scene.session("shop").await;
    let sandbox = short(&scene).await;
    scene.says(&sandbox, ROTATE).await;
    scene.says(&sandbox, STUBBORN).await;
    let ends = async || scene.test_node.log().contains("a sandbox's time has come");
    eventually("the sandbox begins to end", ends).await;
    scene.test_node.stop_node().await.unwrap();
    scene.test_node.start_node().await.unwrap();
    assert!(scene.cookies("shop").await.contains(&rotated()));
    scene.strike().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_sandbox_that_this_node_cannot_read_is_kept_and_read_later() {
    let scene = Scene::set().await;
    scene.session("shop").await;
    let sandbox = scene.sandbox_of("shop").await;
    scene.says(&sandbox, ROTATE).await;
    // There is no place on this machine for what comes out of it.
    let (scratch, id) = (scene.test_node.data().sandboxes(), sandbox.id.to_string());
    std::fs::remove_dir(&scratch).unwrap();
    let problem = refused(scene.client().delete_sandbox(&id).await);
    let told = problem.detail.replace(scratch.to_str().unwrap(), "SCRATCH");
    let why = "expected to read what the sandbox holds of its session, found that this node cannot: \
        could not make a folder in SCRATCH: ";
    assert!(told.starts_with(why), "{told}");
    assert!(problem.hint.unwrap().starts_with("the sandbox is kept"));
    let kept = scene.client().list_sandboxes().await.unwrap().items;
    assert_eq!(kept.len(), 1);
    std::fs::create_dir(&scratch).unwrap();
    let ended = scene.end(&sandbox).await.browser_session.unwrap();
    assert!(ended.snapshot.is_some(), "{ended:?}");
    assert!(scene.cookies("shop").await.contains(&rotated()));
    scene.strike().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_session_is_written_back_once_whatever_fails_after_that() {
    let scene = Scene::set().await;
    scene.session("shop").await;
    scene.client().save_session("shop", &SaveSession::default()).await.unwrap();
    let sandbox = scene.sandbox_of("shop").await;
    scene.says(&sandbox, ROTATE).await;
    // What other nodes are told of it cannot be written: that comes last.
    let database = scene.test_node.data().path().join("baton.db");
    let sql = |statement: &str| {
        let program = "import sqlite3, sys; db = sqlite3.connect(sys.argv[1], timeout=10); \
            db.execute(sys.argv[2]); db.commit()";
        let mut python = std::process::Command::new("python3");
        let ran = python.args(["-c", program]).arg(&database).arg(statement).status().unwrap();
        assert!(ran.success(), "{statement}");
    };
    sql(
        "create trigger stuck before update on shared_sessions begin select raise(abort, 'stuck'); end",
    );
    refused(scene.client().delete_sandbox(&sandbox.id.to_string()).await);
    let shown = scene.client().fetch_session("shop").await.unwrap();
    assert_eq!(shown.sandbox, Some(sandbox.id), "nobody runs it before all is done");
    sql("drop trigger stuck");
    let ended = scene.end(&sandbox).await.browser_session.unwrap();
    assert_eq!((ended.shrunk, ended.reason), (false, None));
    let shown = scene.client().fetch_session("shop").await.unwrap();
    assert_eq!((shown.session.state.as_str(), shown.sandbox), ("recoverable", None));
    let history = scene.client().list_history("shop", &ListHistory::default()).await.unwrap();
    let of_sandbox = |one: &&SnapshotView| one.reason == SnapshotReason::Sandbox;
    assert_eq!(history.items.iter().filter(of_sandbox).count(), 1);
    scene.strike().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_node_that_is_killed_takes_its_sandboxes_along_and_no_session() {
    let mut scene = Scene::set().await;
    scene.session("shop").await;
    let sandbox = scene.sandbox_of("shop").await;
    let name = sandbox.id.to_string();
    let line = format!("MARK={name} nohup sleep 1000 > /dev/null 2>&1 &");
    scene.says(&sandbox, &line).await;
    // A process that is just becoming another program has neither a command line nor an environment.
    eventually("the task runs", async || victims::naming(&name).len() > 1).await;
    scene.test_node.kill_node().await.unwrap();
    eventually("nothing of the sandbox is left", async || victims::naming(&name).is_empty()).await;
    scene.test_node.start_node().await.unwrap();
    let shown = scene.client().fetch_session("shop").await.unwrap();
    assert_eq!((shown.session.state.as_str(), shown.sandbox), ("recoverable", None));
    let again = scene.sandbox_of("shop").await;
    assert!(again.browser_session.unwrap().writes_back);
    scene.strike().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_sandbox_of_an_inline_session_leaves_nothing_at_the_node() {
    let scene = Scene::set().await;
    let session =
        BrowserSession::inline(baton_api::FileText::new(scene.state().to_string()).unwrap());
    let request = CreateSandbox { browser_session: Some(session), ..CreateSandbox::default() };
    let sandbox = scene.client().create_sandbox(&request).await.unwrap();
    let handed = sandbox.browser_session.clone().unwrap();
    assert_eq!((handed.writes_back, handed.logins[0].domain.as_str()), (false, "host"));
    scene.says(&sandbox, "test -f $AGENT_BROWSER_PROFILE/Default/Cookies").await;
    assert!(scene.end(&sandbox).await.browser_session.is_none());
    let files = std::fs::read_dir(scene.test_node.data().sandboxes()).unwrap().count();
    assert_eq!(files, 0);
    scene.strike().await;
}
