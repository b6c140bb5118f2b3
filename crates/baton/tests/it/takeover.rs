//! Nodes that share a database are killed and frozen at random moments, and the session goes from
//! one to the other: there are never two holders, and what was acknowledged comes back.

use crate::leases::{Street, take_over};
use baton_playground::tenures::Watcher;
use baton_playground::{TestNode, victims};
use baton_testing::{Dice, rounds};
use std::time::Duration;
use tokio::time::sleep;

/// How many rounds when nobody asks for more.
const ROUNDS: u64 = 4;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_session_never_has_two_holders() {
    let mut dice = Dice::new();
    let mut street = Street::build().await;
    let id = street.open().await;
    let cookie = street.cookie(&street.test_nodes[0], id).await;
    street.test_nodes[0].client().unwrap().capture_session("shop").await.unwrap();
    let watcher = Watcher::start(&[&street.test_nodes[0], &street.test_nodes[1]]);
    for round in 0..rounds(ROUNDS) {
        let [holder, heir] = if round % 2 == 0 { [0, 1] } else { [1, 0] };
        let frozen = dice.roll(2) == 0;
        let client = street.test_nodes[holder].client().unwrap().clone();
        let capture = tokio::spawn(async move { client.capture_session("shop").await });
        sleep(Duration::from_millis(dice.roll(100))).await;
        if frozen {
            freeze(street.test_nodes[holder].node_pid().unwrap()).await;
        } else {
            street.test_nodes[holder].kill_node().await.unwrap();
        }
        take_over(&street.test_nodes[heir]).await;
        come_back(&mut street.test_nodes[holder], frozen).await;
        // Whatever the old holder was about to write does not count.
        let _ = capture.await.unwrap();
        let told = format!("round {round}, frozen: {frozen}");
        assert!(street.test_nodes[holder].holders(id).await.is_err(), "{told}");
        assert_eq!(street.cookie(&street.test_nodes[heir], id).await, cookie, "{told}");
    }
    let tenures = watcher.finish().unwrap();
    assert!(tenures.len() as u64 > rounds(ROUNDS), "{tenures:?}");
    street.clear().await;
}

/// Freezes a node. One that stands still in the middle of a write keeps SQLite's lock until it goes
/// on, and nobody can take over before: it is woken, and frozen a little later.
async fn freeze(pid: u32) {
    baton_testing::freeze(pid).unwrap();
    while victims::holds_a_file(pid).unwrap() {
        baton_testing::wake(pid).unwrap();
        sleep(Duration::from_millis(20)).await;
        baton_testing::freeze(pid).unwrap();
    }
}

async fn come_back(test_node: &mut TestNode, frozen: bool) {
    if frozen {
        baton_testing::wake(test_node.node_pid().unwrap()).unwrap();
    } else {
        test_node.start_node().await.unwrap();
    }
}
