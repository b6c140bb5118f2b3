//! How sandboxes end: by their time, with their node, and after a crash of it.

use super::scene::Scene;
use crate::notes::eventually;
use baton_api::SnapshotReason;
use baton_api::sandbox::{BrowserSession, BrowserSessionType, CreateSandbox, TakeBack};
use baton_playground::victims;

/// Changes a cookie in a sandbox's profile, as a browser would.
const ROTATE: &str = "python3 - <<'END'
import sqlite3
db = sqlite3.connect('/workspace/.browser-profile/Default/Cookies')
db.execute(\"update cookies set value = '7', encrypted_value = x'' where name = 'refresh'\")
db.commit()
END";

async fn until_free(scene: &Scene) {
    let is_free = async || scene.client().fetch_session("shop").await.unwrap().sandbox.is_none();
    eventually("the sandbox ends", is_free).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_sandbox_ends_when_its_time_has_come_and_writes_back() {
    let scene = Scene::set().await;
    scene.session("shop").await;
    let request = CreateSandbox {
        ttl: Some(3),
        browser_session: Some(super::scene::reference("shop")),
        ..CreateSandbox::default()
    };
    let sandbox = scene.client().create_sandbox(&request).await.unwrap();
    scene.says(&sandbox, ROTATE).await;
    until_free(&scene).await;
    assert!(scene.cookies("shop").await.contains(&("refresh".to_owned(), "7".to_owned())));
    assert!(scene.client().list_sandboxes().await.unwrap().items.is_empty());
    scene.strike().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_node_that_ends_writes_back_what_its_sandboxes_have() {
    let mut scene = Scene::set().await;
    scene.session("shop").await;
    let sandbox = scene.sandbox_of("shop").await;
    scene.says(&sandbox, ROTATE).await;
    scene.house.stop_node().await.unwrap();
    scene.house.start_node().await.unwrap();
    let shown = scene.client().fetch_session("shop").await.unwrap();
    assert_eq!(shown.session.state.as_str(), "recoverable");
    assert_eq!(shown.snapshot.unwrap().reason, SnapshotReason::Sandbox);
    assert!(scene.cookies("shop").await.contains(&("refresh".to_owned(), "7".to_owned())));
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
    scene.house.kill_node().await.unwrap();
    eventually("nothing of the sandbox is left", async || victims::naming(&name).is_empty()).await;
    scene.house.start_node().await.unwrap();
    let shown = scene.client().fetch_session("shop").await.unwrap();
    assert_eq!((shown.session.state.as_str(), shown.sandbox), ("recoverable", None));
    let again = scene.sandbox_of("shop").await;
    assert!(again.browser_session.unwrap().writes_back);
    scene.strike().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_sandbox_of_an_inline_session_leaves_nothing_at_the_node() {
    let scene = Scene::set().await;
    let session = BrowserSession {
        kind: BrowserSessionType::Inline,
        storage_state: Some(baton_api::FileText::new(scene.state().to_string()).unwrap()),
        session_id: None,
        session_service_url: None,
        shared: false,
        take_back: TakeBack::Lent,
    };
    let request = CreateSandbox { browser_session: Some(session), ..CreateSandbox::default() };
    let sandbox = scene.client().create_sandbox(&request).await.unwrap();
    let handed = sandbox.browser_session.clone().unwrap();
    assert_eq!((handed.writes_back, handed.logins[0].domain.as_str()), (false, "host"));
    scene.says(&sandbox, "test -f $AGENT_BROWSER_PROFILE/Default/Cookies").await;
    assert!(scene.end(&sandbox).await.browser_session.is_none());
    let files = std::fs::read_dir(scene.house.data().sandboxes()).unwrap().count();
    assert_eq!(files, 0);
    scene.strike().await;
}
