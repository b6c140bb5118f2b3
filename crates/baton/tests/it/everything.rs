//! Every kind of state at once: all processes are killed, and all of it comes back.

use crate::test_nodes::test_node;
use baton_playground::kinds::{Kept, NOT_PORTABLE};
use baton_playground::{Kinds, TestNode};
use baton_session::SessionId;
use baton_session::receipt::{ItemKind, Outcome, Receipt};

/// How many kinds the pages know, so that none gets lost on the way.
const COUNT: usize = 52;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_kind_of_state_comes_back_when_all_processes_were_killed() {
    let kinds = Kinds::start().await.unwrap();
    let (test_node, id) = filled_and_killed(&kinds).await;
    let receipt = resume(&test_node, &kinds).await;
    assert!(!receipt.has_losses(), "{:#?}", receipt.losses().collect::<Vec<_>>());
    assert_eq!(lost(&kinds, &test_node, id).await, [""; 0]);
    test_node.clear().await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn on_another_disk_one_kind_is_missing_and_the_receipt_names_it() {
    let kinds = Kinds::start().await.unwrap();
    let (test_node, id) = filled_and_killed(&kinds).await;
    test_node.take_files_away(id).unwrap();
    let receipt = resume(&test_node, &kinds).await;
    let losses: Vec<_> = receipt.losses().collect();
    let [loss] = losses[..] else { panic!("expected one loss, found {losses:#?}") };
    assert_eq!((loss.kind, loss.outcome), (ItemKind::IndexedDb, Outcome::NotPortable));
    assert!(loss.place.contains("sealed key"), "{loss:?}");
    assert_eq!(lost(&kinds, &test_node, id).await, [NOT_PORTABLE]);
    test_node.clear().await.unwrap();
}

/// A session that held every kind when it was captured. Nothing of it runs but a new node.
async fn filled_and_killed(kinds: &Kinds) -> (TestNode, SessionId) {
    let mut test_node = test_node().await;
    let id = test_node.open("everything", kinds.tabs_to_fill().unwrap()).await.unwrap();
    kinds.fill(&test_node.keeper_socket(id)).await.unwrap();
    test_node.client().unwrap().capture_session("everything").await.unwrap();
    test_node.kill_everybody(&[id]).await.unwrap();
    test_node.start_node().await.unwrap();
    (test_node, id)
}

/// Resumes the session, and finds its tabs as they were.
async fn resume(test_node: &TestNode, kinds: &Kinds) -> Receipt {
    let client = test_node.client().unwrap();
    let resumed = client.resume_session("everything").await.unwrap();
    let state = client.fetch_state("everything", true).await.unwrap().state;
    let tabs = state["tabs"].as_array().unwrap().iter().map(|tab| tab["url"].as_str().unwrap());
    assert!(tabs.eq(kinds.tabs().unwrap().iter().map(url::Url::as_str)), "{}", state["tabs"]);
    resumed.session.receipt.unwrap()
}

/// The kinds that are not there.
async fn lost(kinds: &Kinds, test_node: &TestNode, id: SessionId) -> Vec<String> {
    let kept: Kept = kinds.check(&test_node.keeper_socket(id)).await.unwrap();
    assert_eq!(kept.len(), COUNT, "{kept:#?}");
    kept.into_iter().filter(|(_, kept)| !kept).map(|(name, _)| name).collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_pages_find_nothing_before_they_are_filled_and_everything_after() {
    let kinds = Kinds::start().await.unwrap();
    let test_node = test_node().await;
    let id = test_node.open("everything", kinds.tabs().unwrap()).await.unwrap();
    assert_eq!(lost(&kinds, &test_node, id).await.len(), COUNT);
    // Looking has written nothing that is then found.
    test_node.client().unwrap().close_session("everything").await.unwrap();
    let id = test_node.open("filled", kinds.tabs_to_fill().unwrap()).await.unwrap();
    kinds.fill(&test_node.keeper_socket(id)).await.unwrap();
    assert_eq!(lost(&kinds, &test_node, id).await, [""; 0]);
    test_node.clear().await.unwrap();
}
