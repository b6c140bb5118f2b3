//! Settings that change while a node runs, and captures after clicks and typing.

use crate::test_nodes::{build, start};
use axum::Router;
use axum::response::Html;
use axum::routing::get;
use baton_api::{SnapshotReason, SnapshotView};
use baton_playground::{Page, Site, TestNode, victims};
use std::time::Duration;
use tokio::time::{Instant, sleep};

const PAGE: &str = "<button onclick='localStorage.count = 1 + Number(localStorage.count ?? 0)'>";

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn clicks_are_captured_from_the_moment_when_that_is_asked_for() {
    let site = Site::start(Router::new().route("/", get(|| async { Html(PAGE) }))).await.unwrap();
    let test_node = start(build().with("BATON_SESSION_SNAPSHOT_INTERVAL", "3600")).await;
    let url = site.url("/").unwrap();
    let id = test_node.open("clicks", [url.clone()]).await.unwrap();
    let page = Page::attach(&test_node.keeper_socket(id), url.as_str()).await.unwrap();

    tell(&test_node, "[recovery]\ncapture_on_input = true\n");
    let first = click_until_captured(&test_node, &page, None).await;
    // A file that makes no sense changes nothing.
    tell(&test_node, "[recovery]\ncapture_on_input = 'sometimes'\n");
    let second = click_until_captured(&test_node, &page, Some(&first)).await;
    assert!(second.taken_at > first.taken_at);
    test_node.client().unwrap().close_session("clicks").await.unwrap();
    test_node.clear().await.unwrap();
}

/// Writes the settings file and tells the node.
fn tell(test_node: &TestNode, settings: &str) {
    std::fs::write(test_node.data().settings(), settings).unwrap();
    victims::tell_to_read_again(test_node.node_pid().unwrap()).unwrap();
}

/// Clicks until a snapshot other than `known` says that input was its reason.
async fn click_until_captured(
    test_node: &TestNode,
    page: &Page,
    known: Option<&SnapshotView>,
) -> SnapshotView {
    let end = Instant::now() + Duration::from_secs(20);
    loop {
        let _: () = page.evaluate("document.querySelector('button').click()").await.unwrap();
        let session = test_node.client().unwrap().fetch_session("clicks").await.unwrap();
        let snapshot = session.snapshot.unwrap();
        let is_new = known.is_none_or(|known| known.id != snapshot.id);
        if snapshot.reason == SnapshotReason::Input && is_new {
            return snapshot;
        }
        assert!(Instant::now() < end, "no click was captured: {snapshot:?}");
        sleep(Duration::from_millis(100)).await;
    }
}
