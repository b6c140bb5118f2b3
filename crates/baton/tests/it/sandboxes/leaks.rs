//! Many sandboxes: at once, and one after the other, without a trace.

use super::scene::Scene;
use baton_playground::victims;
use baton_testing::rounds;
use futures_util::future::join_all;

/// How many come and go one after the other, unless a soak asks for others.
const ROUNDS: u64 = 20;

/// What the node has open: a leaked socket, pipe or process shows here.
fn open_files(scene: &Scene) -> usize {
    let pid = scene.test_node.node_pid().unwrap();
    std::fs::read_dir(format!("/proc/{pid}/fd")).unwrap().count()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn twenty_are_created_at_once() {
    let scene = Scene::set().await;
    let names: Vec<String> = (0..20).map(|at| format!("session-{at}")).collect();
    for name in &names {
        scene.session(name).await;
    }
    let made = join_all(names.iter().map(|name| scene.sandbox_of(name))).await;
    let said = join_all(made.iter().map(|one| scene.says(one, "ls .browser-profile"))).await;
    assert!(said.iter().all(|said| said == "Default"), "{said:?}");
    let ended = join_all(made.iter().map(|one| scene.end(one))).await;
    assert!(ended.iter().all(|ended| ended.browser_session.as_ref().unwrap().reason.is_none()));
    scene.strike().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn many_sandboxes_leave_nothing_behind() {
    let scene = Scene::set().await;
    scene.session("shop").await;
    let first = scene.sandbox_of("shop").await;
    scene.end(&first).await;
    let before = open_files(&scene);
    let mut names = Vec::new();
    for _ in 0..rounds(ROUNDS) {
        let sandbox = scene.sandbox_of("shop").await;
        scene.end(&sandbox).await;
        names.push(format!("sandbox-{}", sandbox.id));
    }
    let after = open_files(&scene);
    assert!(after <= before + 8, "open files: {before} before, {after} after");
    assert!(scene.client().list_sandboxes().await.unwrap().items.is_empty());
    let shown = scene.client().fetch_session("shop").await.unwrap();
    assert_eq!((shown.session.state.as_str(), shown.sandbox), ("recoverable", None));
    let left = std::fs::read_dir(scene.test_node.data().sandboxes()).unwrap().count();
    assert_eq!(left, 0);
    assert!(names.iter().all(|name| victims::naming(name).is_empty()));
    scene.strike().await;
}
