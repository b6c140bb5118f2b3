//! A browser that is to go on where it was left has its tabs of the session alone, not of its own files too.

use crate::notes::eventually;
use crate::test_nodes::test_node;
use axum::Router;
use axum::extract::Path;
use axum::response::Html;
use axum::routing::get;
use baton_playground::{Site, TestNode};
use baton_session::SessionId;
use serde_json::Value;
use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};

/// Has the browser of a session, which does not run, go on where it was left.
fn choose(test_node: &TestNode, id: SessionId) {
    let path = test_node.data().profile(id).join("Default/Preferences");
    let mut settings: Value = serde_json::from_slice(&std::fs::read(&path).unwrap()).unwrap();
    settings["session"]["restore_on_startup"] = 1.into();
    std::fs::write(&path, settings.to_string()).unwrap();
}

/// Waits until the browser has noted these addresses for its next start, in files that were not known;
/// returns all files.
async fn until_noted(
    test_node: &TestNode,
    id: SessionId,
    known: &BTreeSet<PathBuf>,
    addresses: &[String],
) -> BTreeSet<PathBuf> {
    let folder = test_node.data().profile(id).join("Default/Sessions");
    let mut all = BTreeSet::new();
    eventually("the browser notes its tabs", async || {
        let files = std::fs::read_dir(&folder).into_iter().flatten().flatten();
        all = files.map(|file| file.path()).collect();
        let new = all.difference(known).flat_map(|file| std::fs::read(file).unwrap_or_default());
        let new: Vec<u8> = new.collect();
        let has = |text: &String| new.windows(text.len()).any(|part| part == text.as_bytes());
        addresses.iter().all(has)
    })
    .await;
    all
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn two_tabs_are_two_after_every_resume_and_each_is_loaded_once() {
    let asked = Arc::new(Mutex::new(Vec::new()));
    let log = Arc::clone(&asked);
    let page = async move |Path(name): Path<String>| {
        log.lock().unwrap().push(name);
        Html("<title>page</title><link rel=icon href='data:,'>")
    };
    let site = Site::start(Router::new().route("/{name}", get(page))).await.unwrap();
    let urls = ["/one", "/two"].map(|path| site.url(path).unwrap());
    let addresses = urls.each_ref().map(ToString::to_string);
    let mut test_node = test_node().await;
    let id = test_node.open("shop", urls).await.unwrap();
    test_node.client().unwrap().close_session("shop").await.unwrap();
    choose(&test_node, id);
    test_node.client().unwrap().resume_session("shop").await.unwrap();
    let mut known = until_noted(&test_node, id, &BTreeSet::new(), &addresses).await;
    for _ in 0..2 {
        test_node.client().unwrap().capture_session("shop").await.unwrap();
        test_node.kill_everybody(&[id]).await.unwrap();
        test_node.start_node().await.unwrap();
        asked.lock().unwrap().clear();
        test_node.client().unwrap().resume_session("shop").await.unwrap();
        // What a browser opens by itself it opens late.
        known = until_noted(&test_node, id, &known, &addresses).await;
        let shown = test_node.client().unwrap().fetch_session("shop").await.unwrap();
        let tabs: Vec<String> = shown.tabs.iter().map(|tab| tab.url.to_string()).collect();
        assert_eq!(tabs, addresses);
        let mut asked = asked.lock().unwrap().clone();
        asked.sort();
        assert_eq!(asked, ["one", "two"]);
    }
    test_node.clear().await.unwrap();
}
