//! A damaged database: what can be read comes back, and what cannot is named.

mod database;
mod newest;
mod saved;

pub(crate) use database::Database;

use crate::notes::{Notes, eventually, state_of, wait_for_state};
use crate::test_nodes::{build, start, test_node};
use baton_api::{Client, ErrorCode, ListHistory, SnapshotReason};
use baton_playground::{TestNode, victims};
use baton_session::receipt::ItemKind;
use baton_session::{Lifecycle, SessionId};

/// A test node whose node was stopped, with a closed session that holds a note.
async fn test_node_with_closed(notes: &Notes) -> (TestNode, SessionId) {
    let mut test_node = test_node().await;
    let id = notes.open(&test_node, "hurt", "kept").await;
    test_node.client().unwrap().close_session("hurt").await.unwrap();
    test_node.stop_node().await.unwrap();
    (test_node, id)
}

/// Damages the lists of parts of those snapshots of a session that were taken for one of these
/// reasons, past the program: in a row of the database they stand right behind the reason.
fn damage(test_node: &TestNode, id: SessionId, reasons: &[&str]) -> usize {
    let path = test_node.data().database();
    let mut bytes = std::fs::read(&path).unwrap();
    let row = format!("{id}local");
    let mut damaged = 0;
    for start in 0..bytes.len() - row.len() - 64 {
        let rest = &bytes[start..];
        if !rest.starts_with(row.as_bytes()) {
            continue;
        }
        // In between stand two numbers, of at most eight bytes each.
        let after = &rest[row.len()..row.len() + 32];
        let found = reasons.iter().find_map(|reason| {
            let at = after.windows(reason.len()).position(|found| found == reason.as_bytes());
            at.map(|at| at + reason.len())
        });
        if let Some(offset) = found {
            bytes[start + row.len() + offset + 8] ^= 1;
            damaged += 1;
        }
    }
    std::fs::write(path, bytes).unwrap();
    damaged
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_snapshot_before_a_damaged_one_stands_in() {
    let notes = Notes::start().await;
    let (mut test_node, id) = test_node_with_closed(&notes).await;
    assert_eq!(damage(&test_node, id, &["close"]), 1);
    test_node.start_node().await.unwrap();

    let client = test_node.client().unwrap().clone();
    let shown = client.fetch_session("hurt").await.unwrap();
    assert_eq!(shown.snapshot.unwrap().reason, SnapshotReason::Request);
    assert_eq!(client.fetch_state("hurt", false).await.unwrap().unreadable.len(), 1);
    let history = client.list_history("hurt", &ListHistory::default()).await.unwrap();
    assert_eq!(history.damaged.len(), 1);
    assert_eq!(history.resumes_from, Some(history.items[0].id));
    let resumed = client.resume_session("hurt").await.unwrap();
    let receipt = resumed.session.receipt.unwrap();
    let losses: Vec<_> = receipt.losses().collect();
    assert_eq!(losses.len(), 1, "{losses:#?}");
    assert_eq!(losses[0].kind, ItemKind::Part);
    assert!(losses[0].place.starts_with("snapshot "), "{losses:?}");
    assert!(losses[0].reason.as_ref().unwrap().contains("taken instead: "), "{losses:?}");
    assert_eq!(notes.read(&test_node, id).await, "kept");

    // The next snapshot is whole again, and nothing is lost any more.
    client.close_session("hurt").await.unwrap();
    let resumed = client.resume_session("hurt").await.unwrap();
    assert!(!resumed.session.receipt.unwrap().has_losses());
    test_node.clear().await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_good_snapshot_stands_in_for_a_damaged_one_before_a_shrunk_one_does() {
    let notes = Notes::start().await;
    let mut test_node = start(build().with("BATON_SESSION_SNAPSHOT_INTERVAL", "1")).await;
    let id = notes.open(&test_node, "hurt", "kept").await;
    // What is missing as a browser has just come back is lost.
    test_node.kill_everybody(&[id]).await.unwrap();
    test_node.start_node().await.unwrap();
    notes.forget(true);
    test_node.client().unwrap().resume_session("hurt").await.unwrap();
    let client = test_node.client().unwrap().clone();
    let history = async |client: &Client| {
        client.list_history("hurt", &ListHistory::default()).await.unwrap().items
    };
    eventually("a shrunk one", async || history(&client).await[0].shrunk).await;
    notes.forget(false);
    let holders = test_node.holders(id).await.unwrap();
    test_node.stop_node().await.unwrap();
    victims::kill_all(&holders).await.unwrap();
    assert_eq!(damage(&test_node, id, &["request"]), 1);
    test_node.start_node().await.unwrap();

    wait_for_state(&test_node, "hurt", Lifecycle::Recoverable).await;
    let client = test_node.client().unwrap().clone();
    let receipt = client.resume_session("hurt").await.unwrap().session.receipt.unwrap();
    let losses: Vec<_> = receipt.losses().map(|item| item.kind).collect();
    assert_eq!(losses, [ItemKind::Part]);
    assert!(receipt.items.iter().any(|item| item.kind == ItemKind::Snapshot));
    assert!(!history(&client).await[0].shrunk);
    test_node.clear().await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_session_without_a_readable_snapshot_says_so_and_can_be_looked_at_and_deleted() {
    let notes = Notes::start().await;
    let (mut test_node, id) = test_node_with_closed(&notes).await;
    assert!(damage(&test_node, id, &["open", "navigation", "request", "close"]) >= 3);
    test_node.start_node().await.unwrap();

    let client = test_node.client().unwrap().clone();
    let refused = client.resume_session("hurt").await.unwrap_err();
    assert_eq!(refused.code(), Some(ErrorCode::StorageDamaged));
    let refused = refused.to_string().replace(&id.to_string(), "ID");
    let expected = "expected session ID to have a snapshot that can be read, found all damaged: ";
    assert!(refused.starts_with(expected), "{refused}");
    assert_eq!(state_of(&test_node, "hurt").await, Lifecycle::Closed);
    client.delete_session("hurt").await.unwrap();
    test_node.clear().await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_running_browser_outlives_the_damage_of_all_its_snapshots() {
    let notes = Notes::start().await;
    let mut test_node = test_node().await;
    let id = notes.open(&test_node, "hurt", "kept").await;
    test_node.stop_node().await.unwrap();
    assert!(damage(&test_node, id, &["open", "navigation", "request", "shutdown"]) >= 3);
    test_node.start_node().await.unwrap();

    assert_eq!(state_of(&test_node, "hurt").await, Lifecycle::Active);
    let client = test_node.client().unwrap().clone();
    client.close_session("hurt").await.unwrap();
    let resumed = client.resume_session("hurt").await.unwrap();
    assert!(!resumed.session.receipt.unwrap().has_losses());
    assert_eq!(notes.read(&test_node, id).await, "kept");
    test_node.clear().await.unwrap();
}
