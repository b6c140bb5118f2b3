//! A node that is asked to end captures first, and leaves the browsers to the next one.

use crate::test_nodes::test_node;
use crate::writer;
use baton_api::SnapshotReason;
use baton_playground::victims;
use baton_session::Lifecycle;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_graceful_end_captures_first_and_ends_no_browser() {
    let site = writer::start_site().await;
    let mut test_node = test_node().await;
    let id = test_node.open("graceful", [site.url("/writer").unwrap()]).await.unwrap();
    let page = writer::attach(&test_node, id, &site).await;
    let least = writer::written(&page).await;
    let holders = test_node.holders(id).await.unwrap();

    test_node.stop_node().await.unwrap();
    assert!(holders.iter().all(|(_, pid)| victims::is_alive(*pid)), "the browser runs on");
    victims::kill_all(&holders).await.unwrap();
    test_node.start_node().await.unwrap();

    let session = test_node.client().unwrap().fetch_session("graceful").await.unwrap();
    assert_eq!(session.session.state, Lifecycle::Recoverable);
    assert_eq!(session.snapshot.unwrap().reason, SnapshotReason::Shutdown);
    test_node.client().unwrap().resume_session("graceful").await.unwrap();
    let page = writer::attach(&test_node, id, &site).await;
    assert!(writer::found(&page).await.least() >= least);
    drop(page);
    test_node.client().unwrap().close_session("graceful").await.unwrap();
    test_node.clear().await.unwrap();
}
