//! What holds of any session, whatever is asked and whatever breaks.

#![expect(clippy::print_stdout, reason = "whoever walks again needs the seed")]

use baton_walk::standin::Pair;
use baton_walk::{Plan, run};
use std::time::Instant;
use tokio::runtime::Handle;

/// How many pairs of nodes are walked on at once: most of a walk's time it waits.
const AT_ONCE: usize = 12;

/// How many walks: in the tests, and in each round of a soak.
const WALKS: (u64, u64) = (1000, 157);

async fn walks(name: &str, is_shared: bool) {
    let (usual, a_round) = WALKS;
    let Some(plan) = Plan::of_environment(name, usual, a_round, AT_ONCE) else { return };
    println!("{plan}");
    let begun = Instant::now();
    let machine = Handle::current();
    let tally = run(&plan, || Pair::start(is_shared, &machine)).await.unwrap();
    println!("{} walks, {} steps in {:?}", tally.walked, tally.steps, begun.elapsed());
    assert!(tally.found.is_empty(), "{:?}\n{}", tally.kinds, tally.found.join("\n"));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nodes_with_a_database_each_keep_what_they_promise() {
    walks("peers", false).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nodes_that_share_a_database_keep_what_they_promise() {
    walks("shared", true).await;
}
