//! What holds of any session, whatever is asked and whatever breaks.

use baton_walk::standin::Pair;
use baton_walk::{Plan, run};
use std::time::Instant;
use tokio::runtime::Handle;

/// How many pairs of nodes are walked on at once: most of a walk's time it waits.
const AT_ONCE: usize = 12;

async fn walks(name: &'static str, usual: u64, is_shared: bool) {
    let Some(plan) = Plan::of_environment(name, usual, AT_ONCE) else { return };
    let begun = Instant::now();
    let machine = Handle::current();
    let tally = run(&plan, || Pair::start(is_shared, &machine)).await.unwrap();
    println!("{} walks, {} steps in {:?}", tally.walked, tally.steps, begun.elapsed());
    assert!(tally.found.is_empty(), "{:?}\n{}", tally.kinds, tally.found.join("\n"));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nodes_with_a_database_each_keep_what_they_promise() {
    walks("peers", 1000, false).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nodes_that_share_a_database_keep_what_they_promise() {
    walks("shared", 1000, true).await;
}
